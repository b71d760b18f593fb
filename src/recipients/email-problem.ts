/** Why a cell is not an email address: `problem` follows on "The address ...". */
export interface EmailProblem {
  readonly problem: string;
  readonly hint?: string;
}

/** One row per person is what everything else counts by. */
const ONE_EACH = { hint: 'Give each address a row of its own.' };

/** What can be seen from the shape alone, before the two sides of the @ are looked at; null when all may be well. */
export function explainShape(text: string): EmailProblem | null {
  if (text === '') return { problem: 'is empty' };
  const hidden = /[\p{Cc}\u2028\u2029]/u.exec(text)?.[0];
  if (hidden !== undefined) return explainControl(text, hidden);
  const bare = text.replace(/"(?:[^"\\]|\\.)*"/g, 'q');
  const signs = bare.split('@').length - 1;
  if (signs === 0) return explainNoSign(text);
  if (signs > 1) return holdsSeveral(bare) ? SEVERAL : { problem: 'has more than one "@"' };
  if (/^mailto:/i.test(text))
    return { problem: 'is a link', hint: 'Give the plain address, such as jane@example.com.' };
  if (/[<>]/.test(bare)) return { problem: 'has angle brackets', hint: 'Give the plain address, without a name.' };
  return /[,;]/.test(bare) ? explainSeparator(bare) : null;
}

const SEVERAL = { problem: 'is more than one address', ...ONE_EACH };

function explainControl(text: string, hidden: string): EmailProblem {
  const lines = text.split(/[\r\n]+/);
  if (lines.length > 1 && lines.every((line) => /^[^\s:]+@[^\s:]+$/.test(line))) return SEVERAL;
  const isLineEnd = /[\n\r\u2028\u2029]/.test(hidden);
  const what = isLineEnd ? 'a line end' : `the control character ${codeOf(hidden)}`;
  return { problem: `holds ${what}`, hint: 'It would break out of the header of the message. Remove it.' };
}

function explainNoSign(text: string): EmailProblem {
  if (/^\+?[\d\s()./-]{5,}$/.test(text)) {
    return {
      problem: 'is not an email address: it looks like a phone number',
      hint: 'Is `to` the column with the email addresses?',
    };
  }
  return { problem: 'is not an email address: it has no "@"' };
}

function holdsSeveral(bare: string): boolean {
  return bare.split(/[\s,;|/&]+/).filter((part) => part.includes('@')).length > 1;
}

function explainSeparator(bare: string): EmailProblem {
  const mark = bare.includes(';') ? ';' : ',';
  const where = bare.endsWith(mark) ? 'ends with' : 'holds';
  return { problem: `${where} "${mark}"`, hint: 'Remove it, or give each address a row of its own.' };
}

/** Why what stands before the @ is not a local part. */
export function explainLocal(local: string): EmailProblem {
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
 * Why what stands after the @ is not a domain.
 * @param lower as it was written, in lower case
 * @param ascii as it was converted; empty when it could not be
 */
export function explainDomain(lower: string, ascii = lower): EmailProblem {
  if (lower === '') return { problem: 'has nothing after the "@"' };
  if (lower.startsWith('[')) {
    return { problem: 'has an IP address for a domain', hint: 'Messages go to names of domains only.' };
  }
  if (/\s/.test(lower)) return { problem: 'has a blank after the "@"' };
  const wrong = /[\0-,/:-@[-`{-\x7f]/.exec(lower)?.[0];
  if (wrong !== undefined) return { problem: `has ${wrong === '"' ? "'\"'" : `"${wrong}"`} after the "@"` };
  const invisible = /[\p{C}\p{Z}]/u.exec(ascii === '' ? lower : ascii)?.[0];
  if (invisible !== undefined) return explainInvisible(invisible);
  if (ascii === '') return { problem: 'has a domain that cannot be one: its letters cannot stand together' };
  return explainLabels(ascii.split('.'));
}

function explainLabels(labels: readonly string[]): EmailProblem {
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

function explainInvisible(found: string): EmailProblem {
  return { problem: `holds a character that cannot be seen (${codeOf(found)})`, hint: 'Type the address again.' };
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
