import { domainToASCII } from 'node:url';
import { type EmailProblem, explainDomain, explainLocal, explainShape } from './email-problem.ts';

/** An address in the one spelling that handbill uses for it. */
export interface EmailAddress {
  /** Local part as it was written (case counts there, RFC 5321, 2.4), domain in lower case and in ASCII. */
  readonly email: string;
}

export type { EmailProblem } from './email-problem.ts';

export type EmailReader = (raw: string) => EmailAddress | EmailProblem;

/** RFC 5321, 4.5.3.1.1 and 4.5.3.1.3 (a path of 256 octets holds its two angle brackets), in octets. */
export const MAX_LOCAL = 64;
export const MAX_ADDRESS = 254;

/** Longer cells are not looked at: it keeps the expressions below from long texts. */
const MAX_CHARACTERS = 1000;

/**
 * Makes a reader of email addresses as people and programs write them (RFC 5321 and 5322, RFC 6531 for other letters
 * than ASCII's). Tags (`+x`) and dots are kept: only the receiving server knows whether they matter. A name in front,
 * as in `Jane <jane@example.com>`, and `mailto:` are taken off, because what is left is beyond doubt.
 */
export function createEmailReader(): EmailReader {
  return function readEmail(raw) {
    return readPlain(raw) ?? readSpelling(raw);
  };
}

const PLAIN_LOCAL = /^[\w!#$%&*+/=?^`{|}~-][\w!#$%&'*+/=?^`{|}~-]*(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
/** Host names as they are registered: at least two labels, the last one not a number. */
const DOMAIN = new RegExp(`^(?:${LABEL}\\.)+(?![0-9]+$)${LABEL}$`);

/** Plain ASCII without a blank, the usual case; null when more has to be looked at. */
function readPlain(raw: string): EmailAddress | null {
  const at = raw.indexOf('@');
  if (at < 1 || at > MAX_LOCAL || raw.length > MAX_ADDRESS) return null;
  const domain = raw.slice(at + 1);
  const lower = domain.toLowerCase();
  if (!DOMAIN.test(lower) || !PLAIN_LOCAL.test(raw.slice(0, at))) return null;
  return { email: lower === domain ? raw : `${raw.slice(0, at)}@${lower}` };
}

/** Marks at either end that show nothing and come along when an address is copied; trim() takes the blanks. */
const INVISIBLE_ENDS =
  /^[\s\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]+|[\s\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]+$/g;

function readSpelling(raw: string): EmailAddress | EmailProblem {
  if (raw.length > MAX_CHARACTERS)
    return { problem: `has ${raw.length} characters, and no address has more than ${MAX_ADDRESS}` };
  const text = unwrap(raw.replace(INVISIBLE_ENDS, ''));
  const wrong = explainShape(text);
  if (wrong !== null) return wrong;
  const at = text.lastIndexOf('@');
  const local = readLocal(text.slice(0, at));
  if (typeof local !== 'string') return local;
  const domain = readDomain(text.slice(at + 1));
  if (typeof domain !== 'string') return domain;
  const email = `${local}@${domain}`;
  const octets = Buffer.byteLength(email);
  return octets > MAX_ADDRESS
    ? { problem: `has ${octets} octets, and no address has more than ${MAX_ADDRESS}` }
    : { email };
}

/** The address inside `Name <address>`, where the name cannot be an address too; without `mailto:`. */
function unwrap(text: string): string {
  const inner = /^[^<>@]*<([^<>]*)>$/.exec(text)?.[1]?.trim() ?? text;
  return /^mailto:/i.test(inner) && !/[%?]/.test(inner) ? inner.slice('mailto:'.length).trim() : inner;
}

/** Letters of other scripts and symbols count as letters do (RFC 6531); what shows nothing does not. */
const ATOMS =
  /^(?:[\w!#$%&'*+/=?^`{|}~-]|(?![\p{C}\p{Z}])[^\0-\x7f])+(?:\.(?:[\w!#$%&'*+/=?^`{|}~-]|(?![\p{C}\p{Z}])[^\0-\x7f])+)*$/u;
const QUOTED = /^"(?:[ !#-[\]-~]|\\[ -~]|(?![\p{C}\p{Z}])[^\0-\x7f])*"$/u;

function readLocal(written: string): string | EmailProblem {
  const composed = written.normalize('NFC');
  const local = QUOTED.test(composed) ? unquote(composed) : composed;
  const octets = Buffer.byteLength(local);
  if (octets > MAX_LOCAL) return { problem: `has ${octets} octets before the "@", and ${MAX_LOCAL} are the most` };
  if (local.startsWith("'")) return explainLocal(local);
  return ATOMS.test(local) || QUOTED.test(local) ? local : explainLocal(local);
}

/** Quotes that are not needed are no part of the address (RFC 5321, 4.1.2): with and without is one recipient. */
function unquote(quoted: string): string {
  const content = quoted.slice(1, -1).replace(/\\(.)/gu, '$1');
  if (ATOMS.test(content) && !content.startsWith("'")) return content;
  return `"${content.replace(/["\\]/g, '\\$&')}"`;
}

/** ASCII characters that stand in no domain. The conversion below decodes `%41` and reads `/` as an end. */
const NO_DOMAIN = /[\0-,/:-@[-`{-\x7f]/;

function readDomain(written: string): string | EmailProblem {
  const lower = written.toLowerCase();
  if (NO_DOMAIN.test(lower)) return explainDomain(lower);
  const domain = /[^\0-\x7f]/.test(lower) ? domainToASCII(lower) : lower;
  return DOMAIN.test(domain) ? domain : explainDomain(lower, domain);
}
