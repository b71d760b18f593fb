import { createHmac } from 'node:crypto';
import TinyQueue from 'tinyqueue';
import { Pool } from 'undici';
import { endingOf, endOf, type ScriptedNumbers } from './endings.ts';
import {
  addressesOf,
  echoOf,
  eventsJson,
  isContactAt,
  type Message,
  metaDataOf,
  type Refusals,
  recipientId,
  type SandboxEvent,
} from './form.ts';
import { countIn } from './inbox.ts';
import type { SandboxReports } from './options.ts';
import { chanceFor, planFeedback } from './reports.ts';
import type { WebhookSettings } from './webhook.ts';

export interface Reporter {
  /** For recipients that are not refused. Wait for the result before the answer; undefined: no need to wait. */
  follow(id: string, message: Message, refusals: Refusals): Promise<unknown> | undefined;
  counts(): SandboxReports;
  settled(): Promise<void>;
  close(): Promise<void>;
}

export interface ReporterNeeds {
  readonly scripts: ScriptedNumbers;
  /** Milliseconds that the sandbox waits before each answer, from which the delays of reports count. */
  readonly latencyMs: number;
  readonly nextId: () => string;
  readonly now: () => number;
  readonly log: ((line: string) => void) | undefined;
}

export function createReporter(settings: WebhookSettings, needs: ReporterNeeds): Reporter {
  const postman = new Postman(settings, needs);
  const ends: Record<string, number> = {};
  const count = { events: 0, dropped: 0, replies: 0 };

  /** Drops events if too many wait; returns the posts that come before the answer. */
  function followOne(id: string, message: Message, to: string, position: number): Promise<void>[] {
    const { channel, from } = message;
    const about = `${channel}\n${to}\n${JSON.stringify(metaDataOf(message, position))}`;
    const chance = chanceFor(settings.seed, about);
    const ending = endingOf(to, isContactAt(message, position), needs.scripts);
    const timed = planFeedback(ending, { to, channel }, settings, chance);
    if (postman.pending + timed.length > settings.maxWaiting) {
      count.dropped += timed.length;
      return [];
    }
    const whats = new Set(timed.map(({ what }) => what));
    const reports = [...whats].flatMap((what) => ('report' in what ? [what.report] : []));
    const end = endOf(reports) ?? 'none';
    ends[end] = (ends[end] ?? 0) + 1;
    count.events += timed.length;
    count.replies += whats.size - reports.length;
    const subject = {
      messageId: recipientId(id, message, position),
      to,
      sender: typeof from === 'string' ? from : '',
      channel,
      echo: echoOf(settings.echo, message, position),
    };
    const nowMs = needs.now();
    return timed.flatMap(({ what, happenedMs, postedMs }) => {
      const event = { ...subject, what, atMs: nowMs + happenedMs };
      if (postedMs === undefined) return [postman.postNow(event)];
      postman.post(event, needs.latencyMs + postedMs);
      return [];
    });
  }

  return {
    follow(id, message, refusals) {
      const early = addressesOf(message).flatMap((to, i) => (refusals.has(i) ? [] : followOne(id, message, to, i)));
      return early.length === 0 ? undefined : Promise.all(early);
    },
    counts: () => ({ webhook: settings.shownUrl, ...count, ends: sorted(ends), ...postman.counts() }),
    settled: () => postman.settled(),
    close: () => postman.close(),
  };
}

export function sorted(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).toSorted(([a], [b]) => a.localeCompare(b)));
}

/** Its id stays the same when it is posted again. */
interface Post {
  readonly id: string;
  readonly body: string;
  readonly events: number;
  /** Called after the first post, with any result. */
  tried: (() => void) | undefined;
  attempts: number;
}

interface Due {
  readonly dueMs: number;
  /** Those of one time are posted in the order in which they came. */
  readonly number: number;
  readonly job: SandboxEvent | Post;
}

/** With batches, what is due within this time goes together: events seldom come in the same millisecond. */
const GATHER_MS = 50;

/**
 * Posts events when they are due, and again until they are acknowledged or given up. Only 200 acknowledges, as in some APIs.
 * At most `atOnce` posts are in flight; all others wait in one queue, because each timer would keep its event.
 */
class Postman {
  readonly #settings: WebhookSettings;
  readonly #needs: ReporterNeeds;
  readonly #sign: Sign;
  readonly #pool: Pool;
  readonly #queue = new TinyQueue<Due>([], (a, b) => a.dueMs - b.dueMs || a.number - b.number);
  readonly #answers: Record<string, number> = {};
  readonly #count = { pending: 0, acknowledged: 0, givenUp: 0, posts: 0, retried: 0 };
  #waiters: (() => void)[] = [];
  #number = 0;
  #busy = 0;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(settings: WebhookSettings, needs: ReporterNeeds) {
    this.#settings = settings;
    this.#needs = needs;
    this.#sign = signerOf(settings);
    // A post is ended by its own clock, which bounds drips too.
    const timeouts = { headersTimeout: 0, bodyTimeout: 0 };
    this.#pool = new Pool(settings.origin, { connections: settings.atOnce, pipelining: 1, ...timeouts });
  }

  get pending(): number {
    return this.#count.pending;
  }

  counts(): Omit<SandboxReports, 'webhook' | 'events' | 'dropped' | 'replies' | 'ends'> {
    return { ...this.#count, answers: sorted(this.#answers) };
  }

  /** @param inMs milliseconds from now */
  post(event: SandboxEvent, inMs: number): void {
    const dueMs = performance.now() + inMs;
    this.#count.pending += 1;
    this.#add(this.#settings.batch === 1 ? dueMs : Math.ceil(dueMs / GATHER_MS) * GATHER_MS, event);
  }

  /** Posts an event before all others. Resolves after the first post, with any result. */
  postNow(event: SandboxEvent): Promise<void> {
    if (this.#closed) return Promise.resolve();
    this.#count.pending += 1;
    return new Promise((tried) => this.#add(-Infinity, this.#pack([event], tried)));
  }

  /** Resolves when nothing is pending, or when this is closed. */
  settled(): Promise<void> {
    if (this.#closed || this.#count.pending === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  /** Stops at once; what is pending stays so. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const { job } of this.#queue.data) if ('tried' in job) job.tried?.();
    this.#wake();
    await this.#pool.destroy();
  }

  #add(dueMs: number, job: Due['job']): void {
    const before = this.#queue.peek()?.dueMs ?? Infinity;
    this.#number += 1;
    this.#queue.push({ dueMs, number: this.#number, job });
    if (dueMs < before) this.#pump();
  }

  #pump(): void {
    clearTimeout(this.#timer);
    while (!this.#closed && this.#busy < this.#settings.atOnce) {
      const post = this.#next(performance.now());
      if (post === undefined) break;
      void this.#carry(post);
    }
    const nextMs = this.#queue.peek()?.dueMs;
    // If all connections are busy, the next free one continues here.
    if (this.#closed || this.#busy >= this.#settings.atOnce || nextMs === undefined) return;
    this.#timer = setTimeout(() => this.#pump(), Math.max(0, Math.ceil(nextMs - performance.now())));
  }

  #next(byMs: number): Post | undefined {
    const events: SandboxEvent[] = [];
    for (let due = this.#queue.peek(); due !== undefined && due.dueMs <= byMs; due = this.#queue.peek()) {
      if ('tried' in due.job) {
        if (events.length > 0) break;
        this.#queue.pop();
        return due.job;
      }
      this.#queue.pop();
      events.push(due.job);
      if (events.length === this.#settings.batch) break;
    }
    return events.length === 0 ? undefined : this.#pack(events);
  }

  #pack(events: readonly SandboxEvent[], tried?: () => void): Post {
    return { id: this.#needs.nextId(), body: eventsJson(events), events: events.length, tried, attempts: 0 };
  }

  async #carry(post: Post): Promise<void> {
    this.#busy += 1;
    this.#count.posts += 1;
    if (post.attempts > 0) this.#count.retried += 1;
    post.attempts += 1;
    const status = await this.#ask(post);
    this.#busy -= 1;
    post.tried?.();
    post.tried = undefined;
    if (this.#closed) return;
    this.#record(post, status);
    this.#pump();
  }

  /** The status of the answer; undefined where none came in time. */
  async #ask({ id, body }: Post): Promise<number | undefined> {
    const { path, timeoutMs } = this.#settings;
    const headers = { 'content-type': 'application/json', ...this.#sign(id, this.#needs.now(), body) };
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const answer = await this.#pool.request({ method: 'POST', path, headers, body, signal });
      // Only the status of the receiver counts: an incomplete body changes nothing.
      await answer.body.dump().catch(() => {});
      return answer.statusCode;
    } catch {
      return undefined;
    }
  }

  #record(post: Post, status: number | undefined): void {
    countIn(this.#answers, status);
    if (status === 200) {
      this.#count.acknowledged += post.events;
    } else {
      const waitMs = this.#settings.retriesMs[post.attempts - 1];
      this.#needs.log?.(lineOf(post, status, waitMs));
      if (waitMs !== undefined) {
        this.#add(performance.now() + waitMs, post);
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

function lineOf({ events, attempts }: Post, status: number | undefined, waitMs: number | undefined): string {
  const what = `webhook: ${events === 1 ? 'an event' : `${events} events`}, attempt ${attempts}`;
  const next = waitMs === undefined ? 'given up' : `again in ${waitMs} ms`;
  return `${what}: ${status === undefined ? 'no answer' : `answered ${status}`}, ${next}`;
}

/** The id stays the same when a post is repeated, the time does not. */
type Sign = (id: string, nowMs: number, body: string) => Readonly<Record<string, string>>;

export function signerOf({ scheme, secret, hmac }: Pick<WebhookSettings, 'scheme' | 'secret' | 'hmac'>): Sign {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return (id, nowMs, body) => {
    const timestamp = String(Math.floor(nowMs / 1000));
    switch (scheme) {
      case 'standard': {
        const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
        return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
      }
      case 'hmac': {
        const values: Readonly<Record<string, string>> = { id, timestamp, body };
        const signed = hmac.signed.replace(/\{(id|timestamp|body)\}/g, (_all, name: string) => values[name] ?? '');
        return {
          [hmac.header]: hmac.prefix + createHmac(hmac.algorithm, secret).update(signed).digest(hmac.encoding),
          ...(hmac.timestampHeader === null ? {} : { [hmac.timestampHeader]: timestamp }),
          ...(hmac.idHeader === null ? {} : { [hmac.idHeader]: id }),
        };
      }
      case 'basic':
        return { authorization: `Basic ${Buffer.from(secret).toString('base64')}` };
      case 'bearer':
        return { authorization: `Bearer ${secret}` };
      default:
        return {};
    }
  };
}
