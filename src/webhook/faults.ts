import { UNSUPPORTED_CODES } from '../model/answer-words.ts';
import type { DeliveryCause, DeliveryState } from '../model.ts';
import { foldName } from '../util/fold.ts';
import { type CompiledFields, type Level, ownPointers, type Trace, takeField } from './fields.ts';
import { cutText, errorOf, idOf, isNoError, wordOf } from './states.ts';

interface Fault {
  readonly code: string | null;
  /** Names of errors and states: codes in words. */
  readonly names: readonly string[];
  readonly text: string | null;
  /** The provider says that a retry is useless. */
  readonly isPermanent: boolean;
}

/** Codes of the project and its provider by what they mean, folded. */
export type OwnCodes = readonly (readonly [DeliveryCause, ReadonlySet<string>])[];

/**
 * The cause of a failed message, if one follows. Codes count first, and those of the project and its provider before all
 * others. Then sentences, because few providers document their codes. Null for messages that are on their way or have
 * arrived.
 *
 * A person who opted out is suppressed. So a sentence about a sender, a text or a link on some list does not count as
 * an opt-out: it would suppress all recipients.
 */
export function causeOf(fault: Fault, state: DeliveryState, own: OwnCodes): DeliveryCause | null {
  if (ON_ITS_WAY.has(state)) return null;
  const { text, isPermanent } = fault;
  const codes = [fault.code, ...fault.names].filter((code) => code !== null).map(foldName);
  const words = text === null ? codes : [...codes, foldName(text)];
  for (const [cause, known] of own) if (words.some((word) => known.has(word))) return cause;
  for (const [cause, known] of CODES) if (codes.some((code) => known.has(code))) return cause;
  // `USER_OPTED_OUT` and `UserOptedOut` as sentences in small letters, of a length that costs no time.
  const sentences = [text, ...fault.names].flatMap((one) => {
    const short = one?.slice(0, 500) ?? '';
    // Only names are split: in a sentence, WhatsApp is one word.
    const parts = short.includes(' ') ? short : short.replace(/([a-z])([A-Z])/g, '$1 $2');
    return one === null ? [] : [parts.replace(/[\s_-]+/g, ' ').toLowerCase()];
  });
  if (sentences.some((one) => OPTED_OUT.test(one) && !NOT_OPTED_OUT.test(one))) return 'opted-out';
  if (sentences.some((one) => LISTED.test(one) && !ABOUT_US.test(one))) return 'opted-out';
  if (sentences.some((one) => UNSUPPORTED.test(one) && !ABOUT_CONTENT.test(one))) return 'unsupported-channel';
  if (sentences.some((one) => GONE.test(one))) return 'gone';
  // A refusal by the provider is different: it says nothing of the address.
  return isPermanent && (state === 'undeliverable' || state === 'failed') ? 'gone' : null;
}

const ON_ITS_WAY: ReadonlySet<DeliveryState> = new Set(['queued', 'sent', 'delivered', 'read']);

/** Words that mean one thing in every API, folded. A number means something else in another API: provider files have those. */
const CODES: OwnCodes = [
  ['opted-out', foldedSet('unsubscribed user-unsubscribed recipient-unsubscribed opted-out recipient-opted-out')],
  ['unsupported-channel', new Set(UNSUPPORTED_CODES)],
  ['gone', foldedSet('unknown-subscriber ec-unknown-subscriber unallocated-number absent-permanent')],
];

function foldedSet(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/).map(foldName));
}

const OPTED_OUT =
  /\bunsubscribed?\b|\bopt(?:ed)? ?out\b|\bdo not contact\b|\bstop (?:message|keyword|request|reply)\b|\b(?:sent|replied|texted|said|with) stop\b/;
/** A text lacks these words, or a message must have them. */
const NOT_OPTED_OUT =
  /\bnot (?:yet )?(?:unsub|opt)|\b(?:no|missing|without|lacks?|requires?|needs?|must) .{0,40}\b(?:opt|unsub|stop)|\b(?:opt ?out|unsubscribe|stop) (?:text|instruction|language|link|option|wording|line|notice|url|header)/;
const LISTED = /\b(?:black|block) ?list(?:ed)?\b/;
const ABOUT_US =
  /\b(?:sender|source|originator|from|content|text|body|keyword|template|url|link|domain|ip|account|traffic|brand|campaign)\b/;
const UNSUPPORTED =
  /\bnot supported\b|\bunsupported\b|\bdoes ?n[o']t support\b|\bcapabilit|\bnot (?:an? )?(?:(?:valid )?(?:rcs|whatsapp|viber) (?:user|number|account|contact)|(?:rcs|whatsapp) (?:enabled|capable|reachable|registered))\b|\bnot (?:enabled|registered|reachable) (?:for|on|with|by|via) (?:rcs|whatsapp|viber)\b/;
const ABOUT_CONTENT =
  /\b(?:media|file|mime|format|type|template|parameter|character|encoding|charset|content|attachment|image|video|language|button|field|version|sender|method)\b/;
const GONE =
  /\bunknown subscriber\b|\bunallocated\b|\b(?:not|no longer) (?:in (?:service|use)|assigned|active)\b|\b(?:number|subscriber|mailbox|user|address) (?:does not|doesn't|no longer) exists?\b|\bpermanently absent\b|\bdisconnected (?:number|subscriber)\b|\bnumber (?:is )?(?:disconnected|deactivated)\b/;

export interface SaidFault extends Fault {
  /** A field with errors only, so that its presence alone means an error. */
  readonly isPlain: boolean;
}

/** From the fields of an object for it, and from fields beside it with other names. */
export function faultOf(level: Level, fields: CompiledFields, trace: Trace | null): SaidFault | null {
  const options = { reach: 'event', trace } as const;
  const isOwn = ownPointers('error', fields) !== undefined;
  const parts = takeField(isOwn ? 'error' : 'fault', level, fields, partsOf, isOwn ? { trace } : options);
  const code = parts?.code ?? takeField('code', level, fields, someError(idOf), options);
  const text = parts?.text ?? (isOwn ? null : takeField('error', level, fields, someError(errorOf), options));
  const name = takeField('faultName', level, fields, wordOf, { reach: 'event' });
  if (parts === null && code === null && text === null) return null;
  const flag = takeField('permanent', level, fields, yes, { reach: 'event' });
  const names = [...(parts?.names ?? []), ...(name === null ? [] : [name])];
  return { code, names, text, isPermanent: parts?.isPermanent === true || flag === true, isPlain: parts !== null };
}

/** `1300: Not part of the provider network`, at most 500 characters. */
export function errorText({ code, names, text }: Fault): string | null {
  const said = text ?? names[0] ?? null;
  if (code === null || said === null) return code ?? said;
  return said.includes(code) ? said : cutText(`${code}: ${said}`, MAX_ERROR);
}

const MAX_ERROR = 500;
const CODE_NAMES = ['code', 'errorcode', 'id', 'errorid'];
const TEXT_NAMES = ['message', 'description', 'detail', 'details', 'reason', 'text', 'title'];
const NAME_NAMES = ['name', 'code', 'type', 'reason', 'title', 'subcode', 'groupname'];
const PERMANENT_NAMES = ['permanent', 'ispermanent', 'ispermanentfailure'];

/** From an object, a list of such, or a sentence; null if it means that there is no error. */
function partsOf(value: unknown): Fault | null {
  const one: unknown = Array.isArray(value) ? value[0] : value;
  if (typeof one !== 'object' || one === null) {
    const text = someError(errorOf)(one);
    return text === null ? null : { code: null, names: [text], text, isPermanent: false };
  }
  const held = new Map<string, unknown>();
  for (const key of Object.keys(one).sort()) {
    const folded = foldName(key.slice(0, MAX_KEY));
    if (!held.has(folded)) held.set(folded, (one as Readonly<Record<string, unknown>>)[key]);
  }
  const names = NAME_NAMES.map((name) => wordOf(held.get(name))).filter((word) => word !== null);
  if (held.size === 0 || names.some(isNoError)) return null;
  const firstOf = <T>(keys: readonly string[], read: (of: unknown) => T | null): T | null => {
    for (const key of keys) {
      const found = read(held.get(key));
      if (found !== null) return found;
    }
    return null;
  };
  return {
    code: firstOf(CODE_NAMES, someError(idOf)),
    names,
    text: firstOf(TEXT_NAMES, errorOf),
    isPermanent: PERMANENT_NAMES.some((name) => yes(held.get(name)) === true),
  };
}

/** Longer names are not compared. */
const MAX_KEY = 64;

function someError(read: (value: unknown) => string | null): (value: unknown) => string | null {
  return (value) => {
    const text = read(value);
    return text === null || isNoError(text) ? null : text;
  };
}

function yes(value: unknown): true | null {
  return value === true || (typeof value === 'string' && value.toLowerCase() === 'true') ? true : null;
}
