import type { IncomingMessage } from 'node:http';

/** A completely received body, or why there is none: too large, or the client went away before its end. */
export type ReceivedBody = Buffer | 'too-large' | 'cut-off';

/** Largest body that is read. The API's own limit is unstated. */
export const MAX_BODY_BYTES = 1_048_576;

/**
 * Reads a body to its end. Listens to the stream itself, because nearly every body comes in one chunk and needs no
 * copying then. Never rejects: what went wrong is part of the answer.
 */
export function receiveBody(incoming: IncomingMessage): Promise<ReceivedBody> {
  if (Number(incoming.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return Promise.resolve('too-large');
  return new Promise((resolve) => {
    let first: Buffer | null = null;
    let rest: Buffer[] | null = null;
    let length = 0;
    incoming.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > MAX_BODY_BYTES) {
        incoming.pause();
        resolve('too-large');
      } else if (first === null) first = chunk;
      else {
        rest ??= [first];
        rest.push(chunk);
      }
    });
    incoming.on('end', () => resolve(rest === null ? (first ?? Buffer.alloc(0)) : Buffer.concat(rest)));
    incoming.on('error', () => resolve('cut-off'));
    incoming.on('close', () => resolve('cut-off'));
  });
}
