import { createHmac } from 'node:crypto';
import TinyQueue from 'tinyqueue';
import { Pool } from 'undici';
import { type Dialect, NO_REFUSALS } from './dialect.ts';
import { EVENT_FORMS, type EventForm } from './dialects.ts';
import { addressesOf, type Message } from './message.ts';
import type { Reply, Taken } from './reply.ts';
import type { ScriptedNumbers } from './scenarios.ts';
import { chanceFor, drawStory, scriptedStory, type TimedBeat, timeStory } from './stories.ts';
import type { ReportWord, SandboxEvent, Story, Subject } from './story.ts';
import type { Echo, WebhookSettings } from './webhook.ts';

/** What `GET /sandbox/reports` says. */
export interface ReportCounts extends PostCounts {
  /** Where events are posted, without a secret; null where none are. */
  readonly webhook: string | null;
  /**
   * Reports and replies that were or will be posted, doubled ones twice: the sum of pending, acknowledged, given up.
   */
  readonly events: number;
  /** Events that are never posted, because too many waited. */
  readonly dropped: number;
  /** How messages end, when all of their events have come: how many of each. `none` has no report at all. */
  readonly ends: Readonly<Record<string, number>>;
  /** Replies, doubled ones once. */
  readonly replies: number;
}

/** One request whose messages are followed. */
interface Followers {
  /** The reply to give instead, where a story loses the answer. */
  readonly reply: Reply;
  /** Begins to post. Wait for the result before the answer; null: no need to wait. */
  begin(): Promise<unknown> | null;
}

/** Posts delivery reports and replies for accepted messages. */
export interface Reporter {
  /** Null where nothing was taken. Posts nothing yet. */
  follow(reply: Reply): Followers | null;
  counts(): ReportCounts;
  settled(): Promise<void>;
  close(): Promise<void>;
}

export interface ReporterNeeds {
  readonly dialect: Dialect;
  readonly scripts: ScriptedNumbers;
  /** Milliseconds that the sandbox waits before each answer: stories begin with the answer. */
  readonly latencyMs: number;
  readonly nextId: () => string;
  readonly now: () => number;
  readonly log: ((line: string) => void) | null;
}

export function createReporter(settings: WebhookSettings, needs: ReporterNeeds): Reporter {
  const postman = new Postman(settings, {
    form: EVENT_FORMS[needs.dialect.name],
    sign: signerOf(settings),
    nextId: needs.nextId,
    now: needs.now,
    log: needs.log,
  });
  const ends = new Map<string, number>();
  const count = { events: 0, dropped: 0, replies: 0 };

  function plan(followed: Followed): Planned {
    const { subject, isContact, about } = followed;
    const chance = chanceFor(settings.seed, about);
    const story =
      scriptedStory(subject.to, isContact, needs.scripts, subject.channel) ??
      drawStory(settings.shares, subject.channel, chance);
    return { subject, story, timed: timeStory(story, settings.delaysMs, settings.shares.doubled, chance) };
  }

  /** Posts, or drops if too many events wait; returns the posts that come before the answer. */
  function start({ subject, story, timed }: Planned): Promise<void>[] {
    if (postman.pending + timed.length > settings.maxWaiting) {
      count.dropped += timed.length;
      return [];
    }
    const end = endOf(story);
    ends.set(end, (ends.get(end) ?? 0) + 1);
    count.events += timed.length;
    count.replies += story.beats.filter(({ kind }) => kind === 'reply').length;
    const nowMs = needs.now();
    return timed.flatMap(({ beat, happenedMs, postedMs }) => {
      const event = { subject, beat, atMs: nowMs + happenedMs };
      if (postedMs === null) return [postman.postNow(event)];
      postman.post(event, needs.latencyMs + postedMs);
      return [];
    });
  }

  return {
    follow(reply) {
      if (reply.taken === null) return null;
      const planned = subjectsOf(needs.dialect, reply.taken, settings.echo).map(plan);
      return {
        reply: planned.some(({ story }) => story.losesAnswer) ? withoutAnswer(reply, reply.taken) : reply,
        begin() {
          const early = planned.flatMap(start);
          return early.length === 0 ? null : Promise.all(early);
        },
      };
    },
    counts: () => ({ webhook: settings.shownUrl, ...count, ends: sorted(ends), ...postman.counts() }),
    settled: () => postman.settled(),
    close: () => postman.close(),
  };
}

interface Planned {
  readonly subject: Subject;
  readonly story: Story;
  readonly timed: readonly TimedBeat[];
}

/** The API took the message, and the client never learns of it. */
function withoutAnswer(reply: Reply, taken: Taken): Reply {
  return {
    ...reply,
    status: null,
    digits: null,
    id: null,
    refusals: NO_REFUSALS,
    taken,
    write: (outgoing) => outgoing.socket?.resetAndDestroy(),
  };
}

/** Later words of this list say more than earlier ones. */
const RISING: readonly ReportWord[] = [
  'queued',
  'sent',
  'expired',
  'failed',
  'undeliverable',
  'rejected',
  'delivered',
  'read',
];

function endOf({ beats }: Story): string {
  const said = beats.flatMap((beat) => (beat.kind === 'report' ? [beat.word] : []));
  return RISING.findLast((word) => said.includes(word)) ?? 'none';
}

function sorted(counts: ReadonlyMap<string, number>): Record<string, number> {
  return Object.fromEntries([...counts].toSorted(([a], [b]) => a.localeCompare(b)));
}

/** A subject, and what else decides its story. */
interface Followed {
  readonly subject: Subject;
  readonly isContact: boolean;
  /** The subject of chance: the message to this person, in whatever request it is. */
  readonly about: string;
}

/** The recipients of a message that the API goes on with, each as its events speak of it. */
function subjectsOf(dialect: Dialect, { id, message, refusals }: Taken, echo: Echo): Followed[] {
  const inline = message.recipients?.length ?? 0;
  const addresses = addressesOf(message);
  const { from } = fieldsOf(message);
  const sender = typeof from === 'string' ? from : '';
  return addresses.flatMap((to, i) => {
    if (refusals.has(i)) return [];
    const metaData = metaDataOf(message, i);
    const subject: Subject = {
      messageId: dialect.results === 'never' || addresses.length === 1 ? id : `${id}-${i + 1}`,
      to,
      sender,
      channel: message.channel,
      echo: echoOf(echo, metaData, message),
    };
    const about = `${message.channel}\n${to}\n${JSON.stringify(metaData)}`;
    return [{ subject, isContact: i >= inline, about }];
  });
}

type Fields = Readonly<Partial<Record<string, unknown>>>;

/** Fields that a message may have, unchecked. */
function fieldsOf(message: Message): Fields {
  return message as unknown as Fields;
}

/** What the client attached to the message, and to this recipient in particular. */
function metaDataOf(message: Message, position: number): Fields {
  return { ...objectOf(fieldsOf(message)['metaData']), ...objectOf(message.recipients?.[position]?.['metaData']) };
}

function echoOf(echo: Echo, metaData: Fields, message: Message): Fields {
  switch (echo) {
    case 'metadata':
      return Object.keys(metaData).length === 0 ? {} : { metaData };
    case 'reference': {
      const reference = metaData['handbill'] ?? metaData['ref'];
      return reference === undefined ? {} : { reference };
    }
    case 'text': {
      const { text } = objectOf(fieldsOf(message)['body']);
      return typeof text === 'string' ? { text } : {};
    }
    case 'none':
      return {};
  }
}

function objectOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

/** The results of the events that were given to a postman. */
interface PostCounts {
  /** Events that are neither acknowledged nor given up: waiting, in flight, or to be posted again. */
  readonly pending: number;
  readonly acknowledged: number;
  readonly givenUp: number;
  /** Posts that were made, repeated ones too. */
  readonly posts: number;
  /** Those that repeat a post that was not answered with 200. */
  readonly retried: number;
  /** How often each status was answered; `none` counts broken connections and silence. */
  readonly answers: Readonly<Record<string, number>>;
}

interface PostmanNeeds {
  readonly form: EventForm;
  readonly sign: Sign;
  readonly nextId: () => string;
  /** Milliseconds since 1970, for signatures. */
  readonly now: () => number;
  readonly log: ((line: string) => void) | null;
}

/** One body on its way; its id stays the same when it is posted again. */
interface Post {
  readonly id: string;
  readonly body: string;
  readonly events: number;
  /** Called after the first post, with any result. */
  tried: (() => void) | null;
  attempts: number;
}

/** With batches, what is due within this time goes together: events seldom come in the same millisecond. */
const GATHER_MS = 50;

/**
 * Posts events when they are due, and again until they are acknowledged or given up. Only 200 acknowledges, as in some
 * APIs, so that a receiver that answers 202 or 204 is noticed.
 *
 * At most `atOnce` posts are in flight, each on a connection that stays open; all others wait in the order of their
 * time. The caller bounds the number of events, and so the memory.
 */
class Postman {
  readonly #settings: WebhookSettings;
  readonly #needs: PostmanNeeds;
  readonly #pool: Pool;
  /** Before all others. */
  readonly #urgent: Post[] = [];
  readonly #repeats: DueQueue<Post> = createDueQueue();
  readonly #events: DueQueue<SandboxEvent> = createDueQueue();
  readonly #answers = new Map<string, number>();
  readonly #count = { pending: 0, acknowledged: 0, givenUp: 0, posts: 0, retried: 0 };
  #waiters: (() => void)[] = [];
  #busy = 0;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(settings: WebhookSettings, needs: PostmanNeeds) {
    this.#settings = settings;
    this.#needs = needs;
    // A post is ended by its own clock, which bounds drips too.
    const timeouts = { headersTimeout: 0, bodyTimeout: 0 };
    this.#pool = new Pool(settings.origin, { connections: settings.atOnce, pipelining: 1, ...timeouts });
  }

  get pending(): number {
    return this.#count.pending;
  }

  counts(): PostCounts {
    const answers = Object.fromEntries([...this.#answers].toSorted(([a], [b]) => a.localeCompare(b)));
    return { ...this.#count, answers };
  }

  /** @param inMs milliseconds from now */
  post(event: SandboxEvent, inMs: number): void {
    const dueMs = performance.now() + inMs;
    const together = this.#settings.batch === 1 ? dueMs : Math.ceil(dueMs / GATHER_MS) * GATHER_MS;
    this.#count.pending += 1;
    const before = this.#events.nextMs;
    this.#events.add(together, event);
    if (before === null || together < before) this.#pump();
  }

  /** Posts an event before all others. Resolves after the first post, with any result. */
  postNow(event: SandboxEvent): Promise<void> {
    if (this.#closed) return Promise.resolve();
    this.#count.pending += 1;
    return new Promise((tried) => {
      this.#urgent.push(this.#pack([event], tried));
      this.#pump();
    });
  }

  /** Resolves when nothing is pending, or when this is closed. */
  settled(): Promise<void> {
    if (this.#closed || this.#count.pending === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  /** Stops at once; what is pending stays so. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const { tried } of this.#urgent.splice(0)) tried?.();
    this.#wake();
    await this.#pool.destroy();
  }

  #pump(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    while (!this.#closed && this.#busy < this.#settings.atOnce) {
      const post = this.#next(performance.now());
      if (post === null) break;
      void this.#carry(post);
    }
    // If all connections are busy, the next free one continues here.
    if (this.#closed || this.#busy >= this.#settings.atOnce) return;
    const nextMs = Math.min(this.#repeats.nextMs ?? Infinity, this.#events.nextMs ?? Infinity);
    if (nextMs === Infinity) return;
    this.#timer = setTimeout(() => this.#pump(), Math.max(0, Math.ceil(nextMs - performance.now())));
  }

  #next(byMs: number): Post | null {
    const post = this.#urgent.shift() ?? this.#repeats.take(byMs);
    if (post !== null) return post;
    const events: SandboxEvent[] = [];
    while (events.length < this.#settings.batch) {
      const event = this.#events.take(byMs);
      if (event === null) break;
      events.push(event);
    }
    return events.length === 0 ? null : this.#pack(events, null);
  }

  #pack(events: readonly SandboxEvent[], tried: (() => void) | null): Post {
    const body = JSON.stringify(this.#needs.form(events));
    return { id: this.#needs.nextId(), body, events: events.length, tried, attempts: 0 };
  }

  async #carry(post: Post): Promise<void> {
    this.#busy += 1;
    this.#count.posts += 1;
    if (post.attempts > 0) this.#count.retried += 1;
    post.attempts += 1;
    const status = await this.#ask(post);
    this.#busy -= 1;
    post.tried?.();
    post.tried = null;
    if (this.#closed) return;
    this.#record(post, status);
    this.#pump();
  }

  /** The status of the answer; null where none came in time. */
  async #ask({ id, body }: Post): Promise<number | null> {
    const { path, timeoutMs } = this.#settings;
    const headers = { 'content-type': 'application/json', ...this.#needs.sign(id, this.#needs.now(), body) };
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const answer = await this.#pool.request({ method: 'POST', path, headers, body, signal });
      // Only the status of the receiver counts: an incomplete body changes nothing.
      await answer.body.dump().catch(() => {});
      return answer.statusCode;
    } catch {
      return null;
    }
  }

  #record(post: Post, status: number | null): void {
    const name = status === null ? 'none' : String(status);
    this.#answers.set(name, (this.#answers.get(name) ?? 0) + 1);
    if (status === 200) {
      this.#count.acknowledged += post.events;
    } else {
      const waitMs = this.#settings.retriesMs[post.attempts - 1];
      this.#needs.log?.(lineOf(post, name, waitMs));
      if (waitMs !== undefined) {
        this.#repeats.add(performance.now() + waitMs, post);
        return;
      }
      this.#count.givenUp += post.events;
    }
    this.#count.pending -= post.events;
    if (this.#count.pending === 0) this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }
}

function lineOf({ events, attempts }: Post, answer: string, waitMs: number | undefined): string {
  const what = `webhook: ${events === 1 ? 'an event' : `${events} events`}, attempt ${attempts}`;
  const next = waitMs === undefined ? 'given up' : `again in ${waitMs} ms`;
  return `${what}: ${answer === 'none' ? 'no answer' : `answered ${answer}`}, ${next}`;
}

/** The headers that prove who posts. The id stays the same when a post is repeated, the time does not. */
type Sign = (id: string, nowMs: number, body: string) => Readonly<Record<string, string>>;

/** How posts are signed: the counterpart of the receiver's verification. */
export function signerOf({ scheme, secret, hmac }: Pick<WebhookSettings, 'scheme' | 'secret' | 'hmac'>): Sign {
  switch (scheme) {
    case 'standard':
      return standard(Buffer.from(secret.replace(/^whsec_/, ''), 'base64'));
    case 'hmac':
      return keyedHash(secret, hmac);
    case 'basic':
      return always({ authorization: `Basic ${Buffer.from(secret).toString('base64')}` });
    case 'bearer':
      return always({ authorization: `Bearer ${secret}` });
    case 'path':
    case 'none':
      return always({});
  }
}

function always(headers: Readonly<Record<string, string>>): Sign {
  return () => headers;
}

/** Standard Webhooks, version v1. */
function standard(key: Buffer): Sign {
  return (id, nowMs, body) => {
    const timestamp = String(Math.floor(nowMs / 1000));
    const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
    return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
  };
}

function keyedHash(secret: string, hmac: WebhookSettings['hmac']): Sign {
  return (id, nowMs, body) => {
    const timestamp = String(Math.floor(nowMs / 1000));
    const values: Readonly<Record<string, string>> = { id, timestamp, body };
    const signed = hmac.signed.replace(/\{(id|timestamp|body)\}/g, (_all, name: string) => values[name] ?? '');
    const signature = createHmac(hmac.algorithm, secret).update(signed).digest(hmac.encoding);
    return {
      [hmac.header]: `${hmac.prefix}${signature}`,
      ...(hmac.timestampHeader === null ? {} : { [hmac.timestampHeader]: timestamp }),
      ...(hmac.idHeader === null ? {} : { [hmac.idHeader]: id }),
    };
  };
}

/** Entries that are due at a time; those of the same time in the order in which they were added. */
interface DueQueue<T> {
  add(dueMs: number, thing: T): void;
  /** When the next is due; null where nothing waits. */
  readonly nextMs: number | null;
  /** Takes the next, if it is due by then. */
  take(byMs: number): T | null;
  readonly size: number;
}

interface Entry<T> {
  readonly dueMs: number;
  readonly number: number;
  readonly thing: T;
}

/** One queue instead of a timer for each: a hundred thousand timers would keep their things until they fire. */
export function createDueQueue<T>(): DueQueue<T> {
  const queue = new TinyQueue<Entry<T>>([], (a, b) => a.dueMs - b.dueMs || a.number - b.number);
  let number = 0;
  return {
    add(dueMs, thing) {
      number += 1;
      queue.push({ dueMs, number, thing });
    },
    get nextMs() {
      return queue.peek()?.dueMs ?? null;
    },
    take(byMs) {
      const first = queue.peek();
      if (first === undefined || first.dueMs > byMs) return null;
      queue.pop();
      return first.thing;
    },
    get size() {
      return queue.length;
    },
  };
}
