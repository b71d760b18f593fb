import type { IncomingMessage } from 'node:http';

/** A completely received body, or why there is none: too large, or the sender went away before its end. */
export type ReceivedBody = Buffer | 'too-large' | 'cut-off';

/** SECURITY S30. Standard Webhooks advises senders to stay below 20 kB. */
export const MAX_BODY_BYTES = 64 * 1024;

/**
 * What a body of that size may take on the wire: in chunks of a byte it is six times as much, and extensions have no
 * end.
 */
const MAX_WIRE_BYTES = 16 * MAX_BODY_BYTES;

/** Whether the headers say already that the body is too large, so that none of it need be read. */
export function isAnnouncedTooLarge({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return Number(headers['content-length'] ?? 0) > MAX_BODY_BYTES;
}

/** Reads a body to its end, and never more of it than is allowed. Never rejects. */
export function receiveBody(incoming: IncomingMessage): Promise<ReceivedBody> {
  if (isAnnouncedTooLarge(incoming)) return Promise.resolve('too-large');
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const before = incoming.socket.bytesRead;
    const take = (chunk: Buffer): void => {
      length += chunk.length;
      if (length <= MAX_BODY_BYTES && incoming.socket.bytesRead - before <= MAX_WIRE_BYTES) {
        chunks.push(chunk);
        return;
      }
      incoming.off('data', take);
      chunks.length = 0;
      resolve('too-large');
    };
    incoming.on('data', take);
    incoming.on('end', () => resolve(chunks.length === 1 ? (chunks[0] ?? EMPTY) : Buffer.concat(chunks)));
    incoming.on('error', () => resolve('cut-off'));
    incoming.on('close', () => resolve('cut-off'));
  });
}

const EMPTY = Buffer.alloc(0);
