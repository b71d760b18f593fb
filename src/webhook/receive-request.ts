import { hash } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ReportMethod, Scheme, WebhookEvent } from '../model.ts';
import { isAnnouncedTooLarge, receiveBody } from '../util/http-server.ts';
import { isSame } from '../util/secret.ts';
import type { Connections } from './server-connections.ts';
import { challengeOf, type Verifier } from './verify.ts';

interface Reading {
  readonly events: readonly WebhookEvent[];
  /** Why none of it was read, without any content of the body. */
  readonly problems: readonly { readonly message: string; readonly status: 400 | 413 }[];
}

export type Interpret = (body: Buffer, nowMs: number, reference?: string | null) => Reading;

export interface Source {
  readonly scheme: Scheme;
  readonly verify: Verifier;
  readonly methods: readonly ReportMethod[];
  /** Undefined: no provider registers the URL. */
  readonly verifyToken: string | undefined;
  readonly interpret: Interpret;
  /** By secret. */
  readonly ids: readonly SeenIds[];
  readonly group: ReturnType<typeof createGroup>;
}

export interface ReceiverContext {
  readonly log: RefusalLog;
  readonly now: () => number;
  readonly connections: () => Connections;
  /** No new request is accepted: connections end with their answers. */
  readonly isClosing: () => boolean;
}

/**
 * One request: its body is read within the limit, its sender proven, its events held, and only then it is answered.
 * Nothing in it is read before its sender has proved itself, but for a proof that is in the body. Only the ledger can
 * make it a 5xx. The events of a GET are its query.
 * @param segment - the last segment of the path, if it is the secret; else null
 */
export async function receiveRequest(
  context: ReceiverContext,
  { scheme, verify, methods, verifyToken, interpret, ids, group }: Source,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  segment: string | null,
): Promise<void> {
  const { socket } = incoming;
  const connections = context.connections();
  connections.began(socket);
  const no = (status: number, reason: string, headers: Readonly<{ [name: string]: string }> = {}): void => {
    context.log.refused(status, reason);
    refuse(incoming, outgoing, status, headers);
  };
  const coding = incoming.headers['content-encoding'] ?? 'identity';
  if (coding !== 'identity') return no(415, 'the body is compressed', { 'Accept-Encoding': 'identity' });
  if (isAnnouncedTooLarge(incoming, MAX_BODY_BYTES)) return no(413, TOO_LARGE);
  if (incoming.headers.expect !== undefined) outgoing.writeContinue();
  const body = await receiveBody(incoming, MAX_BODY_BYTES);
  if (body === 'cut-off') return;
  if (body === 'too-large') return no(413, TOO_LARGE);

  const query = incoming.url?.replace(/^[^?]*/, '') ?? '';
  const parameters = new URLSearchParams(query);
  const isGet = incoming.method === 'GET';
  if (isGet && verifyToken !== undefined && parameters.get('hub.mode') === 'subscribe') {
    const challenge = parameters.get('hub.challenge') ?? '';
    if (!isSame(parameters.get('hub.verify_token') ?? '', verifyToken)) return no(401, 'the token of the handshake');
    return CHALLENGE.test(challenge) ? answer(outgoing, 200, challenge) : no(400, 'the challenge is not plain');
  }
  if (isGet && !methods.includes('GET')) return no(405, 'another method than POST', { Allow: 'POST' });
  const nowMs = context.now();
  const verdict = await verify({ headers: incoming.headers, body, segment, query }, nowMs);
  if (!verdict.verified) {
    const challenge = challengeOf(scheme);
    return no(401, verdict.reason, challenge === null ? {} : { 'WWW-Authenticate': challenge });
  }
  const { id } = verdict;
  const content = isGet ? Buffer.from(query.slice(1)) : body;
  // Each secret has to remember it, so `some` would skip some.
  if (id !== null && ids.map((one) => one.isReused(id, content, nowMs)).includes(true)) {
    return no(401, 'its id came with another body before');
  }
  connections.answering(socket);
  const { events, problems } = read(() => interpret(content, nowMs, parameters.get(REFERENCE)), context.log, content);
  const [problem] = problems;
  if (events.length === 0 && problem !== undefined) return no(problem.status, problem.message);
  try {
    if (events.length > 0) await group.add(events);
  } catch {
    if (id !== null) for (const one of ids) one.forget(id);
    // The recorder reports the fault; the sender tries again later.
    return no(503, 'the events could not be stored', { 'Retry-After': '10' });
  }
  outgoing.once('finish', () => connections.answered(socket));
  answer(outgoing, 200, '', context.isClosing() ? { Connection: 'close' } : {});
}

/** A number of Meta. Nothing else is sent back that a stranger could have put into a URL. */
const CHALLENGE = /^[A-Za-z0-9_-]{1,200}$/;
/** In the query of a URL that was given to the provider for the reports of one message. */
const REFERENCE = 'handbill';

/** Standard Webhooks advises senders to stay below 20 kB. */
const MAX_BODY_BYTES = 64 * 1024;
const TOO_LARGE = 'the body has more than 64 KiB';

/** Nothing from a proven sender is lost: an unreadable body is kept as it is. */
function read(interpret: () => Reading, log: RefusalLog, body: Buffer): Reading {
  try {
    return interpret();
  } catch (error) {
    log.refused(200, `a body that is kept unread, by a bug: ${error instanceof Error ? error.name : 'unknown'}`);
    return { events: [{ kind: 'unread', body: body.toString('utf8') }], problems: [] };
  }
}

/** How long, and how much, a refused sender may go on sending after it has its answer. */
const LINGER_MS = 500;
const LINGER_BYTES = 4 * 1024 * 1024;

/**
 * Senders read only the status, and some would send a body to the person. Node's response costs half of a web
 * `Response` (as measured for the sandbox).
 */
function answer(outgoing: ServerResponse, status: number, text = '', headers: OutgoingHttpHeaders = {}): void {
  if (outgoing.destroyed || outgoing.headersSent) return;
  const type = text === '' ? {} : { 'Content-Type': 'text/plain', 'X-Content-Type-Options': 'nosniff' };
  outgoing.writeHead(status, { 'Content-Length': text.length, ...type, ...headers });
  outgoing.end(text);
}

/**
 * Refuses a request and closes the connection. A refused sender has to connect again, so connections that are kept open
 * belong to authenticated senders. Data still arriving is read for a moment and dropped, because closing at once would
 * take the answer away from a sender that is writing (RFC 9112, 9.6).
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
    answer(outgoing, status, '', { ...headers, Connection: 'close' });
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
  // Bytes read from the connection: chunk extensions are not part of a body.
  const before = incoming.socket.bytesRead;
  incoming.on('data', () => {
    if (incoming.socket.bytesRead - before > LINGER_BYTES) cut();
  });
  incoming.on('end', end);
  incoming.on('error', end);
}

/** Holds events of an environment durably; when it throws or rejects, none of them is held. */
export type Record = (events: readonly WebhookEvent[], environment: string) => void | Promise<void>;

interface Waiting {
  readonly events: readonly WebhookEvent[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Approximate number of events in one commit: others who write to the ledger wait for it (some 20 ms). */
const MOST_EVENTS = 1_000;

/** A group is complete after so many turns of the event loop without another request. */
const QUIET_TURNS = 2;

/** A group is complete after this time in any case. */
const LONGEST_GATHERING_MS = 4;

/**
 * Records everything that can be read by now together. The more comes in while a commit blocks the loop, the larger the
 * next group: it needs no tuning, and a single event does not wait. One turn of the loop would not do, because Node
 * accepts only one new connection in each: 50 senders that connect at once were 50 commits.
 */
export function createGroup(record: (events: readonly WebhookEvent[]) => void | Promise<void>) {
  let waiting: Waiting[] = [];
  let flushing: Promise<void> | null = null;

  const takeSome = (): readonly Waiting[] => {
    let events = 0;
    let count = 0;
    // At least one request, however many events it has: its events are stored together or not at all.
    while (count < waiting.length && (count === 0 || events < MOST_EVENTS)) {
      events += waiting[count]?.events.length ?? 0;
      count++;
    }
    const some = waiting.slice(0, count);
    waiting = waiting.slice(count);
    return some;
  };

  const gather = async (): Promise<void> => {
    const beganMs = performance.now();
    for (let quiet = 0; quiet < QUIET_TURNS && performance.now() - beganMs < LONGEST_GATHERING_MS; ) {
      const before = waiting.length;
      // The end of this turn of the event loop: everything that could be read has been.
      await nextTurn();
      quiet = waiting.length > before ? 0 : quiet + 1;
    }
  };

  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      await gather();
      const some = takeSome();
      try {
        // Awaited only if it is a promise: otherwise the answers go out in the same turn.
        const pending = record(some.flatMap((one) => one.events));
        if (pending !== undefined) await pending;
        for (const one of some) one.resolve();
      } catch (error) {
        for (const one of some) one.reject(error);
      }
    }
    flushing = null;
  };

  return {
    /** Resolves when the events are held. Rejects with errors of `record`. */
    add(events: readonly WebhookEvent[]): Promise<void> {
      return new Promise((resolve, reject) => {
        waiting.push({ events, resolve, reject });
        flushing ??= flush();
      });
    },
    async idle(): Promise<void> {
      while (flushing !== null) await flushing;
    },
  };
}

/** Ids of received requests, with a digest of their content. */
export type SeenIds = ReturnType<typeof rememberIds>;

/** Entries of a generation: some 50 MB in all, which 800 requests a second reach after 10 minutes. */
const MOST_IDS = 250_000;

/**
 * Remembers ids for at least twice the tolerance: a signature may be dated that far ahead, and is valid that long
 * after. So a copied request cannot be sent with other content under its id. If a flood of ids fills the memory, older
 * ones are forgotten; their events are still stored only once, because the ledger identifies events by their content.
 * @param toleranceMs the longest of the schemes
 */
export function rememberIds(toleranceMs: number, most = MOST_IDS) {
  // Three generations of one tolerance each: what moves out of the last is older than two.
  let generations: readonly Map<string, string>[] = [new Map()];
  let beganMs = Number.NEGATIVE_INFINITY;
  const advance = (nowMs: number): Map<string, string> => {
    const [newest = new Map<string, string>()] = generations;
    const old = nowMs - beganMs >= toleranceMs;
    if (!old && newest.size < most) return newest;
    if (old) beganMs = nowMs;
    const next = new Map<string, string>();
    generations = [next, ...generations.slice(0, 2)];
    return next;
  };
  return {
    /** Whether this id came with another body before. The same body is an honest retry, after a lost answer. */
    isReused(id: string, body: Uint8Array, nowMs: number): boolean {
      const newest = advance(nowMs);
      const key = digest(id);
      const content = digest(body);
      for (const generation of generations) {
        const known = generation.get(key);
        if (known !== undefined) return known !== content;
      }
      newest.set(key, content);
      return false;
    },
    /** Forgets a request whose events were not stored: the sender may send it again with other bytes. */
    forget(id: string): void {
      const key = digest(id);
      for (const generation of generations) generation.delete(key);
    },
  };
}

/** 16 bytes as as many characters: ids are as long as senders like. */
function digest(content: string | Uint8Array): string {
  return hash('sha256', content, 'buffer').toString('latin1', 0, 16);
}

type RefusalLog = ReturnType<typeof createRefusalLog>;

const INTERVAL_MS = 10_000;

/**
 * Logs refusals by reason: nothing of their content, and at most one line in ten seconds for each reason.
 * @param log null: no log
 */
export function createRefusalLog(log: ((line: string) => void) | null, now: () => number) {
  const kinds = new Map<string, { saidMs: number; held: number }>();
  const say = (text: string, count: number): void => log?.(`refused: ${text}${count > 1 ? ` (${count} times)` : ''}`);
  return {
    refused(status: number, reason: string): void {
      const text = `${status}, ${reason}`;
      const kind = kinds.get(text) ?? { saidMs: Number.NEGATIVE_INFINITY, held: 0 };
      kinds.set(text, kind);
      kind.held++;
      const nowMs = now();
      if (nowMs - kind.saidMs < INTERVAL_MS) return;
      say(text, kind.held);
      kind.saidMs = nowMs;
      kind.held = 0;
    },
    flush(): void {
      for (const [text, kind] of kinds) {
        if (kind.held > 0) say(text, kind.held);
        kind.held = 0;
      }
    },
  };
}
