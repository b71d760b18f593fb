/** Loaded before handbill: on SIGUSR2 it comes to an end that no program expects, in the way that HOW says. */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import process from 'node:process';

const WAYS: Readonly<Record<string, () => void>> = {
  throw() {
    throw new Error('planted');
  },
  reject() {
    void Promise.reject(new Error('planted'));
  },
  /** Fails in the middle of the run, where it is waited for: references are made with `hash`. */
  bug() {
    const { hash } = crypto;
    crypto.hash = () => {
      crypto.hash = hash;
      syncBuiltinESMExports();
      throw new Error('planted');
    };
    syncBuiltinESMExports();
  },
  memory() {
    const kept: unknown[] = [];
    for (;;) kept.push(new Array(10_000).fill({}));
  },
};

process.on('SIGUSR2', () => WAYS[process.env['HOW'] ?? '']?.());
