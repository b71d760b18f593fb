/** The id of a contact in the provider's address book. */
export interface ContactId {
  readonly contact: string;
}

/** Why a cell is not the id of a contact: `problem` follows on "The contact id ...". */
export interface ContactProblem {
  readonly problem: string;
  readonly hint?: string;
}

/** The API's document sets no limit; ids in use are numbers, UUIDs (36) and ObjectIds (24). */
const MAX_CHARACTERS = 200;

/** Control characters, line separators and halves of surrogate pairs: JSON could carry them, no id has them. */
const FORBIDDEN = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

/** What Excel makes of a long number; an id such as `4e10` is something else. */
const SCIENTIFIC = /^\d[.,]\d+E\+\d+$/;

/** Reads the id of a contact: trimmed and in Unicode's composed form, else as it stands. It is the provider's. */
export function readContact(raw: string): ContactId | ContactProblem {
  const contact = raw.trim().normalize('NFC');
  if (contact === '') return { problem: 'is empty' };
  if (contact.length > MAX_CHARACTERS) {
    return { problem: `has ${contact.length} characters, and ${MAX_CHARACTERS} are the most` };
  }
  if (FORBIDDEN.test(contact)) {
    return { problem: 'holds a line end or another control character', hint: 'Give each contact a row of its own.' };
  }
  if (SCIENTIFIC.test(contact)) {
    const hint = 'Give the column the format "Text" in the spreadsheet, enter the ids again and save.';
    return { problem: 'is in scientific notation: a spreadsheet turned it into a number', hint };
  }
  return { contact };
}
