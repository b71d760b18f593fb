import { Pool } from 'undici';
import { createDueQueue, type DueQueue } from './due-queue.ts';
import type { EventForm } from './event-forms.ts';
import type { SandboxEvent } from './sandbox-event.ts';
import type { WebhookSettings } from './webhook-settings.ts';
import type { Sign } from './webhook-sign.ts';

/** What became of the events that a postman was given. */
export interface PostCounts {
  /** Events that are neither acknowledged nor given up: they wait, are on their way, or will be posted again. */
  readonly pending: number;
  readonly acknowledged: number;
  readonly givenUp: number;
  /** Posts that were made, repeated ones too. */
  readonly posts: number;
  /** Those of them that repeat one that was not answered 200. */
  readonly retried: number;
  /** How often each status was answered; `none` counts broken connections and silence. */
  readonly answers: Readonly<Record<string, number>>;
}

export interface PostmanNeeds {
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
  /** Called when it was posted once, whatever came of it. */
  tried: (() => void) | null;
  attempts: number;
}

/** With batches, what is due within this time goes together: events seldom come in the same millisecond. */
const GATHER_MS = 50;

/**
 * Posts events when they are due, and again until they are acknowledged or given up. Only 200 acknowledges, as some
 * APIs mean it, so that a receiver that answers 202 or 204 is found out.
 *
 * At most `atOnce` posts are under way, each on a connection that stays open; all others wait in the order of their
 * time. Memory is bounded by whoever hands events in.
 */
export class Postman {
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

  /** Posts an event before all others. Resolves when it was tried once, whatever came of it. */
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
    // Where all connections are busy, the next one that is free looks again.
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
      // What a receiver says besides its status is nothing to go by: a body that breaks off changes nothing.
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
