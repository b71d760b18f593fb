import { hash } from 'node:crypto';
import { capital } from '../util/words.ts';
import type { Ending, ReportWord } from './endings.ts';
import { bareNumber } from './endings.ts';
import type { SandboxEvent } from './form.ts';
import replies from './replies.json' with { type: 'json' };
import { type Delays, ENDS, type Shares } from './webhook.ts';

type What = SandboxEvent['what'];

/** From 0 to 1, without 1. */
type Chance = () => number;

/** Mulberry32, seeded by 32 bits of SHA-256 of seed and subject: the order of requests does not matter. */
export function chanceFor(seed: number, about: string): Chance {
  let state = hash('sha256', `${seed}\n${about}`, 'buffer').readInt32LE(0);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

function pick(texts: readonly string[], chance: Chance): string {
  return texts[Math.floor(chance() * texts.length)] ?? '';
}

/** An email address gets its domain in capitals; a number keeps its country, so that a reader need not know it. */
function respell(address: string, chance: Chance): string {
  const digits = bareNumber(address);
  const spellings = [digits, `00${digits}`, `+${digits.replace(/(\d{2})(\d{4})(?=\d)/, '$1 $2 ')}`];
  const spelling = pick(spellings, chance);
  const at = address.lastIndexOf('@');
  if (at >= 0) return address.slice(0, at) + address.slice(at).toUpperCase();
  return /^\d+$/.test(digits) ? spelling : address;
}

const USUAL_ERRORS: Readonly<Partial<Record<ReportWord, string>>> = {
  expired: 'absent-subscriber',
  failed: 'network-error',
  rejected: 'blocked',
};

/** By its name in the API. */
function isForEveryPhone(channel: string): boolean {
  return /^(?:sms|voice|email)$/i.test(channel);
}

function reportOf(report: ReportWord, channel: string, given?: string): What {
  const unreachable = isForEveryPhone(channel) ? 'unknown-subscriber' : 'channel-not-supported';
  const code = given ?? (report === 'undeliverable' ? unreachable : USUAL_ERRORS[report]);
  if (code === undefined) return { report };
  return { report, error: { code, detail: `${capital(code.replaceAll('-', ' '))}: ${channel}.` } };
}

function feedbackOf(ending: Ending, reports: readonly ReportWord[], to: string, channel: string): readonly What[] {
  const { richOnly, error, replies: texts = [] } = ending;
  const from = ending.repliesBare === true ? bareNumber(to) : to;
  const words = richOnly === true && isForEveryPhone(channel) ? (['sent', 'delivered'] as const) : reports;
  return [
    ...words.map((word, i) => reportOf(word, channel, i === words.length - 1 && words === reports ? error : undefined)),
    ...texts.map((reply) => ({ reply, from })),
  ];
}

function drawFeedback(shares: Shares, to: string, channel: string, chance: Chance): readonly What[] {
  const whats: What[] = [];
  const reply = (texts: readonly string[]): void => {
    const text = pick(texts, chance);
    whats.push({ reply: text, from: chance() < shares.respelled ? respell(to, chance) : to });
  };
  if (chance() < shares.queued) whats.push({ report: 'queued' });
  if (chance() < shares.sent) whats.push({ report: 'sent' });
  let left = chance();
  const end = ENDS.find((one) => {
    left -= shares[one];
    return left < 0;
  });
  if (end !== undefined) whats.push(reportOf(end, channel));
  if (end === 'delivered') {
    if (chance() < shares.read) whats.push({ report: 'read' });
    const drawn = chance();
    if (drawn < shares.stop) {
      reply(replies.stop);
      if (chance() < shares.start) reply(replies.start);
    } else if (drawn < shares.stop + shares.reply) reply(chance() < 0.5 ? replies.ordinary : replies.survey);
  }
  return whats;
}

/**
 * The events of a message, in order; times are in ms since it was taken. `postedMs`: undefined before the request is
 * answered. The times differ where posts overtake each other, come late or twice.
 */
export function planFeedback(
  ending: Ending | undefined,
  to: string,
  channel: string,
  { shares, delaysMs }: { readonly shares: Shares; readonly delaysMs: Delays },
  chance: Chance,
) {
  const isDrawn = ending?.reports === undefined;
  const whats = isDrawn ? drawFeedback(shares, to, channel, chance) : feedbackOf(ending, ending.reports, to, channel);
  const [isReordered, isEarly, isLate] = [shares.reordered, shares.early, shares.late].map(
    (share) => isDrawn && chance() < share,
  );
  let atMs = 0;
  const happened = whats.map((what) => {
    atMs += delayOf(what, delaysMs) * (0.5 + chance());
    return Math.round(atMs);
  });
  const posted: (number | undefined)[] = isReordered ? reordered(whats, happened) : [...happened];
  const end = whats.findIndex((what) => 'report' in what && what.report !== 'queued' && what.report !== 'sent');
  if (isLate && end >= 0) posted[end] = (happened[end] ?? 0) + delaysMs.late;
  if (isEarly && end >= 0) {
    posted[end] = undefined;
    // Everything that was posted before the answer had happened by then.
    happened.fill(0, 0, end + 1);
  }
  const timed = whats.map((what, i) => ({ what, happenedMs: happened[i] ?? 0, postedMs: posted[i] }));
  const again = timed.flatMap((one) => {
    if (chance() >= shares.doubled) return [];
    return [{ ...one, postedMs: (one.postedMs ?? one.happenedMs) + delaysMs.delivered * chance() }];
  });
  return [...timed, ...again];
}

function delayOf(what: What, delaysMs: Delays): number {
  if ('reply' in what) return delaysMs.reply;
  if (what.report === 'queued') return 0;
  return what.report === 'sent' || what.report === 'read' ? delaysMs[what.report] : delaysMs.delivered;
}

/** Each has the time of the one whose place it takes; replies stay. */
function reordered(whats: readonly What[], happened: readonly number[]): number[] {
  const reports = [...whats.keys()].filter((i) => whats[i] !== undefined && 'report' in whats[i]);
  const times = reports.map((i) => happened[i] ?? 0).reverse();
  return happened.map((atMs, i) => times[reports.indexOf(i)] ?? atMs);
}
