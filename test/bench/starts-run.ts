import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { openLedger } from '../../src/ledger/open.ts';
import { API_KEY } from './bench.ts';
import { CLI } from './measure.ts';

/** Requests that are under way when a run is killed. */
const IN_FLIGHT = 64;
const BATCH = 5_000;

/** An API that takes requests and answers none. */
export interface SilentApi extends AsyncDisposable {
  readonly url: string;
  /** Resolves with the instant of `performance.now` at which the next request came. */
  next(): Promise<number>;
}

/** Starts it in this process, which does nothing else meanwhile. */
export async function createSilentApi(): Promise<SilentApi> {
  let told: ((atMs: number) => void) | null = null;
  const server = createServer((request) => {
    request.resume();
    told?.(performance.now());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    next: () =>
      new Promise((resolve) => {
        told = resolve;
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Milliseconds from the start of `send` to its first request, over which it is killed. */
export async function timeToFirstRequest(folder: string, api: SilentApi, campaign: string): Promise<number> {
  const startedAt = performance.now();
  const arrival = api.next();
  const child = spawn(process.execPath, [CLI, 'send', campaign, '--env', 'local', '--yes'], {
    cwd: folder,
    env: { ...process.env, HANDBILL_API_KEY: API_KEY },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'close').then(([status]) => {
    throw new Error(`send ended with ${status} and without a request.`);
  });
  const atMs = await Promise.race([arrival, ended]);
  child.kill('SIGKILL');
  await ended.catch(() => undefined);
  return atMs - startedAt;
}

/**
 * Brings a run that was killed over its first request to where it is killed over a later one: so many accepted, and some
 * claimed. Every step is one that a start takes, by the same functions of the ledger and in their order: begin, claim
 * what comes next, record what was answered, claim. What is left out is the end, as a kill does.
 */
export function halfSend(folder: string, campaign: string, accepted: number): void {
  const ledger = openLedger(join(folder, '.handbill', 'ledger.db'), { mode: 'write', nowMs: Date.now() });
  try {
    const found = ledger.findRun({ environment: 'local', campaign, occurrence: 'once' });
    if (found === null) throw new Error(`There is no run of ${campaign}.`);
    const { run } = ledger.start(found, Date.now());
    const claim = (after: number, count: number) => {
      const pending = ledger.pending(run, after, count);
      const claims = pending.map(({ row, step, key }) => ({ row, step, key, to: key }));
      if (ledger.commit(run, [], claims, Date.now()).some((answer) => answer !== 'claimed')) {
        throw new Error('A row that is pending was not claimed.');
      }
      return claims;
    };
    let after = -1;
    for (let left = accepted; left > 0; ) {
      const claimed = claim(after, Math.min(BATCH, left));
      const answer = { reason: null, attempts: 1, httpStatus: 202, error: null } as const;
      const results = claimed.map(({ row, step }) => {
        return { row, step, from: 'claimed', state: 'accepted', ...answer, messageId: `msg-${row}` } as const;
      });
      ledger.commit(run, results, [], Date.now());
      after = claimed.at(-1)?.row ?? after;
      left -= claimed.length;
    }
    claim(after, IN_FLIGHT);
  } finally {
    ledger.close();
  }
}
