import { scriptedDigits } from './address-script.ts';
import type { ScriptedNumbers } from './scenarios.ts';
import { type Beat, ERRORS, isForEveryPhone, reply, report, type Story, storyOf, unsupportedOn } from './story.ts';

/**
 * The fixed stories: what comes back for an address, chosen by the same three digits as scripted answers, of which
 * none begins with a 6. docs/sandbox.md shows this table, and a test compares the two.
 */
export interface ScriptedStory {
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
  told('617', 'sent, then a status that nobody documented', SENT, report('unheard-of')),
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
