import type { Endpoint } from '../../src/http/connect.ts';
import type { Attempt, Phase } from '../../src/model.ts';
import { type Asked, FORMS, type FormName } from '../oracle/forms.ts';
import type { Receipt } from '../oracle/receipts.ts';
import { type Behaviour, drawBehaviour, drawConnect, type Profile } from './behaviour.ts';
import type { Provider } from './provider.ts';
import type { Random } from './random.ts';
import type { EnvironmentName } from './scene.ts';
import type { World } from './world.ts';

/** The API of each environment of a history: the receipts of all of them outlive every start. */
export interface Server {
  readonly receipts: readonly ServerReceipt[];
  /** Of one start; all connections to this server are made here. */
  connect(options: ConnectOptions): SimulatedEndpoint;
}

export interface ServerReceipt extends Receipt {
  /** Whose API received it. */
  readonly environment: EnvironmentName;
}

export interface ConnectOptions {
  /** Whose API it is. */
  readonly environment: EnvironmentName;
  /** How it is spoken to. */
  readonly form: FormName;
  readonly profile: Profile;
  readonly connections: number;
  readonly timeoutMs: number;
  /** See `drawBehaviour`. */
  readonly onlyOwn: boolean;
  readonly watch: EndpointWatch;
}

/** Who looks at what goes over the connections; each call may end the process that makes it. */
export interface EndpointWatch {
  ready(): void;
  /** `post` was called; nothing has left yet. */
  posting(body: string, asked: Asked): void;
  /** The server has it all. */
  received(): void;
  /** The client is about to be told. */
  answering(asked: Asked, behaviour: Behaviour, attempt: Attempt): void;
  connectFailed(code: string): void;
}

export interface SimulatedEndpoint extends Endpoint {
  /** The process is dead: what it waited for ends at once and means nothing. */
  die(): void;
}

const UNREADABLE: ReadonlySet<Behaviour['kind']> = new Set(['unrecognised', 'html', 'cut-2xx']);

type Written = { -readonly [K in keyof ServerReceipt]: ServerReceipt[K] };

interface InFlight {
  readonly environment: EnvironmentName;
  readonly form: FormName;
  readonly behaviour: Behaviour;
  readonly asked: Asked;
  readonly text: string;
  readonly since: number;
  readonly cancel: (() => void)[];
  readonly resolve: (attempt: Attempt) => void;
  phase: Phase;
  /** One for each recipient, once the server has it. */
  written: readonly Written[] | null;
}

interface Waiting {
  readonly resolve: (attempt: Attempt | null) => void;
  readonly since: number;
}

/**
 * @param providerOf - tells what becomes of the messages; null: nothing does
 * @param firstNumber - no two servers of one history give out one id, but those of two environments do
 */
export function createServer(
  world: World,
  random: Random,
  providerOf: ((environment: EnvironmentName) => Pick<Provider, 'received'>) | null = null,
  firstNumber = 0,
): Server {
  const receipts: Written[] = [];
  const counts = new Map<EnvironmentName, { posts: number; requests: number }>();
  const countsOf = (environment: EnvironmentName) => {
    const found = counts.get(environment) ?? { posts: firstNumber, requests: firstNumber };
    counts.set(environment, found);
    return found;
  };
  const write = (flight: InFlight): void => {
    const { text, asked, environment } = flight;
    const count = countsOf(environment);
    count.requests += 1;
    const number = (receipts.at(-1)?.number ?? firstNumber) + 1;
    const { references } = asked;
    flight.written = references.map((reference) => ({
      ...{ environment, number, status: null, id: null, text, reference },
      ...(references.length > 1 ? { recipients: references.length } : {}),
    }));
    receipts.push(...flight.written);
    if (providerOf === null) return;
    const provider = providerOf(environment);
    for (const [at, receipt] of flight.written.entries()) report(provider, flight, receipt, at, count.requests);
  };
  const sign = ({ written, behaviour }: InFlight): void => {
    for (const [at, receipt] of (written ?? []).entries()) {
      const own = behaviour.each?.[at];
      receipt.status = behaviour.status;
      receipt.id = own === undefined ? behaviour.id : own.id;
      if (own !== undefined) receipt.said = own.said;
      if (UNREADABLE.has(behaviour.kind)) receipt.isUnreadable = true;
    }
  };
  const nextBehaviour = ({ profile, environment, onlyOwn, form }: ConnectOptions, asked: Asked): Behaviour => {
    const count = countsOf(environment);
    count.posts += 1;
    return drawBehaviour(random, profile, asked, { number: count.posts, onlyOwn, form });
  };
  return {
    receipts,
    connect: (options) => createEndpoint(world, random, options, { write, sign, nextBehaviour }),
  };
}

function report(
  provider: Pick<Provider, 'received'>,
  { asked, behaviour, form }: InFlight,
  receipt: Written,
  at: number,
  number: number,
) {
  const [reference, address] = [asked.references[at], asked.addresses[at]];
  if (reference === undefined || address === undefined) throw new Error('no recipient is asked for');
  const { channel, text } = asked;
  const message = { reference, address, channel, text, at, behaviour, isIdOurs: form === 'infobip' };
  const id = provider.received({ ...message, number: String(number) });
  if (id !== undefined) receipt.reportedAs = id;
}

interface Behaviours {
  readonly write: (flight: InFlight) => void;
  readonly sign: (flight: InFlight) => void;
  readonly nextBehaviour: (options: ConnectOptions, asked: Asked) => Behaviour;
}

/**
 * Connections as src/http opens them: asked for before they are needed, one POST on each at a time, opened one after
 * the other; one that finds none waits.
 */
function createEndpoint(
  world: World,
  random: Random,
  options: ConnectOptions,
  behaviours: Behaviours,
): SimulatedEndpoint {
  const { profile, connections, timeoutMs, environment, form, watch } = options;
  const flights = new Set<InFlight>();
  const waiting: Waiting[] = [];
  let idle = 0;
  let promised = 0;
  let opening = 0;
  let closed = false;
  let dead = false;

  const attempt = (phase: Phase, since: number, rest: Partial<Attempt>): Attempt => ({
    phase,
    status: null,
    error: null,
    contentType: null,
    retryAfter: null,
    body: '',
    latencyMs: world.monotonicMs - since,
    ...rest,
  });
  const failed = (phase: Phase, since: number, code: string): Attempt =>
    attempt(phase, since, { error: { code, message: 'simulated' } });
  const serve = (): void => {
    while (waiting.length > 0 && idle > promised) {
      promised += 1;
      waiting.shift()?.resolve(null);
    }
    while (!closed && waiting.length > opening && idle + flights.size + opening < connections) open();
  };
  const open = (): void => {
    opening += 1;
    const { kind, ms, code } = drawConnect(random, profile);
    world.after(ms, () => {
      opening -= 1;
      if (closed) return;
      world.cover(`connect:${kind}`);
      if (code === null) idle += 1;
      else {
        const waiter = waiting.shift();
        world.note(() => `connecting failed: ${code}`);
        // Beside open connections there may be none that wait any more, and then none is told.
        if (waiter !== undefined) {
          watch.connectFailed(code);
          waiter.resolve(failed('P1', waiter.since, code));
        }
      }
      serve();
    });
  };
  const end = (flight: InFlight, facts: Attempt): void => {
    if (!flights.delete(flight)) return;
    for (const cancel of flight.cancel) cancel();
    if (facts.phase === 'P4' && facts.error === null && !closed) idle += 1;
    flight.resolve(facts);
    serve();
  };
  const answer = (flight: InFlight): void => {
    const { behaviour, since } = flight;
    const { status, code, contentType, retryAfter, body } = behaviour;
    const whole = code === null;
    const facts =
      behaviour.reach === 'answered'
        ? attempt(whole ? 'P4' : 'P3', since, {
            status,
            contentType,
            retryAfter,
            body,
            error: whole ? null : { code, message: 'simulated' },
          })
        : failed(flight.phase, since, code ?? 'UNKNOWN');
    watch.answering(flight.asked, behaviour, facts);
    if (dead) return;
    if (behaviour.reach === 'answered') behaviours.sign(flight);
    world.cover(`post:${behaviour.kind}`);
    world.note(
      () => `answer to ${flight.asked.references.join(' ')}: ${behaviour.kind} ${facts.phase} ${status ?? code}`,
    );
    end(flight, facts);
  };
  const stop = (flight: InFlight): void => end(flight, failed(flight.phase, flight.since, 'HANDBILL_STOPPED'));
  const stopWaiting = (): void => {
    for (const waiter of waiting.splice(0)) waiter.resolve(failed('P1', waiter.since, 'HANDBILL_STOPPED'));
  };
  const stopAll = (): void => {
    closed = true;
    stopWaiting();
    for (const flight of flights) stop(flight);
  };

  return {
    stopWaiting,
    reserve() {
      if (!closed) watch.ready();
      if (closed || idle <= promised) return false;
      promised += 1;
      return true;
    },
    ready() {
      if (closed) return Promise.resolve(failed('P1', world.monotonicMs, 'HANDBILL_STOPPED'));
      watch.ready();
      if (closed) return Promise.resolve(failed('P1', world.monotonicMs, 'HANDBILL_STOPPED'));
      return new Promise((resolve) => {
        waiting.push({ resolve, since: world.monotonicMs });
        serve();
      });
    },
    release() {
      promised = Math.max(0, promised - 1);
      serve();
    },
    post(body) {
      promised = Math.max(0, promised - 1);
      const since = world.monotonicMs;
      if (closed) return Promise.resolve(failed('P1', since, 'HANDBILL_STOPPED'));
      const asked = FORMS[form].read(body);
      watch.posting(body, asked);
      if (dead) return Promise.resolve(failed('P1', since, 'HANDBILL_STOPPED'));
      idle = Math.max(0, idle - 1);
      return new Promise((resolve) => {
        const behaviour = behaviours.nextBehaviour(options, asked);
        const flight: InFlight = {
          environment,
          form,
          behaviour,
          asked,
          text: body,
          since,
          cancel: [],
          resolve,
          phase: 'P1',
          written: null,
        };
        flights.add(flight);
        const { reach, arriveMs, answerMs } = behaviour;
        const begin = (): void => {
          if (reach !== 'unstarted') flight.phase = 'P2';
        };
        const arrive = (): void => {
          if (reach === 'silent' || reach === 'answered') {
            behaviours.write(flight);
            world.note(() => `received ${asked.references.join(' ')}`);
            watch.received();
          }
        };
        flight.cancel.push(world.after(arriveMs / 2, begin));
        flight.cancel.push(world.after(arriveMs, arrive));
        flight.cancel.push(world.after(arriveMs + answerMs, () => answer(flight)));
        flight.cancel.push(
          world.after(timeoutMs, () => {
            world.cover('post:timed-out');
            const facts = failed(flight.phase, since, 'HANDBILL_TIMEOUT');
            watch.answering(asked, { ...behaviour, status: null, reach: 'silent' }, facts);
            end(flight, facts);
          }),
        );
      });
    },
    close(graceMs) {
      closed = true;
      for (const waiter of waiting.splice(0)) waiter.resolve(failed('P1', waiter.since, 'HANDBILL_STOPPED'));
      if (flights.size === 0) return Promise.resolve();
      return new Promise((resolve) => {
        world.after(graceMs, () => {
          stopAll();
          resolve();
        });
      });
    },
    abort: stopAll,
    die() {
      dead = true;
      for (const flight of flights) {
        // Bytes that have left arrive although no process waits for the answer any more; the server may still give one.
        const underWay = flight.phase === 'P2' && flight.written === null && flight.behaviour.reach !== 'unreceived';
        if (underWay && random.chance(0.5)) {
          behaviours.write(flight);
          world.cover('received after a kill');
        }
        if (flight.written !== null && flight.behaviour.reach === 'answered' && random.chance(0.5))
          behaviours.sign(flight);
      }
      stopAll();
    },
    get inFlight() {
      return flights.size;
    },
    get idle() {
      return idle;
    },
  };
}
