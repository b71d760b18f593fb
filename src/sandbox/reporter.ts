import { createHmac, randomUUID } from 'node:crypto';
import pLimit from 'p-limit';
import { Pool } from 'undici';
import { endingOf, endOf } from './endings.ts';
import {
  eventsJson,
  type Message,
  type Recipient,
  type Refusals,
  recipientId,
  recipientsOf,
  type SandboxEvent,
} from './form.ts';
import { countIn } from './inbox.ts';
import { NO_REPORTS, type SandboxReports, type SandboxSettings } from './options.ts';
import { chanceFor, planFeedback } from './reports.ts';
import { toWebhookSettings, type WebhookOptions } from './webhook.ts';

/** With batches, what is due within this time goes together: events seldom come in the same millisecond. */
const GATHER_MS = 50;

/**
 * Posts reports and replies when they are due, and again until they are acknowledged or given up. Only 200 acknowledges,
 * as in some APIs. At most `atOnce` posts are in flight; those that come before an answer do not wait in line.
 */
export function createReporter(
  options: WebhookOptions,
  {
    scripts,
    latencyMs,
    now,
    log,
  }: Pick<SandboxSettings, 'log'> & Required<Pick<SandboxSettings, 'scripts' | 'latencyMs' | 'now'>>,
) {
  const settings = toWebhookSettings(options);
  const { origin, path, atOnce, batch, retriesMs, timeoutMs } = settings;
  // A post is ended by its own clock, which bounds drips too.
  const pool = new Pool(origin, { connections: atOnce, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  const limit = pLimit(atOnce);
  const ends: Record<string, number> = {};
  const answers: Record<string, number> = {};
  const count = { ...NO_REPORTS };
  let gathered: SandboxEvent[] = [];
  let waiters: (() => void)[] = [];
  let isClosed = false;

  function after(ms: number, action: () => void): void {
    setTimeout(() => {
      if (!isClosed) action();
    }, ms).unref();
  }

  function wake(): void {
    for (const waiter of waiters) waiter();
    waiters = [];
  }

  /** A repeated post has its old id. */
  async function post(events: readonly SandboxEvent[], id = `evt_${randomUUID()}`, attempt = 1): Promise<void> {
    if (isClosed) return;
    count.posts += 1;
    if (attempt > 1) count.retried += 1;
    const status = await statusOf(id, eventsJson(events));
    if (isClosed) return;
    countIn(answers, status);
    if (status === 200) count.acknowledged += events.length;
    else {
      const waitMs = retriesMs[attempt - 1];
      const what = `webhook: ${events.length === 1 ? 'an event' : `${events.length} events`}, attempt ${attempt}`;
      const next = waitMs === undefined ? 'given up' : `again in ${waitMs} ms`;
      log?.(`${what}: ${status === undefined ? 'no answer' : `answered ${status}`}, ${next}`);
      if (waitMs !== undefined) return after(waitMs, () => void limit(post, events, id, attempt + 1));
      count.givenUp += events.length;
    }
    count.pending -= events.length;
    if (count.pending === 0) wake();
  }

  /** Undefined where no answer came in time. */
  async function statusOf(id: string, body: string): Promise<number | undefined> {
    const headers = { 'content-type': 'application/json', ...sign(settings.secret, id, now(), body) };
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const answer = await pool.request({ method: 'POST', path, headers, body, signal });
      // Only the status of the receiver counts: an incomplete body changes nothing.
      await answer.body.dump().catch(() => {});
      return answer.statusCode;
    } catch {
      return undefined;
    }
  }

  function postGathered(): void {
    if (gathered.length > 0) void limit(post, gathered);
    gathered = [];
  }

  function gather(event: SandboxEvent): void {
    gathered.push(event);
    if (gathered.length === batch) postGathered();
    else if (gathered.length === 1) after(GATHER_MS, postGathered);
  }

  /** Drops events if too many wait; returns the posts that come before the answer. */
  function followOne(messageId: string, message: Message, recipient: Recipient): Promise<void>[] {
    const { channel, from } = message;
    const { address: to, metaData } = recipient;
    const about = `${channel}\n${to}\n${JSON.stringify(metaData)}`;
    const ending = endingOf(to, scripts);
    const timed = planFeedback(ending, to, channel, settings, chanceFor(settings.seed, about));
    if (count.pending + timed.length > settings.maxWaiting) {
      count.dropped += timed.length;
      return [];
    }
    const whats = new Set(timed.map(({ what }) => what));
    const reports = [...whats].flatMap((what) => ('report' in what ? [what.report] : []));
    countIn(ends, endOf(reports));
    count.events += timed.length;
    count.pending += timed.length;
    count.replies += whats.size - reports.length;
    const subject = {
      messageId,
      to,
      sender: typeof from === 'string' ? from : '',
      channel,
      metaData,
    };
    const nowMs = now();
    return timed.flatMap(({ what, happenedMs, postedMs }) => {
      const event = { ...subject, what, atMs: nowMs + happenedMs };
      if (postedMs === undefined) return [post([event])];
      after(latencyMs + postedMs, () => gather(event));
      return [];
    });
  }

  return {
    /** For recipients that are not refused. Wait for the result before the answer: some events come before it. */
    async follow(id: string, message: Message, refusals: Refusals): Promise<void> {
      const recipients = recipientsOf(message);
      const early = recipients.flatMap((recipient, i) =>
        refusals.has(i) ? [] : followOne(recipientId(id, recipients, i), message, recipient),
      );
      await Promise.all(early);
    },
    counts: (): SandboxReports => ({
      ...count,
      webhook: settings.shownUrl,
      ends: sorted(ends),
      answers: sorted(answers),
    }),
    settled: async (): Promise<void> => {
      if (!isClosed && count.pending > 0) await new Promise<void>((wait) => waiters.push(wait));
    },
    async close(): Promise<void> {
      isClosed = true;
      wake();
      await pool.destroy();
    },
  };
}

export function reportsOf(reporter: ReturnType<typeof createReporter> | undefined): SandboxReports {
  return reporter?.counts() ?? NO_REPORTS;
}

export function sorted(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).toSorted(([a], [b]) => a.localeCompare(b)));
}

/** Standard Webhooks. The id stays the same when a post is repeated, the time does not. Without a secret: no headers. */
export function sign(secret: string, id: string, nowMs: number, body: string): Readonly<Record<string, string>> {
  if (secret === '') return {};
  const timestamp = String(Math.floor(nowMs / 1000));
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}
