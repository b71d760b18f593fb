import { hash } from 'node:crypto';
import { scriptedDigits } from './devices.ts';
import type { ScriptedNumbers } from './scenarios.ts';
import {
  type Beat,
  ERRORS,
  isForEveryPhone,
  type ReportError,
  reply,
  report,
  SPELLINGS,
  type Spelling,
  type Story,
  storyOf,
  unsupportedOn,
} from './story.ts';
import { type Delays, ENDS, type End, type Shares } from './webhook.ts';

/** Gives numbers from 0 to 1, without 1. */
type Chance = () => number;

/**
 * Chance that depends on a seed and a subject, never on earlier draws: requests come in another order each time, and
 * each recipient still gets the same story. Mulberry32, seeded by 32 bits of SHA-256.
 */
export function chanceFor(seed: number, about: string): Chance {
  let state = hash('sha256', `${seed}\n${about}`, 'buffer').readInt32LE(0);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One of several, each as often as the others. */
function pick<T>(items: readonly [T, ...T[]], chance: Chance): T {
  return items[Math.floor(chance() * items.length)] ?? items[0];
}

/** What people write, drawn from by chance. None but those of the first list opts out. */

/**
 * Ways to say STOP: words that carriers and regulators name, as people type them, with spaces, punctuation, full-width
 * letters, accents and invisible characters.
 */
const STOP_TEXTS: readonly [string, ...string[]] = [
  'STOP',
  'stop',
  ' Stop. ',
  'Stop!!',
  '"STOP"',
  '«Stop»',
  'ＳＴＯＰ',
  'STOP\u200b',
  'STOPALL',
  'UNSUBSCRIBE',
  'Quit',
  'end',
  'Cancel',
  'REVOKE',
  'opt-out',
  'Opt out',
  'ARRET',
  'arrêt',
  'STOPP',
  'Abmelden',
  'BAJA',
  'Cancelar',
  'SAIR',
  'ANNULLA',
  'AFMELDEN',
  'AVSLUTA',
  'ZATRZYMAJ',
  'ОСТАНОВИТЬ',
];

const START_TEXTS: readonly [string, ...string[]] = ['START', 'start.', 'UNSTOP'];

const ORDINARY_TEXTS: readonly [string, ...string[]] = [
  'Thanks!',
  'See you on Tuesday',
  'Who is this?',
  'Ja, passt',
  'Merci beaucoup',
  'What time do you close?',
  '👍',
  'Yes',
];

/** Answers to a survey. */
const SURVEY_TEXTS: readonly [string, ...string[]] = ['1', '2', '3', '4', '5', '10', '9/10', 'A', 'b'];

/**
 * The fixed stories: the reports and replies for an address, chosen by the same three digits as scripted answers, of
 * which none begins with a 6. docs/reference/sandbox-webhooks.md shows this table, and a test compares the two.
 */
interface ScriptedStory {
  readonly digits: string;
  /** What is posted, in a sentence. */
  readonly comesBack: string;
  readonly tell: (channel: string) => Story;
}

const SENT = report('sent');
const DELIVERED = report('delivered');
const ARRIVED: readonly Beat[] = [SENT, DELIVERED];

/** Every fixed story, in the order of its digits. */
export const STORIES: readonly ScriptedStory[] = [
  told('600', 'queued, sent, delivered', report('queued'), SENT, DELIVERED),
  told('601', 'sent, delivered, read', SENT, DELIVERED, report('read')),
  told('602', 'sent, failed', SENT, report('failed', ERRORS.network)),
  told('603', 'sent, expired', SENT, report('expired', ERRORS.absent)),
  {
    digits: '604',
    comesBack: 'undeliverable, because the channel is not supported; by SMS, voice and email: sent, delivered',
    tell: (channel) => storyOf(isForEveryPhone(channel) ? ARRIVED : [report('undeliverable', unsupportedOn(channel))]),
  },
  told('605', 'sent, delivered, the reply `STOP`', SENT, DELIVERED, reply('STOP')),
  told('606', 'sent, delivered, the reply `yes`', SENT, DELIVERED, reply('yes')),
  posted('607', 'delivered, before the request is answered; sent after that', { isEarly: true }),
  posted('608', 'sent and delivered, each twice', { isDoubled: true }),
  posted('609', 'delivered, then sent, with the times at which they happened', { isReordered: true }),
  posted('610', 'no answer: the connection is reset; sent, delivered', { losesAnswer: true }),
  told('611', 'sent, failed, then delivered all the same', SENT, report('failed', ERRORS.network), DELIVERED),
  told('612', 'rejected, by the network', report('rejected', ERRORS.blocked)),
  told('613', 'sent, and nothing more', SENT),
  told('614', 'as 605, from the number without `+`', SENT, DELIVERED, reply('STOP', 'digits')),
  told('615', 'as 605, from the number with `00`, in full-width letters', ...ARRIVED, reply('ｓｔｏｐ', 'double-zero')),
  told('616', 'sent, delivered, the replies `STOP` and `START`', SENT, DELIVERED, reply('STOP'), reply('START')),
  told('617', 'sent, then an undocumented status', SENT, report('unheard-of')),
  told('618', "as 605, but the reply `please don't stop` needs a reader", SENT, DELIVERED, reply("please don't stop")),
  told('619', 'undeliverable, because the number is gone', report('undeliverable', ERRORS.gone)),
  told('620', 'rejected, because the recipient has opted out', report('rejected', ERRORS.optedOut)),
  told('621', 'sent, read; never delivered', SENT, report('read')),
  posted('622', 'sent; delivered late', { isLate: true }),
  told('623', 'as 605, from the number in its national form', SENT, DELIVERED, reply('STOP', 'national')),
  told('624', 'nothing at all'),
];

const BY_DIGITS: ReadonlyMap<string, ScriptedStory> = new Map(STORIES.map((story) => [story.digits, story]));

/** The fixed story of an address, or null: then chance tells one. */
export function scriptedStory(
  address: string,
  isContact: boolean,
  whose: ScriptedNumbers,
  channel: string,
): Story | null {
  const digits = scriptedDigits(address, isContact, whose);
  return digits === null ? null : (BY_DIGITS.get(digits)?.tell(channel) ?? null);
}

function told(digits: string, comesBack: string, ...beats: readonly Beat[]): ScriptedStory {
  const story = storyOf(beats);
  return { digits, comesBack, tell: () => story };
}

function posted(digits: string, comesBack: string, how: Partial<Omit<Story, 'beats'>>): ScriptedStory {
  const story = storyOf(ARRIVED, how);
  return { digits, comesBack, tell: () => story };
}

/** The reports and replies about a message without a script, by chance. */
export function drawStory(shares: Shares, channel: string, chance: Chance): Story {
  const beats: Beat[] = [];
  if (chance() < shares.queued) beats.push(report('queued'));
  if (chance() < shares.sent) beats.push(report('sent'));
  const end = drawEnd(shares, chance());
  if (end !== null) beats.push(report(end, errorOf(end, channel)));
  if (end === 'delivered') addAnswers(beats, shares, chance);
  return {
    beats,
    isDoubled: false,
    isReordered: chance() < shares.reordered,
    isEarly: chance() < shares.early,
    isLate: chance() < shares.late,
    losesAnswer: false,
  };
}

function drawEnd(shares: Shares, drawn: number): End | null {
  let left = drawn;
  for (const end of ENDS) {
    if (left < shares[end]) return end;
    left -= shares[end];
  }
  return null;
}

function errorOf(end: End, channel: string): ReportError | null {
  switch (end) {
    case 'delivered':
      return null;
    case 'expired':
      return ERRORS.absent;
    case 'failed':
      return ERRORS.network;
    case 'undeliverable':
      return isForEveryPhone(channel) ? ERRORS.gone : unsupportedOn(channel);
    case 'rejected':
      return ERRORS.blocked;
  }
}

function addAnswers(beats: Beat[], shares: Shares, chance: Chance): void {
  if (chance() < shares.read) beats.push(report('read'));
  const drawn = chance();
  if (drawn < shares.stop) {
    beats.push(reply(pick(STOP_TEXTS, chance), spellingOf(shares, chance)));
    if (chance() < shares.start) beats.push(reply(pick(START_TEXTS, chance), spellingOf(shares, chance)));
  } else if (drawn < shares.stop + shares.reply) {
    const texts = chance() < 0.5 ? ORDINARY_TEXTS : SURVEY_TEXTS;
    beats.push(reply(pick(texts, chance), spellingOf(shares, chance)));
  }
}

function spellingOf({ respelled }: Shares, chance: Chance): Spelling {
  return chance() < respelled ? pick(SPELLINGS, chance) : 'as-sent';
}

/** A beat with its times, in milliseconds since the message was taken. */
export interface TimedBeat {
  readonly beat: Beat;
  /** The time of the event, as written in it. */
  readonly happenedMs: number;
  /** When it is posted; null: before the request is answered. */
  readonly postedMs: number | null;
}

/**
 * When everything of a story happens and when it is posted, which differs where posts overtake each other or come late.
 */
export function timeStory(story: Story, delaysMs: Delays, doubled: Shares['doubled'], chance: Chance): TimedBeat[] {
  const { beats } = story;
  const happened = happeningsOf(beats, delaysMs, chance);
  const posted: (number | null)[] = story.isReordered ? reordered(beats, happened) : [...happened];
  const end = beats.findIndex(isEnd);
  if (story.isLate && end >= 0) posted[end] = (happened[end] ?? 0) + delaysMs.late;
  if (story.isEarly && end >= 0) {
    posted[end] = null;
    // Everything that was posted before the answer had happened by then.
    for (let i = 0; i <= end; i += 1) happened[i] = 0;
  }
  const timed = beats.map((beat, i) => ({ beat, happenedMs: happened[i] ?? 0, postedMs: posted[i] ?? null }));
  const again = timed.flatMap((one) => {
    if (!story.isDoubled && chance() >= doubled) return [];
    return [{ ...one, postedMs: (one.postedMs ?? one.happenedMs) + delaysMs.delivered * chance() }];
  });
  return [...timed, ...again];
}

function isEnd(beat: Beat): boolean {
  return beat.kind === 'report' && beat.word !== 'queued' && beat.word !== 'sent';
}

function happeningsOf(beats: readonly Beat[], delaysMs: Delays, chance: Chance): number[] {
  let atMs = 0;
  return beats.map((beat) => {
    atMs += delayOf(beat, delaysMs) * (0.5 + chance());
    return Math.round(atMs);
  });
}

function delayOf(beat: Beat, delaysMs: Delays): number {
  if (beat.kind === 'reply') return delaysMs.reply;
  switch (beat.word) {
    case 'queued':
      return 0;
    case 'sent':
      return delaysMs.sent;
    case 'read':
      return delaysMs.read;
    default:
      return delaysMs.delivered;
  }
}

/** Reports in the reverse order, at the times of one another; replies stay. */
function reordered(beats: readonly Beat[], happened: readonly number[]): number[] {
  const reports = [...beats.keys()].filter((i) => beats[i]?.kind === 'report');
  const times = reports.map((i) => happened[i] ?? 0).reverse();
  return happened.map((atMs, i) => times[reports.indexOf(i)] ?? atMs);
}
