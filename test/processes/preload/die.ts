/** Loaded before handbill: on SIGUSR2 it comes to an end that no program expects, in the way that HOW says. */
import process from 'node:process';

const WAYS: Readonly<Record<string, () => void>> = {
  throw() {
    throw new Error('planted');
  },
  reject() {
    void Promise.reject(new Error('planted'));
  },
  memory() {
    const kept: unknown[] = [];
    for (;;) kept.push(new Array(10_000).fill({}));
  },
};

process.on('SIGUSR2', () => WAYS[process.env['HOW'] ?? '']?.());
