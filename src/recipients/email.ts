import { domainToASCII, domainToUnicode } from 'node:url';
import { trimBlanks } from '../util/cell.ts';
import { codePointOf } from '../util/escape.ts';
import type { Address, AddressProblem } from './phone.ts';

/** RFC 5321, 4.5.3.1.1 and 4.5.3.1.3 (a path of 256 octets holds its two angle brackets), in octets. */
const MAX_LOCAL = 64;
const MAX_ADDRESS = 254;
/** Bounds the expressions below: longer cells are refused first. */
const MAX_CHARACTERS = 1000;

/**
 * Reads email addresses as people write them (RFC 5321, 5322 and 6531). Keeps tags (`+x`) and dots, whose meaning only
 * the receiving server knows. Removes `mailto:` and a name in front, as in `Jane <jane@example.com>`. The local part stays as
 * written (case counts there, RFC 5321, 2.4), the domain is in lower case and in ASCII.
 */
export function readEmail(raw: string): Address | AddressProblem {
  return readPlain(raw) ?? readSpelling(raw);
}

const PLAIN_LOCAL = /^[\w!#$%&*+/=?^`{|}~-][\w!#$%&'*+/=?^`{|}~-]*(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const DOMAIN = new RegExp(`^(?:${LABEL}\\.)+(?![0-9]+$)${LABEL}$`);

/** Plain ASCII without a blank, the usual case; null: check further. */
function readPlain(raw: string): Address | null {
  const at = raw.indexOf('@');
  if (at < 1 || at > MAX_LOCAL || raw.length > MAX_ADDRESS) return null;
  const domain = raw.slice(at + 1);
  const lower = domain.toLowerCase();
  if (!DOMAIN.test(lower) || lower.includes('xn--') || !PLAIN_LOCAL.test(raw.slice(0, at))) return null;
  return addressOf(lower === domain ? raw : `${raw.slice(0, at)}@${lower}`);
}

function addressOf(email: string): Address {
  return { to: email, country: null, assigned: true };
}

function readSpelling(raw: string): Address | AddressProblem {
  if (raw.length > MAX_CHARACTERS)
    return { problem: `has ${raw.length} characters, and no address has more than ${MAX_ADDRESS}` };
  const cell = trimBlanks(raw);
  // The address inside `Name <address>`, where the name cannot be an address too, or in quotes; without `mailto:`.
  const inner = (/^[^<>@]*<([^<>]*)>$/.exec(cell) ?? /^["“”]([^"“”]+@[^"“”]+)["“”]$/.exec(cell))?.[1]?.trim() ?? cell;
  const text = /^mailto:/i.test(inner) && !/[%?]/.test(inner) ? inner.slice('mailto:'.length).trim() : inner;
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
    : addressOf(email);
}

/** Letters of other scripts and symbols count as letters (RFC 6531); invisible characters do not. */
const ATOMS =
  /^(?:[\w!#$%&'*+/=?^`{|}~-]|(?![\p{C}\p{Z}])[^\0-\x7f])+(?:\.(?:[\w!#$%&'*+/=?^`{|}~-]|(?![\p{C}\p{Z}])[^\0-\x7f])+)*$/u;
const QUOTED = /^"(?:[ !#-[\]-~]|\\[ -~]|(?![\p{C}\p{Z}])[^\0-\x7f])*"$/u;

function readLocal(written: string): string | AddressProblem {
  const composed = written.normalize('NFC');
  // Unnecessary quotes are not part of the address (RFC 5321, 4.1.2).
  const content = composed.slice(1, -1).replace(/\\(.)/gu, '$1');
  const isBare = ATOMS.test(content) && !content.startsWith("'");
  const unquoted = isBare ? content : `"${content.replace(/["\\]/g, '\\$&')}"`;
  const local = QUOTED.test(composed) ? unquoted : composed;
  const octets = Buffer.byteLength(local);
  if (octets > MAX_LOCAL) return { problem: `has ${octets} octets before the "@", and ${MAX_LOCAL} are the most` };
  if (local.startsWith("'")) return explainLocal(local);
  return ATOMS.test(local) || QUOTED.test(local) ? local : explainLocal(local);
}

/** ASCII characters that a domain must not have: the conversion below decodes `%41` and reads `/` as an end. */
const NO_DOMAIN = /[\0-,/:-@[-`{-\x7f]/;

function readDomain(written: string): string | AddressProblem {
  const lower = written.toLowerCase();
  if (NO_DOMAIN.test(lower)) return explainDomain(lower);
  const domain = /[^\0-\x7f]/.test(lower) ? domainToASCII(lower) : lower;
  // Such a label encodes a name; one that encodes none stays unchanged.
  const isEncoded = (label: string): boolean => !label.startsWith('xn--') || !domainToUnicode(label).startsWith('xn--');
  if (!domain.split('.').every(isEncoded)) return { problem: 'has a domain with "xn--" and no encoded name after it' };
  return DOMAIN.test(domain) ? domain : explainDomain(lower, domain);
}

/** Quotation marks and dashes that word processors put in place of `'` and `-`. */
const TYPED_SIGNS = /[\p{Pi}\p{Pf}‚„′´ʹʻʼʽˈ＇…]|(?!-)\p{Pd}/u;
const OTHER_SCRIPT = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u;

/**
 * Why an address is probably a mistake or hard to deliver to: letters that only look Latin, characters other than ASCII
 * before the `@` (RFC 6531). `problem` follows on "The address"; null: no doubt.
 */
export function doubtAboutEmail(email: string): AddressProblem | null {
  const at = email.lastIndexOf('@');
  const local = email.slice(0, at);
  const labels = email.includes('xn--', at) ? domainToUnicode(email.slice(at + 1)).split('.') : [];
  const mixed = [local, ...labels].find((part) => /\p{Script=Latin}/u.test(part) && OTHER_SCRIPT.test(part));
  const first = /[^\0-\x7f]/u.exec(local)?.[0];
  const sign = TYPED_SIGNS.exec(local)?.[0];
  if (sign !== undefined) {
    const was = /\p{Pd}|…/u.test(sign) ? 'a hyphen or dots' : 'an apostrophe';
    const problem = `has ${sign} (${codePointOf(sign)}) before the "@", where a word processor may have changed ${was}`;
    return { problem, hint: `Type the address again, with ${was === 'an apostrophe' ? "'" : '- or .'} or without it.` };
  }
  if (mixed !== undefined) {
    const foreign = OTHER_SCRIPT.exec(mixed)?.[0] ?? '';
    const where = mixed === local ? 'before the "@"' : 'in a name of its domain';
    const problem = `mixes letters of two alphabets ${where}: ${foreign} (${codePointOf(foreign)}) only looks like a Latin one`;
    return { problem, hint: 'Type the address again.' };
  }
  if (first === undefined) return null;
  const problem = `has ${first} (${codePointOf(first)}) before the "@", and only mail servers with SMTPUTF8 take that`;
  return { problem, hint: 'Check it with the person, or ask for another address.' };
}

const ONE_EACH = { hint: 'Give each address its own row.' };

function explainShape(text: string): AddressProblem | null {
  if (text === '') return { problem: 'is empty' };
  const hidden = /[\p{Cc}\u2028\u2029]/u.exec(text)?.[0];
  if (hidden !== undefined) return explainControl(text, hidden);
  const bare = text.replace(/"(?:[^"\\]|\\.)*"/g, 'q');
  const signs = bare.split('@').length - 1;
  if (signs === 0) return explainNoSign(text);
  if (signs > 1) {
    const isSeveral = bare.split(/[\s,;|/&]+/).filter((part) => part.includes('@')).length > 1;
    return isSeveral ? SEVERAL : { problem: 'has more than one "@"' };
  }
  if (/^mailto:/i.test(text))
    return { problem: 'is a link', hint: 'Give the plain address, such as jane@example.com.' };
  if (/[<>]/.test(bare)) return { problem: 'has angle brackets', hint: 'Give the plain address, without a name.' };
  if (!/[,;]/.test(bare)) return null;
  const mark = bare.includes(';') ? ';' : ',';
  const where = bare.endsWith(mark) ? 'ends with' : 'holds';
  return { problem: `${where} "${mark}"`, hint: 'Remove it, or give each address its own row.' };
}

const SEVERAL = { problem: 'is more than one address', ...ONE_EACH };

function explainControl(text: string, hidden: string): AddressProblem {
  const lines = text.split(/[\r\n]+/);
  if (lines.length > 1 && lines.every((line) => /^[^\s:]+@[^\s:]+$/.test(line))) return SEVERAL;
  const isLineEnd = /[\n\r\u2028\u2029]/.test(hidden);
  const what = isLineEnd ? 'a line end' : `the control character ${codePointOf(hidden)}`;
  return { problem: `holds ${what}`, hint: 'It would break out of the header of the message. Remove it.' };
}

function explainNoSign(text: string): AddressProblem {
  if (/^\+?[\d\s()./-]{5,}$/.test(text)) {
    return {
      problem: 'is not an email address: it looks like a phone number',
      hint: 'Is `to` the column with the email addresses?',
    };
  }
  return { problem: 'is not an email address: it has no "@"' };
}

function explainLocal(local: string): AddressProblem {
  if (local === '') return { problem: 'has nothing before the "@"' };
  if (local.startsWith("'")) {
    return {
      problem: 'begins with an apostrophe',
      hint: 'A spreadsheet may have put it there to mark text. Remove it.',
    };
  }
  if (/^\.|\.\.|\.$/.test(local)) return { problem: 'has a dot too many before the "@"' };
  const invisible = /(?! )[\p{C}\p{Z}]/u.exec(local)?.[0];
  if (invisible !== undefined) return explainInvisible(invisible);
  if (/\s/.test(local)) return { problem: 'has a blank before the "@"' };
  const wrong = /["(),:;<>@[\\\]]/.exec(local)?.[0];
  return {
    problem:
      wrong === undefined ? 'is not an email address' : `has ${wrong === '"' ? "'\"'" : `"${wrong}"`} before the "@"`,
  };
}

/**
 * @param lower as written, in lower case
 * @param ascii converted; empty if that failed
 */
function explainDomain(lower: string, ascii = lower): AddressProblem {
  if (lower === '') return { problem: 'has nothing after the "@"' };
  if (lower.startsWith('[')) {
    return { problem: 'has an IP address for a domain', hint: 'Messages go to names of domains only.' };
  }
  if (/\s/.test(lower)) return { problem: 'has a blank after the "@"' };
  const wrong = /[\0-,/:-@[-`{-\x7f]/.exec(lower)?.[0];
  if (wrong !== undefined) return { problem: `has ${wrong === '"' ? "'\"'" : `"${wrong}"`} after the "@"` };
  const invisible = /[\p{C}\p{Z}]/u.exec(ascii === '' ? lower : ascii)?.[0];
  if (invisible !== undefined) return explainInvisible(invisible);
  if (ascii === '') return { problem: 'has a domain that cannot be one: its letters cannot be combined' };
  return explainLabels(ascii.split('.'));
}

function explainLabels(labels: readonly string[]): AddressProblem {
  if (labels.at(-1) === '' && labels.length > 1) return { problem: 'ends with a dot', hint: 'Remove it.' };
  if (labels.includes('')) return { problem: 'has a dot too many after the "@"' };
  const long = labels.find((label) => label.length > 63);
  if (long !== undefined) {
    return { problem: `has ${long.length} characters between two dots of its domain, and 63 are the most` };
  }
  const hyphen = labels.find((label) => label.startsWith('-') || label.endsWith('-'));
  if (hyphen !== undefined) return { problem: 'has a hyphen next to a dot, or at an end of its domain' };
  if (labels.length === 1) return { problem: 'has no ending such as ".com"' };
  return { problem: 'has a domain that ends in a number' };
}

function explainInvisible(found: string): AddressProblem {
  return { problem: `holds a character that cannot be seen (${codePointOf(found)})`, hint: 'Type the address again.' };
}
