import { deviceByDigits, hasMeaning, scriptOf } from './address-script.ts';
import { addressesOf, bareNumber, countOf } from './addresses.ts';
import type { Message } from './check-message.ts';
import { type Device, takes } from './devices.ts';
import { type Dialect, NOBODY, type Refusal, type Refusals, UNSUPPORTED } from './dialect.ts';
import { ownRefusal, type Scenario, type ScriptedNumbers, statusTitle } from './scenarios.ts';

/** What is known of the recipients beforehand. */
export interface Acquaintance {
  readonly dialect: Dialect;
  readonly scripts: ScriptedNumbers;
  /** Devices of a file by number, without `+`; they come before those of the table. */
  readonly devices: ReadonlyMap<string, Device>;
}

/** What the recipients ask for, each judged by itself. */
export interface Verdict {
  /** The first scenario that is about the whole request; null without one. */
  readonly scenario: Scenario | null;
  /** Who is refused, by position. */
  readonly refusals: Refusals;
}

const ALL_TAKEN: Verdict = { scenario: null, refusals: NOBODY };

/**
 * Judges every recipient of a message: a script comes before the device. A refusal that is only about one of several
 * recipients is that one's; everything else that a script asks for is about the request.
 */
export function judge(known: Acquaintance, message: Message): Verdict {
  const number = onlyNumber(message);
  if (number !== null && known.devices.size === 0 && !hasMeaning(number)) return ALL_TAKEN;
  return judgeAll(known, message);
}

/** The number of a message to one number; nearly all are, so that they take the short way. */
function onlyNumber({ recipients, addressBook }: Message): string | null {
  if (recipients?.length !== 1 || addressBook !== undefined) return null;
  const msisdn = recipients[0]?.msisdn;
  return typeof msisdn === 'string' ? msisdn : null;
}

function judgeAll(known: Acquaintance, message: Message): Verdict {
  const inline = message.recipients?.length ?? 0;
  const refusals = new Map<number, Refusal>();
  let scenario: Scenario | null = null;
  for (const [i, address] of addressesOf(message).entries()) {
    const script = scriptOf(address, i >= inline, known.scripts);
    const refusal = script === null ? unsupported(known, address, i >= inline, message.channel) : refusalBy(script);
    if (refusal !== null && (script === null || isOwn(known.dialect, message))) refusals.set(i, refusal);
    else scenario ??= script;
  }
  return { scenario, refusals };
}

/** The script of the only recipient is played as it stands, unless the dialect has entries even then. */
function isOwn(dialect: Dialect, message: Message): boolean {
  return dialect.results === 'always' || countOf(message) > 1;
}

function refusalBy(scenario: Scenario): Refusal | null {
  const status = ownRefusal(scenario);
  if (status === null) return null;
  const code = statusTitle(status).toLowerCase().replaceAll(' ', '-');
  return { status, code, detail: `Scripted: ${statusTitle(status)}.`, digits: scenario.digits };
}

function unsupported(known: Acquaintance, address: string, isContact: boolean, channel: string): Refusal | null {
  if (isContact || address.includes('@')) return null;
  const device = deviceOf(known, address);
  if (device === null || takes(device, channel)) return null;
  const detail = `The recipient cannot receive ${channel}: the device is ${articleFor(device.label)} ${device.label}.`;
  return { status: known.dialect.unsupportedStatus, code: UNSUPPORTED, detail, digits: null };
}

function articleFor(label: string): 'a' | 'an' {
  return /^[aeiou]/i.test(label) ? 'an' : 'a';
}

function deviceOf({ devices, scripts }: Acquaintance, msisdn: string): Device | null {
  const named = devices.size === 0 ? undefined : devices.get(bareNumber(msisdn));
  return named ?? deviceByDigits(msisdn, scripts);
}
