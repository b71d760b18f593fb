import { checkCountry, checkSender } from '../campaign/check-values.ts';
import { SENDER_COUNTRIES } from '../content/sender-countries.ts';
import { type Diagnostic, problem } from '../errors.ts';
import type { Channel } from '../model.ts';
import { exampleSender } from '../scaffold/people.ts';
import { safe } from '../util/safe.ts';

/** What a new project is asked for. */
export interface InitAnswers {
  readonly campaign: string;
  readonly channel: Channel;
  readonly from: string;
  readonly country: string;
}

export const CHANNEL_LABELS: Readonly<Record<Channel, string>> = {
  sms: 'SMS',
  rcs: 'RCS, with SMS for whoever cannot receive it',
  'messaging-app': 'messaging app',
  email: 'email',
  voice: 'voice call',
};

export const DEFAULT_ANSWERS = { campaign: 'hello', channel: 'sms', country: 'GB' } as const;

/** The sender of an example: a name where networks take names, else a number that belongs to nobody. */
export function defaultSender(channel: Channel, country: string): string {
  if (channel === 'email') return 'Riverside <hello@riverside.example>';
  const isName = (channel === 'sms' || channel === 'rcs') && SENDER_COUNTRIES[country] === undefined;
  return isName ? 'Riverside' : exampleSender(country);
}

/** Two letters in any case, as they are typed. */
export function normalCountry(typed: string): string {
  return typed.trim().toUpperCase();
}

/** What is wrong with an answer, in sentences; null where nothing is. */
export function countryFault(country: string): string | null {
  const finding = checkCountry(country);
  return 'value' in finding ? null : sentences(finding);
}

export function campaignFault(name: string): string | null {
  if (NAME.test(name)) return null;
  return `"${name}" cannot be the name of a campaign. Use small letters, digits and hyphens, at most 64, such as spring-sale.`;
}

/** RCS has an SMS after it here, with the same sender. */
export function senderFault(channel: Channel, from: string): string | null {
  if (channel === 'sms' || channel === 'rcs') {
    const finding = checkSender(from);
    return 'value' in finding ? null : sentences(finding);
  }
  if (from === '' || from.length > MAX_SENDER) return `A sender has 1 to ${MAX_SENDER} characters.`;
  if (from.trim() !== from || from.includes('\n') || safe(from) !== from) {
    return 'A sender is one line without control characters, and has no space at its ends.';
  }
  if (channel === 'email' && !EMAIL.test(from)) {
    return `"${from}" is not a sender of emails. Write hello@example.com, or Riverside <hello@example.com>.`;
  }
  return null;
}

/** Everything that is wrong with what was given, at once. */
export function answerFaults({ campaign, channel, from, country }: InitAnswers): readonly Diagnostic[] {
  const faults = [
    ['--name', campaignFault(campaign)],
    ['--from', senderFault(channel, from)],
    ['--country', countryFault(country)],
  ] as const;
  return faults.flatMap(([option, fault]) => (fault === null ? [] : [problem('usage', `${option}: ${fault}`)]));
}

/** The zone of a country in which clocks show the same time; null where nobody can say which is meant. */
export function zoneOf(country: string): string | null {
  // The types of TypeScript do not have it yet.
  const locale: Intl.Locale & { readonly getTimeZones?: () => readonly string[] } = new Intl.Locale(`und-${country}`);
  const zones = locale.getTimeZones?.() ?? [];
  const [first = null] = zones;
  return new Set(zones.map(offsets)).size === 1 ? first : null;
}

/** Winter and summer of one year: `GMT+01:00 GMT+02:00`. */
function offsets(timeZone: string): string {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  const offsetAt = (month: number): string =>
    format.formatToParts(Date.UTC(2026, month, 1)).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  return `${offsetAt(0)} ${offsetAt(6)}`;
}

function sentences({ message, hint }: { readonly message: string; readonly hint?: string | undefined }): string {
  return hint === undefined ? message : `${message} ${hint}`;
}

const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;
const MAX_SENDER = 200;
const EMAIL = /^(?:[^<>@"]*<[^\s<>@]+@[^\s<>@]+\.[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+\.[^\s<>@]+)$/;
