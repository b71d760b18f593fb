import { setTimeout as sleep } from 'node:timers/promises';
import type { Attempt } from '../model.ts';
import { type EndpointOptions, prepare } from './endpoint-options.ts';
import { type Carrier, Exchange, notStarted } from './exchange.ts';
import { Fault, toAttemptError } from './fault.ts';
import { Lane, type LaneOwner } from './lane.ts';
import { createReuse } from './reuse.ts';
import { createSweeper } from './sweeper.ts';

export type { EndpointOptions };

/** Where requests go: connections that are opened before they are needed, and one POST on each at a time. */
export interface Endpoint {
  /**
   * Null when an open connection is kept for one more `post`; where one has to be waited for, a promise of that, or of the
   * facts of the failed attempt to open one (always P1). Connections that are in use by others are waited for. Claims are made after it, so that
   * a claim has a connection (FAILURES rule 9). What is not used is given back with `release`, else after 5 s.
   */
  ready(): Promise<Attempt | null> | null;
  /** Gives back what `ready` kept, when there is nothing to post after all. */
  release(): void;
  /** Ends the waiting of `ready`: nothing more is to be posted. */
  stopWaiting(): void;
  /** One POST. Never rejects, never sends twice, never follows anything. */
  post(body: string, reference: string): Promise<Attempt>;
  /** Takes nothing more, waits for what is in flight for at most `graceMs`, then aborts. */
  close(graceMs: number): Promise<void>;
  /** Ends everything now: what was not started is P1, the rest stays in the phase it had reached. */
  abort(): void;
  readonly inFlight: number;
  /** Connections that are open and have nothing to do. */
  readonly idle: number;
}

/** After a refused connection beside open ones: how long to make do with those. */
const GROW_AGAIN_MS = 1_000;
const PROMISE_MS = 5_000;
/** The limits of the connector and of the tunnel say more about what was slow, so ours, for all of it, comes after them. */
const OPEN_MARGIN = 1.25;

/**
 * Makes an endpoint; connects to nothing yet.
 * @throws HandbillError when a header value cannot stand in a header
 */
export function connect(options: EndpointOptions): Endpoint {
  const { connections, timeoutMs } = options;
  const { lane: laneOptions, connectTimeoutMs } = prepare(options);

  const lanes = new Set<Lane>();
  const idle: Lane[] = [];
  /** Their answers were read in this turn of the event loop. */
  const resting: Lane[] = [];
  /** Asked for by `ready`, oldest first. */
  const waiting: Waiting[] = [];
  /** When each connection was promised by `ready` that no `post` has used yet. */
  const promised: number[] = [];
  /** Posts that found no connection: only when `ready` was not asked. */
  const queue: Exchange[] = [];
  let opening = 0;
  let inFlight = 0;
  let growAfter = 0;
  let closed = false;
  let onEmpty: (() => void) | null = null;

  const settled = (): void => {
    inFlight -= 1;
    if (inFlight === 0) onEmpty?.();
  };
  const opened = (lane: Lane): void => {
    if (!lane.opening) return;
    lane.opening = false;
    opening -= 1;
  };
  const reuse = createReuse((notice) => {
    options.onNotice?.(notice);
    for (const lane of [...idle]) if (lane.isUsedUp) lane.retire();
  });
  const owner: LaneOwner = {
    reuse,
    resting(lane) {
      if (resting.push(lane) === 1) setImmediate(rested);
    },
    idle(lane) {
      opened(lane);
      if (closed) return lane.retire();
      idle.push(lane);
      serve();
      if (waiting.length > 0) grow();
    },
    openFailed(lane, error) {
      lanes.delete(lane);
      opened(lane);
      // A server may allow few connections: beside open ones, one that is refused is no failure.
      if (lanes.size > opening) growAfter = performance.now() + GROW_AGAIN_MS;
      else {
        const waiter = waiting.shift();
        waiter?.resolve(notStarted(toAttemptError(error), performance.now() - waiter.since));
      }
      grow();
    },
    gone(lane) {
      lanes.delete(lane);
      opened(lane);
      const at = idle.indexOf(lane);
      if (at !== -1) idle.splice(at, 1);
      grow();
    },
    settled,
  };
  /** The poll behind their answers is over: a connection that the server ended with its answer is gone by now. */
  const rested = (): void => {
    const now = performance.now();
    for (const lane of resting.splice(0)) lane.rested(now);
  };
  const queued: Carrier = {
    connection: null,
    settled(exchange) {
      queue.splice(queue.indexOf(exchange), 1);
      settled();
    },
  };

  const addLane = (): Lane => {
    const lane = new Lane(laneOptions, owner, performance.now() + connectTimeoutMs * OPEN_MARGIN);
    lanes.add(lane);
    return lane;
  };

  /** Gives what is idle to whoever waits. */
  const serve = (): void => {
    while (queue.length > 0 && idle.length > 0) {
      const exchange = queue.shift();
      if (exchange !== undefined) idle.pop()?.carry(exchange, performance.now());
    }
    while (waiting.length > 0 && idle.length > promised.length) {
      promised.push(performance.now());
      waiting.shift()?.resolve(null);
    }
  };

  /**
   * Opens as many connections as are waited for, gently: at most as many at a time as are open already, or one. A
   * connection whose answer has just come needs one more turn of the event loop; it is waited for.
   */
  const grow = (): void => {
    while (!closed && waiting.length + queue.length > opening && lanes.size < connections) {
      const open = lanes.size - opening;
      if (opening >= Math.max(1, open) || (open > 0 && performance.now() < growAfter)) return;
      if (waiting.length + queue.length <= opening + count(lanes, isResting)) return;
      opening += 1;
      addLane().open();
    }
  };

  const sweeper = createSweeper(Math.max(5, Math.min(250, timeoutMs / 8, connectTimeoutMs / 8)), (now) => {
    for (const lane of lanes) {
      if (lane.exchange !== null && now >= lane.exchange.deadline) lane.exchange.fail(timeUp(timeoutMs));
      else if (lane.opening && now >= lane.openBy) lane.failOpening(timeUp(connectTimeoutMs));
      else if (lane.state === 'idle' && now >= lane.keptUntil) lane.retire();
    }
    for (const exchange of [...queue]) if (now >= exchange.deadline) exchange.fail(timeUp(timeoutMs));
    while (promised[0] !== undefined && now >= promised[0] + PROMISE_MS) promised.shift();
    serve();
    grow();
    return lanes.size > 0 || inFlight > 0 || waiting.length > 0;
  });

  const stopWaiting = (): void => {
    for (const waiter of waiting.splice(0)) waiter.resolve(notStarted(toAttemptError(stopped()), 0));
  };

  const endpoint: Endpoint = {
    stopWaiting,
    ready() {
      if (closed) return Promise.resolve(notStarted(toAttemptError(stopped()), 0));
      if (idle.length > promised.length) {
        promised.push(performance.now());
        return null;
      }
      return new Promise((resolve) => {
        waiting.push({ resolve, since: performance.now() });
        sweeper.start();
        grow();
      });
    },
    release() {
      promised.shift();
      serve();
    },
    post(body, reference) {
      promised.shift();
      return new Promise((resolve) => {
        const now = performance.now();
        const exchange = new Exchange(body, reference, now, timeoutMs, laneOptions.mostBytes, resolve);
        if (closed) return exchange.fail(stopped());
        inFlight += 1;
        sweeper.start();
        const lane = idle.pop() ?? (lanes.size < connections ? addLane() : null);
        if (lane !== null) return lane.carry(exchange, now);
        exchange.carrier = queued;
        queue.push(exchange);
      });
    },
    async close(graceMs) {
      closed = true;
      stopWaiting();
      for (const exchange of [...queue]) exchange.fail(stopped());
      for (const lane of lanes) if (lane.exchange === null && lane.connection.lingerMs === 0) lane.retire();
      if (inFlight > 0 && graceMs > 0) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, graceMs);
          onEmpty = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      const lingerMs = Math.max(0, ...[...lanes].map(({ connection }) => connection.lingerMs));
      if (lingerMs > 0 && graceMs > 0) await sleep(lingerMs);
      endpoint.abort();
    },
    abort() {
      closed = true;
      stopWaiting();
      for (const exchange of [...queue]) exchange.fail(stopped());
      for (const lane of lanes) {
        lane.exchange?.fail(stopped());
        lane.retire();
      }
      onEmpty?.();
      sweeper.stop();
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

interface Waiting {
  readonly resolve: (attempt: Attempt | null) => void;
  readonly since: number;
}

function isResting(lane: Lane): boolean {
  return lane.state === 'resting' && !lane.opening;
}

function count<T>(items: Iterable<T>, wanted: (item: T) => boolean): number {
  let n = 0;
  for (const item of items) if (wanted(item)) n += 1;
  return n;
}

function timeUp(ms: number): Fault {
  return new Fault('HANDBILL_TIMEOUT', `The time limit of ${ms} ms was up.`);
}

function stopped(): Fault {
  return new Fault('HANDBILL_STOPPED', 'The run stopped.');
}
