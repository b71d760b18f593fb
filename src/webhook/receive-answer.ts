import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** How long, and how much, a sender may go on sending what nobody wants, after it has its answer. */
const LINGER_MS = 500;
const LINGER_BYTES = 4 * 1024 * 1024;

/**
 * Answers without a body: senders look at the status alone. Goes straight to Node's response, which costs half of what
 * a web `Response` does (as measured for the sandbox).
 */
export function answerEmpty(outgoing: ServerResponse, status: number, headers: OutgoingHttpHeaders = {}): void {
  if (outgoing.destroyed || outgoing.headersSent) return;
  outgoing.writeHead(status, { 'Content-Length': 0, ...headers });
  outgoing.end();
}

/**
 * Refuses a request, and lets the connection go: whoever is refused has to begin anew, so that connections that are
 * kept open belong to senders who have proved themselves. What is still coming is read for a moment and thrown away,
 * because closing at once would take the answer away from a sender that is writing (RFC 9112, 9.6).
 */
export function refuse(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  status: number,
  headers: OutgoingHttpHeaders = {},
): void {
  if (outgoing.destroyed || outgoing.headersSent) return;
  outgoing.shouldKeepAlive = false;
  if (incoming.complete) {
    answerEmpty(outgoing, status, { ...headers, Connection: 'close' });
    return;
  }
  outgoing.writeHead(status, { 'Content-Length': 0, ...headers, Connection: 'close' });
  // The answer is complete with its headers; the end of the response would close the connection.
  outgoing.flushHeaders();
  const cut = (): void => void incoming.socket.destroy();
  const timer = setTimeout(cut, LINGER_MS);
  timer.unref();
  const end = (): void => {
    clearTimeout(timer);
    outgoing.end();
  };
  // What is read from the connection: extensions of chunks are no part of a body.
  const before = incoming.socket.bytesRead;
  incoming.on('data', () => {
    if (incoming.socket.bytesRead - before > LINGER_BYTES) cut();
  });
  incoming.on('end', end);
  incoming.on('error', end);
}
