import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** A server's connections, and which are closed when there are too many. An answered request authenticates a reader. */
export type Connections = ReturnType<typeof limitConnections>;

const MAX_CONNECTIONS = 100;

/** In a surge of new connections, whose first request may be on its way; above it, they are closed too. */
const MOST_IN_A_SURGE = 1_000;

/** Time for an honest sender's request when there are too many connections. */
const GRACE_MS = 250;

type State =
  /** No complete headers yet, so the sender is unknown. */
  | 'new'
  /** Receiving headers, of an unknown sender. */
  | 'receiving'
  /** Between two requests of a sender that has proved itself. */
  | 'idle'
  | 'answering';

interface Entry {
  readonly socket: Socket;
  state: State;
  proven: boolean;
  sinceMs: number;
}

/**
 * Limits the number of connections of a server. A limit that refuses the next one (Node's `maxConnections`) shuts out
 * honest senders as long as others hold connections open. Here the connection that has sent least for the longest time
 * is closed. So 200 idle connections do not affect an honest sender.
 *
 * Connections without complete headers are closed first, then those without a complete body. Those of authenticated
 * senders are closed only if they alone are too many, and those that are being answered never.
 */
export function limitConnections(server: Server) {
  const entries = new Map<Socket, Entry>();
  let planned: NodeJS.Immediate | NodeJS.Timeout | null = null;

  const oldest = (state: State): readonly Entry[] =>
    [...entries.values()].filter((entry) => entry.state === state).sort((a, b) => a.sinceMs - b.sinceMs);
  const drop = ({ socket }: Entry): void => {
    entries.delete(socket);
    socket.destroy();
  };
  const enforce = (): void => {
    planned = null;
    const now = performance.now();
    for (const entry of [...oldest('new'), ...oldest('receiving')]) {
      if (entries.size <= MAX_CONNECTIONS) return;
      if (now - entry.sinceMs >= GRACE_MS || entries.size > MOST_IN_A_SURGE) drop(entry);
    }
    const idle = oldest('idle');
    for (const entry of idle.slice(0, Math.max(0, idle.length - MAX_CONNECTIONS))) drop(entry);
    // Connections within their grace period are checked again when it is over.
    if (entries.size > MAX_CONNECTIONS) planned = setTimeout(enforce, GRACE_MS).unref();
  };
  const check = (): void => {
    // Not at once: a new connection may have brought a whole request, which is read in this turn of the event loop.
    if (entries.size > MAX_CONNECTIONS && (planned === null || entries.size > MOST_IN_A_SURGE))
      planned = setImmediate(enforce);
  };

  server.on('connection', (socket) => {
    entries.set(socket, { socket, state: 'new', proven: false, sinceMs: performance.now() });
    socket.once('close', () => entries.delete(socket));
    check();
  });
  const move = (socket: Socket, state: State): void => {
    const entry = entries.get(socket);
    if (entry === undefined) return;
    entry.sinceMs = performance.now();
    entry.proven ||= state === 'idle';
    // A known sender is not closed before others because it sends another request.
    entry.state = state === 'receiving' && entry.proven ? 'idle' : state;
    if (state === 'idle') check();
  };
  return {
    /** The headers of a request are complete; the rest may not be. */
    began: (socket: Socket): void => move(socket, 'receiving'),
    /** A request is complete and proven: it must get its answer. */
    answering: (socket: Socket): void => move(socket, 'answering'),
    /** The answer is written: the connection belongs to a sender that has proved itself. */
    answered: (socket: Socket): void => move(socket, 'idle'),
    /** Cuts every connection on which no request is being answered. */
    closeIdle(): void {
      for (const { socket, state } of [...entries.values()]) if (state !== 'answering') socket.destroy();
    },
    get size() {
      return entries.size;
    },
  };
}
