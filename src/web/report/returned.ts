import type { Channel, Delivery, Outcome, ReplyMeaning, Report } from '../../model.ts';
import type { Formats } from '../../report/locale.ts';
import { type Html, html } from '../../util/escape.ts';
import { nextCommand } from '../../util/next-command.ts';
import { barChart, type Tone } from '../charts/chart.ts';
import { lineChart } from '../charts/plot.ts';
import { section } from '../kit.ts';
import { createTimeCounts, type Slot } from '../time-counts.ts';

/** When each event was first reported about the message of a recipient, in ms since 1970; null: never. */
export type ReturnTimes = Readonly<Record<Exclude<Moment, 'accepted'>, number | null>>;

/** In the order of a message. The middle ones are implied by the next: a recipient who replied has read it. */
const TONES = {
  accepted: 'accepted',
  arrived: 'one',
  read: 'four',
  replied: 'three',
  'did not arrive': 'rejected',
} as const satisfies Readonly<Record<string, Tone>>;
type Moment = keyof typeof TONES;
const MOMENTS = Object.keys(TONES) as readonly Moment[];
const RETURNED = MOMENTS.filter((name) => name !== 'accepted');

/**
 * @param timesOf - called only for recipients with reports or replies; absent if there are none
 * @param nowMs - a time before the start or in the future is moved to the nearest possible one
 */
export function watchTimes(timesOf: ((outcome: Outcome) => ReturnTimes) | undefined, startMs: number, nowMs: number) {
  const counts = createTimeCounts(MOMENTS, startMs);
  // By the channel of the last message of a recipient, and by its latest state.
  const channels = new Map<Channel, Partial<Record<Delivery, number>>>();
  return {
    add(outcome: Outcome): void {
      const { outcome: state, updatedAt, delivery = null, channel } = outcome;
      if (state === 'accepted' && updatedAt !== null) counts.add('accepted', Date.parse(updatedAt));
      if (delivery === null) return;
      const states = channels.get(channel) ?? {};
      states[delivery] = (states[delivery] ?? 0) + 1;
      channels.set(channel, states);
      if (timesOf === undefined) return;
      const times = timesOf(outcome);
      for (const name of RETURNED) {
        const atMs = times[name];
        if (atMs !== null) counts.add(name, Math.min(atMs, Math.max(nowMs, startMs)));
      }
    },
    slots: () => counts.slots(),
    returned: () => channels,
  };
}

/** Accepted messages, reports and replies over time; null where nothing happened. */
export function overTimeOf(slots: readonly Slot<Moment>[], formats: Formats): Html | null {
  const first = slots[0];
  if (first === undefined) return null;
  const shown = MOMENTS.filter((name) => slots.some(({ counts }) => counts[name] > 0));
  const series = shown.map((name) => {
    let sum = 0;
    const points = slots.map(({ fromMs, widthMs, counts }) => {
      sum += counts[name];
      return { x: fromMs + widthMs, y: sum };
    });
    return { name, tone: TONES[name], points: [{ x: first.fromMs, y: 0 }, ...points], sum };
  });
  const words = series.map(({ name, sum }) => `${name} ${formats.number(sum)}`).join(', ');
  const description = `In the end: ${words}.`;
  const title = `Recipients who had come so far (${formats.timeZone})`;
  return section('Over time', lineChart(title, description, series, formats));
}

/** Replies by meaning; their texts are personal and stay in the ledger. */
export type ReplyCounts = Readonly<Record<ReplyMeaning, number>>;

/** Null: there are no replies. */
export function repliesOf(report: Report, counts: ReplyCounts | null, formats: Formats, hasLinks: boolean) {
  const { replies, run } = report;
  if (replies === undefined) return null;
  const { count } = formats;
  const bars = (Object.keys(REPLY_BARS) as ReplyMeaning[]).map((meaning) => ({
    ...REPLY_BARS[meaning],
    value: counts?.[meaning] ?? 0,
  }));
  const all = bars.reduce((sum, { value }) => sum + value, 0);
  const words = hasLinks
    ? html`<a href="/replies">Read them</a>`
    : html`Their words are not on this page: <code>${nextCommand('replies', '--campaign', run)}</code> shows them.`;
  const waiting = `, and ${count(replies.review, 'reply', 'replies')} ${replies.review === 1 ? 'waits' : 'wait'} for review`;
  return section('Replies', [
    html`<p>${count(replies.recipients, 'recipient')} replied${replies.review > 0 && waiting}. ${words}</p>\n`,
    all > 0 && barChart(count(all, 'reply', 'replies'), bars, formats),
  ]);
}

const REPLY_BARS: Readonly<Record<ReplyMeaning, { readonly label: string; readonly tone: Tone }>> = {
  'opt-out': { label: 'want no more messages', tone: 'rejected' },
  review: { label: 'may want no more messages: to be read', tone: 'in-doubt' },
  'opt-in': { label: 'want messages again', tone: 'accepted' },
  answer: { label: 'anything else', tone: 'plain' },
};
