/**
 * Loaded into the real CLI with `--import` (NODE_OPTIONS, so that it survives the CLI's own second start): counts every
 * write of the ledger, every call that changes its files, and every call of a socket, and at the one that HANDBILL_TRIP
 * names it ends the process, or does what else it is told. With `count` 0 it only writes down the calls.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import process from 'node:process';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { readTrip, type Trip } from './trip.ts';

const trip: Trip | null = readTrip(process.env['HANDBILL_TRIP']);
const LEDGER = '.handbill';
let seen = 0;

type Method = (this: unknown, ...args: readonly unknown[]) => unknown;

if (trip !== null) wrapAll(trip);

function wrapAll(wanted: Trip): void {
  const around = (name: string, call: () => unknown): unknown => {
    if (wanted.only !== undefined && !name.includes(wanted.only)) return call();
    seen += 1;
    if (wanted.list !== undefined) fs.appendFileSync(wanted.list, `${name}\n`);
    if (seen !== wanted.count) return call();
    if (wanted.when === 'before') act(wanted);
    const result = call();
    if (wanted.when === 'after') act(wanted);
    return result;
  };

  wrap(DatabaseSync.prototype, 'exec', (_, [sql], call) =>
    changes(sql) ? around(`exec ${oneLine(sql)}`, call) : call(),
  );
  wrap(DatabaseSync.prototype, 'close', (_, __, call) => around('close', call));
  for (const method of ['run', 'get', 'all'] as const) {
    wrap(StatementSync.prototype, method, (statement, _, call) => {
      const sql = (statement as StatementSync).sourceSQL;
      return changes(sql) ? around(`${method} ${oneLine(sql)}`, call) : call();
    });
  }

  const files = new Set<unknown>();
  wrap(fs, 'openSync', (_, [path, flags], call) => {
    if (!isLedgers(path) || !creates(flags)) return call();
    const fd = around(`open ${nameOf(path)}`, call);
    files.add(fd);
    return fd;
  });
  for (const name of ['writeSync', 'fsyncSync'] as const) {
    wrap(fs, name, (_, [fd], call) => (files.has(fd) ? around(name, call) : call()));
  }
  wrap(fs, 'closeSync', (_, [fd], call) => {
    files.delete(fd);
    return call();
  });
  for (const name of ['mkdirSync', 'rmSync', 'chmodSync'] as const) {
    wrap(fs, name, (_, [path], call) => (isLedgers(path) ? around(`${name} ${nameOf(path)}`, call) : call()));
  }
  // Below the buffers of a stream: what these are given is with the kernel when they return.
  const peer = (socket: unknown) => (socket as Socket).remotePort !== undefined;
  wrap(Socket.prototype, 'connect', (_, __, call) => around('socket connect', call));
  for (const name of ['_write', '_writev']) {
    wrap(Socket.prototype, name, (socket, _, call) => (peer(socket) ? around('socket send', call) : call()));
  }
  wrap(Socket.prototype, 'push', (socket, [bytes], call) =>
    peer(socket) && bytes !== null ? around('socket receive', call) : call(),
  );
  // The modules of the CLI import these by name.
  syncBuiltinESMExports();
}

/** Replaces a method by one that is given its receiver, its arguments, and the call itself. */
function wrap(
  owner: object,
  name: string,
  around: (self: unknown, args: readonly unknown[], call: () => unknown) => unknown,
): void {
  const original = Reflect.get(owner, name) as Method;
  const wrapped = function (this: unknown, ...args: readonly unknown[]): unknown {
    return around(this, args, () => original.apply(this, [...args]));
  };
  Object.defineProperty(owner, name, { value: wrapped, writable: true, configurable: true, enumerable: true });
}

/**
 * Queries change nothing, and settings of a connection nothing that lasts. A transaction changes nothing when it begins:
 * a kill there is one after the call before.
 */
function changes(sql: unknown): boolean {
  const text = String(sql).trimStart();
  return /^PRAGMA/i.test(text)
    ? /^PRAGMA (?:journal_mode|application_id|user_version) =|wal_checkpoint/i.test(text)
    : !/^(?:SELECT|BEGIN|ROLLBACK|$)/i.test(text);
}

function creates(flags: unknown): boolean {
  return typeof flags === 'number' && (flags & (fs.constants.O_CREAT | fs.constants.O_WRONLY)) !== 0;
}

function isLedgers(path: unknown): boolean {
  return typeof path === 'string' && path.includes(LEDGER);
}

function oneLine(sql: unknown): string {
  return String(sql).replace(/\s+/g, ' ');
}

function nameOf(path: unknown): string {
  return String(path).slice(String(path).indexOf(LEDGER));
}

function act({ action }: Trip): void {
  if (action === 'kill') process.kill(process.pid, 'SIGKILL');
  else if (action === 'throw') setImmediate(() => throwLater());
  else if (action === 'reject') void Promise.reject(new Error('planted rejection'));
  else fillMemory();
}

function throwLater(): never {
  throw new Error('planted exception');
}

/** As much as it takes: with a bound on the heap, V8 ends the process. */
function fillMemory(): void {
  const kept: unknown[] = [];
  for (;;) kept.push(Array.from({ length: 10_000 }, () => ({})));
}
