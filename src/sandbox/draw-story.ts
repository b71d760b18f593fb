import { type Chance, pick } from './chance.ts';
import { ORDINARY_TEXTS, START_TEXTS, STOP_TEXTS, SURVEY_TEXTS } from './reply-texts.ts';
import { SPELLINGS, type Spelling } from './respell.ts';
import {
  type Beat,
  ERRORS,
  isForEveryPhone,
  type ReportError,
  reply,
  report,
  type Story,
  unsupportedOn,
} from './story.ts';
import type { Shares } from './webhook-options.ts';
import { ENDS, type End } from './webhook-settings.ts';

/** What comes back of a message that no script is about, by chance. */
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
