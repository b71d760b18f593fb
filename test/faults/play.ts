import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import type { Step } from './behaviours/behaviour.ts';

/** A connection as behaviours see it. */
export interface Stage {
  /** What is written to: TLS where there is TLS. */
  readonly socket: Socket;
  /** The connection below, which is what a reset is for. */
  readonly bare: Socket;
}

/** Fills in what a text of the table leaves open. */
export type Fill = (text: string) => string;

/** Plays one step after the other, until the other side is gone. */
export async function play(steps: readonly Step[], stage: Stage, fill: Fill): Promise<void> {
  for (const step of steps) {
    if (stage.bare.destroyed) return;
    await playStep(step, stage, fill);
  }
}

async function playStep(step: Step, { socket, bare }: Stage, fill: Fill): Promise<void> {
  if (step === 'end') socket.end();
  else if (step === 'reset') bare.resetAndDestroy();
  else if (step === 'stop reading') socket.pause();
  else if (step === 'read on') socket.resume();
  else if ('write' in step) socket.write(fill(step.write), 'latin1');
  else if ('answer' in step) socket.write(answerOf(step.answer, fill));
  else if ('gzip' in step) writeCompressed(socket, fill(step.gzip), step.times ?? 1);
  else if ('waitMs' in step) await sleep(step.waitMs);
  else if ('bytes' in step) {
    for (const byte of fill(step.bytes)) {
      if (socket.destroyed) return;
      socket.write(byte, 'latin1');
      await sleep(step.everyMs);
    }
  } else if ('drip' in step) {
    while (!socket.destroyed) {
      socket.write(step.drip, 'latin1');
      await sleep(step.everyMs);
    }
  } else await flood(socket, step.flood);
}

function answerOf([status, body = '', headers = '']: readonly [number, string?, string?], fill: Fill): string {
  const text = fill(body);
  const more = headers === '' ? '' : `${fill(headers)}\r\n`;
  const type = headers.includes('content-type') ? '' : 'content-type: application/json\r\n';
  return `HTTP/1.1 ${status} Something\r\n${type}${more}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

function writeCompressed(socket: Socket, text: string, times: number): void {
  socket.write('HTTP/1.1 202 Accepted\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\n');
  socket.write('connection: close\r\n\r\n');
  const packer = createGzip();
  packer.on('error', () => {});
  packer.pipe(socket);
  for (let i = 0; i < times; i++) packer.write(text);
  packer.end();
}

/** Writes as fast as the other side takes it, and no faster. */
async function flood(socket: Socket, text: string): Promise<void> {
  while (!socket.destroyed) {
    if (socket.write(text, 'latin1')) await sleep(0);
    else await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
  }
}

function once(socket: Socket, event: 'drain' | 'close'): Promise<void> {
  return new Promise((resolve) => socket.once(event, () => resolve()));
}
