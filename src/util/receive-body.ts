import type { IncomingMessage } from 'node:http';

/** A completely received body, or why it is missing: too large, or the sender closed the connection before its end. */
type ReceivedBody = Buffer | 'too-large' | 'cut-off';

/**
 * What a body may take on the wire, in sizes of itself: in chunks of a byte it is six times as much, and extensions have
 * no end.
 */
const ON_WIRE = 16;

/** Whether the headers say already that the body is too large, so that none of it need be read. */
export function isAnnouncedTooLarge({ headers }: Pick<IncomingMessage, 'headers'>, maxBytes: number): boolean {
  return Number(headers['content-length'] ?? 0) > maxBytes;
}

/** Reads a body to its end, and never more of it than is allowed. Never rejects. */
export function receiveBody(incoming: IncomingMessage, maxBytes: number): Promise<ReceivedBody> {
  if (isAnnouncedTooLarge(incoming, maxBytes)) return Promise.resolve('too-large');
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const before = incoming.socket.bytesRead;
    const take = (chunk: Buffer): void => {
      length += chunk.length;
      if (length <= maxBytes && incoming.socket.bytesRead - before <= ON_WIRE * maxBytes) {
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
