/** Loaded before handbill: on SIGUSR2 it comes to an end that no program expects, in the way that HOW says. */
import process from 'node:process';

const WAYS: Readonly<Record<string, () => void>> = {
  throw() {
    throw new Error('planted');
  },
  reject() {
    void Promise.reject(new Error('planted'));
  },
  /** Fails in the middle of the run, where it is waited for: a reference is made of 22 characters at once. */
  bug() {
    const { fromCharCode } = String;
    String.fromCharCode = (...codes) => {
      if (codes.length !== 22) return fromCharCode(...codes);
      String.fromCharCode = fromCharCode;
      throw new Error('planted');
    };
  },
  memory() {
    const kept: unknown[] = [];
    for (;;) kept.push(new Array(10_000).fill({}));
  },
};

process.on('SIGUSR2', () => WAYS[process.env['HOW'] ?? '']?.());
