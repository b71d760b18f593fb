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
  /** Status that goes out: one of success as the dialect has it; null where none does. */
  readonly status: number | 'success' | null;
  /** The client is given the message's id in a whole answer. */
  readonly givesId: boolean;
  /** `json` is the body of the answer that would have been given, `success` its status. */
  readonly play: (outgoing: ServerResponse, json: string, success: number) => void;
}

export const FAULTS: Readonly<Record<Fault, FaultPlay>> = {
  reset: { status: null, givesId: false, play: reset },
  silence: { status: null, givesId: false, play: () => {} },
  slow: { status: 'success', givesId: true, play: playSlow },
  html: { status: 200, givesId: false, play: (outgoing) => answer(outgoing, 200, 'text/html; charset=utf-8', HTML) },
  empty: { status: 'success', givesId: false, play: (outgoing, _json, success) => answerEmpty(outgoing, success, {}) },
  half: { status: 'success', givesId: false, play: playHalf },
  close: { status: null, givesId: false, play: (outgoing) => outgoing.socket?.end() },
  'no-id': {
    status: 'success',
    givesId: false,
    play: (outgoing, _json, success) => answerJson(outgoing, success, '{}'),
  },
  'plain-text': {
    status: 'success',
    givesId: false,
    play: (outgoing, _json, success) => answer(outgoing, success, 'text/plain', 'OK'),
  },
  'not-http': { status: null, givesId: false, play: (outgoing) => outgoing.socket?.end(NOT_HTTP) },
  interim: { status: 'success', givesId: true, play: playInterim },
  large: { status: 'success', givesId: false, play: playLarge },
  compressed: { status: 'success', givesId: false, play: playCompressed },
  drip: { status: 'success', givesId: false, play: playDrip },
};

function playSlow(outgoing: ServerResponse, json: string, success: number): void {
  later(outgoing, SLOW_MS, () => answerJson(outgoing, success, json));
}

function playLarge(outgoing: ServerResponse, json: string, success: number): void {
  answerJson(outgoing, success, json.padEnd(LARGE_BYTES));
}

function reset(outgoing: ServerResponse): void {
  outgoing.socket?.resetAndDestroy();
}

function playHalf(outgoing: ServerResponse, json: string, success: number): void {
  outgoing.writeHead(success, { 'Content-Type': 'application/json', 'Content-Length': json.length });
  outgoing.write(json.slice(0, json.length / 2), () => later(outgoing, ARRIVE_MS, () => reset(outgoing)));
}

function playInterim(outgoing: ServerResponse, json: string, success: number): void {
  for (let i = 0; i < 3; i += 1) outgoing.writeProcessing();
  answerJson(outgoing, success, json);
}

function playCompressed(outgoing: ServerResponse, json: string, success: number): void {
  const body = gzipSync(json);
  outgoing.writeHead(success, {
    'Content-Type': 'application/json',
    'Content-Encoding': 'gzip',
    'Content-Length': body.length,
  });
  outgoing.end(body);
}

function playDrip(outgoing: ServerResponse, _json: string, success: number): void {
  outgoing.writeHead(success, { 'Content-Type': 'application/json' });
  outgoing.write('{');
  const timer = setInterval(() => outgoing.write(' '), DRIP_MS);
  outgoing.once('close', () => clearInterval(timer));
}

/** Does something later, unless the client is gone by then. */
export function later(outgoing: ServerResponse, delayMs: number, action: () => void): void {
  const timer = setTimeout(action, delayMs);
  outgoing.once('close', () => clearTimeout(timer));
}
