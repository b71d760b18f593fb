/** Loaded before handbill: on SIGUSR2 it comes to an end that no program expects, in the way that HOW says. */
import crypto from 'node:crypto';
import process from 'node:process';

let isToFail = false;
const { hash } = crypto;
// Before handbill is loaded: it takes the function once.
crypto.hash = ((algorithm: string, data: crypto.BinaryLike, encoding: 'base64url') => {
  if (!isToFail || encoding !== 'base64url') return hash(algorithm, data, encoding);
  isToFail = false;
  throw new Error('planted');
}) as typeof hash;

const WAYS: Readonly<Record<string, () => void>> = {
  throw() {
    throw new Error('planted');
  },
  reject() {
    void Promise.reject(new Error('planted'));
  },
  /** Fails once in the middle of the run, at an awaited call: when the next reference is made. */
  bug() {
    isToFail = true;
  },
  memory() {
    const kept: unknown[] = [];
    for (;;) kept.push(new Array(10_000).fill({}));
  },
};

process.on('SIGUSR2', () => WAYS[process.env['HOW'] ?? '']?.());
