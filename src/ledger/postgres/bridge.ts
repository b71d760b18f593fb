import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { Param, Value } from '../connection.ts';

/** A parameter; a list becomes an array of the database. */
export type Given = Param | readonly Param[];

export interface Asked {
  readonly text: string;
  readonly values: readonly Given[];
  readonly name?: string;
  readonly copied?: Uint8Array;
}

export interface Found {
  readonly rows: readonly (readonly Value[])[];
  readonly changes: number;
}

/** `code` is PostgreSQL's, or the system's if the server was not reached; null: neither. */
export interface Refusal {
  readonly code: string | null;
  readonly message: string;
}

export type Said = Found | { readonly error: Refusal };

export interface BridgeData {
  readonly port: MessagePort;
  readonly signal: SharedArrayBuffer;
  readonly address: string;
}

export type Bridge = ReturnType<typeof openBridge>;

/**
 * A connection to PostgreSQL that waits for answers as SQLite does. It lives in another thread; this one sleeps until
 * it has the answer. While it sleeps nothing is sent, and no answer of the API is lost: it waits in its socket.
 */
export function openBridge(address: string) {
  const signal = new SharedArrayBuffer(4);
  const answered = new Int32Array(signal);
  const { port1: port, port2: theirs } = new MessageChannel();
  const workerData: BridgeData = { port: theirs, signal, address };
  const worker = new Worker(scriptOfThread(), { workerData, transferList: [theirs] });
  worker.unref();
  port.unref();
  let asked = 0;
  let heard = 0;
  /** The answer to the newest question, or the first refusal before it. */
  const settle = (waitMs: number): Said | null => {
    const until = performance.now() + waitMs;
    for (let seen = Atomics.load(answered, 0); seen < asked; seen = Atomics.load(answered, 0)) {
      const left = until - performance.now();
      if (left <= 0 || Atomics.wait(answered, 0, seen, left) === 'timed-out') return null;
    }
    let said: Said | null = null;
    for (; heard < asked; heard += 1) {
      const next = receiveMessageOnPort(port)?.message as Said;
      if (said === null || !('error' in said)) said = next;
    }
    return said;
  };
  const post = (question: Asked): void => {
    asked += 1;
    port.postMessage(question);
  };
  return {
    /** Null: no answer came in time; a later one is ignored. */
    ask(question: Asked, waitMs: number): Said | null {
      if (heard < asked) {
        const before = settle(waitMs);
        if (before === null || 'error' in before) return before;
      }
      post(question);
      return settle(waitMs);
    },
    /** Asks without waiting. The next `ask` reports the result; if this was refused, that `ask` is not sent. */
    send: post,
    close(): void {
      port.postMessage(null);
    },
  };
}

/** A separate script: in a build, this one is in a chunk (.scripts/bundle.ts). Only the thread loads the driver. */
function scriptOfThread(): URL {
  const name = import.meta.url.endsWith('.ts') ? './thread.ts' : '../ledger/postgres/thread.js';
  return new URL(name, import.meta.url);
}
