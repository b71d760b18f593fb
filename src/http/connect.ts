import { setTimeout as sleep } from 'node:timers/promises';
import type { Attempt, AttemptError } from '../model.ts';
import {
  Connection,
  type ConnectionOwner,
  createReuse,
  Exchange,
  notStarted,
  type Posted,
  STOPPED,
  type Target,
} from './connection.ts';
import { type EndpointOptions, prepare } from './endpoint-options.ts';
import { toAttemptError } from './fault.ts';

export type { EndpointOptions };

/** The API's endpoint: connections that are opened before they are needed, and one POST on each at a time. */
export interface Endpoint {
  /**
   * Reserves an open connection for one `post`; false if none is idle. Recipients are claimed only after this, so that
   * a kill leaves few claims without a request (failures.md, rule 9). It is followed by one `post` or one `release`.
   */
  reserve(): boolean;
  /** The same when one is idle: null, or the facts of a failed attempt to open one (always P1, nothing was sent). */
  ready(): Promise<Attempt | null>;
  /** Gives back the reserved connection without a `post`. */
  release(): void;
  /** Ends the waiting of `ready`: no `post` follows. */
  stopWaiting(): void;
  /** One POST. Never rejects, never sends twice, never follows a redirect. */
  post(body: string, reference: string, target?: Target): Promise<Attempt>;
  /** Takes nothing more, waits at most `graceMs` for requests in flight, then aborts. */
  close(graceMs: number): Promise<void>;
  /** Ends everything now: a request that was not started is P1, others stay in the phase that they reached. */
  abort(): void;
  readonly inFlight: number;
  /** Open connections with nothing to do. */
  readonly idle: number;
}

/** Time without a new connection after one was refused while others are open. */
const GROW_AGAIN_MS = 1_000;

/**
 * Connects to nothing yet.
 * @throws HandbillError when a header value cannot be used in a header
 */
export function connect(options: EndpointOptions): Endpoint {
  const request = prepare(options);
  const { authorize = null } = options;

  const connections = new Set<Connection>();
  const idle: Connection[] = [];
  /** Calls of `ready`, oldest first. */
  const waiting: { readonly resolve: (attempt: Attempt | null) => void; readonly since: number }[] = [];
  /** Idle connections that `ready` has reserved, and no `post` has used yet. */
  let kept = 0;
  let opening = 0;
  let inFlight = 0;
  let growAfter = 0;
  let closed = false;
  let onEmpty: (() => void) | null = null;

  const opened = (connection: Connection): void => {
    if (!connection.opening) return;
    connection.opening = false;
    opening -= 1;
  };
  const owner: ConnectionOwner = {
    reuse: createReuse((notice) => {
      options.onNotice?.(notice);
      for (const connection of [...idle]) if (connection.isUsedUp) connection.retire();
    }),
    idle(connection) {
      opened(connection);
      if (closed) return connection.retire();
      idle.push(connection);
      serve();
      if (waiting.length > 0) grow();
    },
    gone(connection, error) {
      connections.delete(connection);
      opened(connection);
      const at = idle.indexOf(connection);
      if (at !== -1) idle.splice(at, 1);
      if (error !== null) refused(error);
      grow();
    },
  };
  /** A server may limit connections: a refused one is a failure only if no other is open. */
  const refused = (error: Error): void => {
    if (connections.size > opening) growAfter = performance.now() + GROW_AGAIN_MS;
    else {
      const waiter = waiting.shift();
      waiter?.resolve(notStarted(toAttemptError(error), performance.now() - waiter.since));
    }
  };
  const serve = (): void => {
    while (waiting.length > 0 && idle.length > kept) {
      kept += 1;
      waiting.shift()?.resolve(null);
    }
  };
  /**
   * Opens the connections that calls wait for, gently: at most as many at a time as are open already, or one. A
   * connection whose response has just come counts: it needs one more turn of the event loop.
   */
  const grow = (): void => {
    while (!closed && waiting.length > opening && connections.size < options.connections) {
      const open = connections.size - opening;
      if (opening >= Math.max(1, open) || (open > 0 && performance.now() < growAfter)) return;
      let resting = 0;
      for (const one of connections) if (one.state === 'resting' && !one.opening) resting += 1;
      if (waiting.length <= opening + resting) return;
      opening += 1;
      connections.add(new Connection(request, owner));
    }
  };
  const unkeep = (): void => {
    if (kept > 0) kept -= 1;
  };
  /** The reserved connection has closed meanwhile, or none was reserved. */
  const carryLater = async (exchange: Exchange): Promise<void> => {
    for (;;) {
      const failed = await endpoint.ready();
      if (failed?.error != null) return exchange.fail(failed.error);
      unkeep();
      const connection = idle.pop();
      if (connection !== undefined) return connection.carry(exchange);
    }
  };
  // A time limit is up to a twentieth late, at most 100 ms.
  const clock = setInterval(
    () => {
      const now = performance.now();
      for (const connection of connections) connection.endLate(now);
    },
    Math.min(100, Math.max(1, options.timeoutMs / 20)),
  ).unref();
  const stopWaiting = (): void => {
    for (const waiter of waiting.splice(0)) waiter.resolve(notStarted(stopped(), 0));
  };

  const carry = (posted: Posted): Promise<Attempt> => {
    unkeep();
    inFlight += 1;
    return new Promise((resolve) => {
      const exchange = new Exchange(posted, performance.now(), options.timeoutMs, (attempt) => {
        inFlight -= 1;
        if (inFlight === 0) onEmpty?.();
        resolve(attempt);
      });
      const connection = idle.pop();
      if (connection === undefined) void carryLater(exchange);
      else connection.carry(exchange);
    });
  };

  const endpoint: Endpoint = {
    stopWaiting,
    reserve() {
      if (closed || idle.length <= kept) return false;
      kept += 1;
      return true;
    },
    async ready() {
      if (closed) return notStarted(stopped(), 0);
      if (endpoint.reserve()) return null;
      return await new Promise((resolve) => {
        waiting.push({ resolve, since: performance.now() });
        grow();
      });
    },
    release() {
      unkeep();
      serve();
    },
    post(body, reference, target = request.target) {
      const posted = { body, reference, target, authorization: null };
      return authorize === null
        ? carry(posted)
        : authorize().then(
            (authorization) => carry({ ...posted, authorization }),
            (error: unknown) => {
              endpoint.release();
              return notStarted(toAttemptError(error), 0);
            },
          );
    },
    async close(graceMs) {
      closed = true;
      stopWaiting();
      for (const one of connections) if (!one.isBusy && one.answering.lingerMs === 0) one.retire();
      if (inFlight > 0 && graceMs > 0) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, graceMs);
          onEmpty = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      const lingerMs = Math.max(0, ...[...connections].map(({ answering }) => answering.lingerMs));
      if (lingerMs > 0 && graceMs > 0) await sleep(lingerMs);
      endpoint.abort();
    },
    abort() {
      closed = true;
      clearInterval(clock);
      stopWaiting();
      for (const connection of connections) connection.abort(STOPPED);
      onEmpty?.();
    },
    get inFlight() {
      return inFlight;
    },
    get idle() {
      return idle.length;
    },
  };
  return endpoint;
}

function stopped(): AttemptError {
  return toAttemptError(STOPPED);
}
