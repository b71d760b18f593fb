/** One request while it comes in. */
export interface Request {
  readonly head: string;
  readonly headLength: number;
  /** Bytes of head and body. */
  readonly length: number;
  /** Which one it is on its connection, from 1. */
  readonly ordinal: number;
  /** What came of the body so far. */
  body: string;
  complete: boolean;
  /** The behaviour was begun while it still came in: number and id of its receipt. */
  begun: { readonly number: number; readonly id: string | null } | null;
}

/** Puts the bytes of one connection together to requests; each chunk gives those that it belongs to, in order. */
export function createReader(): (chunk: Buffer) => Generator<Request> {
  let received: Buffer = Buffer.alloc(0);
  let request: Request | null = null;
  let ordinal = 1;
  return function* (chunk) {
    received = Buffer.concat([received, chunk]);
    for (;;) {
      request ??= headOf(received, ordinal);
      if (request === null) return;
      request.complete = received.length >= request.length;
      // Half of a large body is enough to know whose it is; copying it for each chunk would take long.
      if (!request.complete && received.length < request.length / 2) return;
      request.body = received.toString('utf8', request.headLength, Math.min(received.length, request.length));
      yield request;
      if (!request.complete) return;
      received = received.subarray(request.length);
      request = null;
      ordinal += 1;
    }
  };
}

function headOf(received: Buffer, ordinal: number): Request | null {
  const end = received.indexOf('\r\n\r\n');
  if (end === -1) return null;
  const head = received.toString('latin1', 0, end);
  const headLength = end + 4;
  const length = headLength + Number(/^content-length: *([0-9]+)/im.exec(head)?.[1] ?? '0');
  return { head, headLength, length, ordinal, body: '', complete: false, begun: null };
}
