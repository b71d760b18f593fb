import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { answer, answerEmpty, answerJson } from './answer.ts';
import type { Fault } from './scenarios.ts';

const SLOW_MS = 3_000;
const DRIP_MS = 200;
/** A reset throws away what the other side has not read yet: the half answer gets this long to arrive. */
const ARRIVE_MS = 50;
const LARGE_BYTES = 1_048_576;

const NOT_HTTP = '220 mail.invalid ESMTP ready\r\n';
const HTML = '<!doctype html>\n<title>Welcome</title>\n<h1>Sign in to the network</h1>\n';

/** One way to misbehave. */
export interface FaultPlay {
  /** Status that goes out; null where none does. */
  readonly status: number | null;
  /** The client is given the message's id in a whole answer. */
  readonly givesId: boolean;
  /** `json` is the body of the answer that would have been given. */
  readonly play: (outgoing: ServerResponse, json: string) => void;
}

export const FAULTS: Readonly<Record<Fault, FaultPlay>> = {
  reset: { status: null, givesId: false, play: reset },
  silence: { status: null, givesId: false, play: () => {} },
  slow: { status: 202, givesId: true, play: playSlow },
  html: { status: 200, givesId: false, play: (outgoing) => answer(outgoing, 200, 'text/html; charset=utf-8', HTML) },
  empty: { status: 202, givesId: false, play: (outgoing) => answerEmpty(outgoing, 202, {}) },
  half: { status: 202, givesId: false, play: playHalf },
  close: { status: null, givesId: false, play: (outgoing) => outgoing.socket?.end() },
  'no-id': { status: 202, givesId: false, play: (outgoing) => answerJson(outgoing, 202, '{}') },
  'plain-text': { status: 202, givesId: false, play: (outgoing) => answer(outgoing, 202, 'text/plain', 'OK') },
  'not-http': { status: null, givesId: false, play: (outgoing) => outgoing.socket?.end(NOT_HTTP) },
  interim: { status: 202, givesId: true, play: playInterim },
  large: { status: 202, givesId: false, play: playLarge },
  compressed: { status: 202, givesId: false, play: playCompressed },
  drip: { status: 202, givesId: false, play: playDrip },
};

function playSlow(outgoing: ServerResponse, json: string): void {
  later(outgoing, SLOW_MS, () => answerJson(outgoing, 202, json));
}

function playLarge(outgoing: ServerResponse, json: string): void {
  answerJson(outgoing, 202, json.padEnd(LARGE_BYTES));
}

function reset(outgoing: ServerResponse): void {
  outgoing.socket?.resetAndDestroy();
}

function playHalf(outgoing: ServerResponse, json: string): void {
  outgoing.writeHead(202, { 'Content-Type': 'application/json', 'Content-Length': json.length });
  outgoing.write(json.slice(0, json.length / 2), () => later(outgoing, ARRIVE_MS, () => reset(outgoing)));
}

function playInterim(outgoing: ServerResponse, json: string): void {
  for (let i = 0; i < 3; i += 1) outgoing.writeProcessing();
  answerJson(outgoing, 202, json);
}

function playCompressed(outgoing: ServerResponse, json: string): void {
  const body = gzipSync(json);
  outgoing.writeHead(202, {
    'Content-Type': 'application/json',
    'Content-Encoding': 'gzip',
    'Content-Length': body.length,
  });
  outgoing.end(body);
}

function playDrip(outgoing: ServerResponse): void {
  outgoing.writeHead(202, { 'Content-Type': 'application/json' });
  outgoing.write('{');
  const timer = setInterval(() => outgoing.write(' '), DRIP_MS);
  outgoing.once('close', () => clearInterval(timer));
}

/** Does something later, unless the client is gone by then. */
export function later(outgoing: ServerResponse, delayMs: number, action: () => void): void {
  const timer = setTimeout(action, delayMs);
  outgoing.once('close', () => clearTimeout(timer));
}
