import { DEVICES, type Device } from './devices.ts';
import {
  endingOf,
  isReserved,
  SCENARIOS,
  type Scenario,
  type ScriptedNumbers,
  scenarioByDigits,
  scenarioFor,
} from './scenarios.ts';

/** The domains that RFC 2606 keeps free for examples, so that no address there belongs to anybody. */
const TAGGED_EMAIL = /\+(\d{3})@(?:(example\.(?:com|net|org))|[^@]*)$/;
const TAGGED_CONTACT = /^(sandbox)?[^+]*\+(\d{3})$/;

/**
 * The three digits by which an address chooses what is played, or null. Numbers choose by their last digits, email
 * addresses and contacts by a tag: `zoe+404@example.com`, `sandbox-1+404`. Others do only where `whose` says `all`.
 */
export function scriptedDigits(address: string, isContact: boolean, whose: ScriptedNumbers): string | null {
  if (whose === 'none') return null;
  if (isContact) return byTag(TAGGED_CONTACT.exec(address), 2, 1, whose);
  if (address.includes('@')) return byTag(TAGGED_EMAIL.exec(address), 1, 2, whose);
  return endingOf(address, whose);
}

function byTag(found: RegExpExecArray | null, digits: number, free: number, whose: ScriptedNumbers): string | null {
  if (found === null || (whose === 'reserved' && found[free] === undefined)) return null;
  return found[digits] ?? null;
}

/** The scenario that an address plays, or null (scenarios.ts). */
export function scriptOf(address: string, isContact: boolean, whose: ScriptedNumbers): Scenario | null {
  if (!isContact && !address.includes('@')) return scenarioFor(address, whose);
  const digits = scriptedDigits(address, isContact, whose);
  return digits === null ? null : scenarioByDigits(digits);
}

const MEANINGFUL: ReadonlySet<string> = new Set([...DEVICES.keys(), ...SCENARIOS.map(({ digits }) => digits)]);

/** Whether the last three digits of a number are those of a script or a device: most are not, which is quickly seen. */
export function hasMeaning(msisdn: string): boolean {
  return MEANINGFUL.has(msisdn.slice(-3));
}

/** The device behind a number by its last three digits, or null: then it takes every channel. */
export function deviceByDigits(msisdn: string, whose: ScriptedNumbers): Device | null {
  if (whose === 'none') return null;
  const device = DEVICES.get(msisdn.slice(-3));
  if (device === undefined) return null;
  return whose === 'all' || isReserved(msisdn) ? device : null;
}
