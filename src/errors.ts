/** Errors, warnings and notes, in a form that people and scripts can act on. */

/** Exit statuses of the command line: what scripts and cron may rely on. */
export const EXIT = {
  done: 0,
  bug: 1,
  refused: 2,
  unsent: 3,
  inDoubt: 4,
  halted: 5,
  locked: 6,
  ledger: 7,
  missed: 8,
  hangup: 129,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitStatus = (typeof EXIT)[keyof typeof EXIT];

/**
 * Every code that a diagnostic or an error can carry, with the sentence that the reference page shows for it.
 * The set is closed: scripts match codes, while messages may improve. docs/diagnostics.md and its pages are made from it, in this order.
 */
export const CODES = {
  // Files
  'file-not-found': 'A file that is named somewhere does not exist.',
  'file-unreadable': 'A file exists, but cannot be read.',
  'file-not-regular': 'A path names a folder, device, pipe or socket where a regular file is needed.',
  'file-too-large': 'A file is larger than handbill reads.',
  'path-outside-project': 'A path leads out of the project: absolute, with `..`, or through a link.',
  'invalid-encoding': 'A file holds bytes that are not valid in its encoding.',
  // YAML
  'yaml-syntax': 'The file is not well-formed YAML 1.2.',
  'yaml-duplicate-key': 'A duplicate key in the same mapping.',
  'yaml-alias-limit': 'Aliases expand to more than handbill allows.',
  'yaml-too-deep': 'Mappings and sequences are nested deeper than handbill allows.',
  'yaml-tag': 'A tag is used that YAML 1.2 core does not know.',
  'yaml-directive': 'A `%` directive is used that changes how the file is read.',
  'yaml-several-documents': 'The file holds more than one YAML document.',
  'yaml-forbidden-key': 'A key is used that is never allowed (`__proto__`, `constructor`, `prototype`).',
  'unquoted-number': 'A phone number, sender or reference was written without quotes and lost a `+` or a zero.',
  // Campaign and project files
  'unknown-key': 'A key is not one that the schema knows.',
  'missing-key': 'A required key is absent.',
  'wrong-type': 'A value has another type than the schema asks for.',
  'invalid-value': 'A value is not one that the schema allows.',
  'not-supported':
    'A value is part of the format, but this version of handbill or the provider of the environment has no place for it.',
  'literal-key': 'A file contains the key itself. Keys come from the environment or from a private file.',
  'other-project':
    'A campaign does not belong to the project of the command, or handbill cannot tell which project you mean.',
  'unknown-environment': 'The named environment is not in handbill.yaml.',
  'invalid-base-url': 'handbill sends no key to the base URL of this environment.',
  'campaign-not-found': 'No campaign file was found where one was named.',
  'campaign-ambiguous': 'The name of a campaign may mean two files.',
  'duplicate-campaign-name': 'The name or the id of a campaign is the name or the id of another one.',
  'sent-elsewhere': 'Another environment sent this occurrence of the campaign to recipients of the list.',
  'other-provider':
    'Another environment sent this run last: the original of this stand-in, or a stand-in for this environment.',
  'former-name':
    'The ledger knows the file or the name of this campaign under another id, and the campaign file has no id.',
  'validity-past': 'The message would expire before it is sent.',
  // Recipients
  'csv-syntax': 'The list is not well-formed CSV.',
  'csv-ragged-row': 'A row has another number of fields than the header.',
  'csv-no-header': 'The list has no header row.',
  'csv-blank-header': 'A column has no name.',
  'csv-duplicate-header': 'Two columns have the same name.',
  'csv-forbidden-header': 'A column has a name that is never allowed (`__proto__`, `constructor`, `prototype`).',
  'csv-nul': 'The list holds a NUL character.',
  'csv-row-too-large': 'One row is larger than handbill reads.',
  'csv-empty-rows': 'handbill skips rows in which no field has a value.',
  'csv-empty-columns': 'handbill skips columns at the end of each row that have no name and no values.',
  'csv-no-rows': 'The list has a header but no rows.',
  'wrong-encoding':
    'The list is read in a code page, but all of it is valid UTF-8; its words have letters in an order that no word has; or it was read wrongly before it was saved (`RenÃ©e`, U+FFFD).',
  'list-too-old': 'The list was written longer ago than `recipients.maxAge` allows.',
  'list-too-short':
    'The list has fewer recipients than `limits.minRecipients` asks for, or none where the campaign goes out by its schedule.',
  'list-size-changed':
    'The list has more or fewer recipients than `limits.change` allows, against the last occurrence that was sent.',
  'blank-ends': 'Values that a message shows begin or end with blanks or characters that cannot be seen.',
  'damaged-value':
    'A message shows a word that means "no value", or a value that a spreadsheet damaged or that is still encoded.',
  'list-sampled': 'The list is missing, and handbill reads its sample instead.',
  'sample-differs': 'The sample of a list and the list have different columns.',
  'unknown-column': 'The campaign names a column that the list does not have.',
  'invalid-address': 'The channel cannot send to this address.',
  'wrong-length-number': 'A number is possible, but has another length than mobile numbers of its country.',
  'landline-number': 'A number in a list for SMS is that of a landline.',
  'special-number': 'A number is not that of a person: premium-rate, toll-free, shared-cost, a pager and the like.',
  'unusual-address': 'An email address has characters before the @ that few mail servers take, or a typing error.',
  'unassigned-number':
    'A number is possible, but not in use by the numbering plan (numbers reserved for documentation).',
  'duplicate-address': 'Two recipient keys have the same address.',
  'duplicate-differs': 'handbill skips a duplicate whose values differ from those of the row that counts.',
  'duplicate-row': 'A row names a recipient of an earlier row, and `recipients.duplicates: refuse` is set.',
  'invalid-where': 'handbill cannot apply the condition under `recipients.where` to this list.',
  'column-type': 'A cell does not have the type that `recipients.columns` gives its column.',
  'invalid-time-zone': 'A cell of the column `recipients.timeZone` does not hold an IANA time zone.',
  'invalid-rows':
    'handbill cannot send to some rows of the list, and refuses the run; the codes before it name the error in each.',
  'empty-key':
    'The column that identifies the recipient is empty in this row, or holds what a program wrote in the place of an id.',
  // Templates
  'template-syntax': 'The template is not well-formed Handlebars.',
  'template-too-large': 'The template is larger or more deeply nested than handbill allows.',
  'template-not-allowed':
    'The template uses a feature that is switched off (decorators, inline partials, raw lookups, logging).',
  'unknown-name': 'The template names something that is neither a column nor a helper.',
  'unknown-helper': 'The template calls a helper that does not exist.',
  'unknown-partial': 'The template includes a partial that does not exist.',
  'partial-cycle': 'Partials include each other in a circle.',
  'helper-arguments': 'A helper is called with the wrong arguments.',
  'missing-variable': 'The template needs a value that is empty in this row.',
  'render-error': 'The template could not be rendered for this row.',
  'column-is-helper': 'A column has the name of a block helper, so that the template cannot tell them apart.',
  'html-entity':
    'A text that is not HTML, or a value of the list, holds an HTML entity or tag, which would be sent literally.',
  'foreign-tag':
    'The template or a value of the list holds a column in the brackets of another tool, such as `{name}`, or a value of a provider file (`{secret.token}`), which would be sent literally.',
  'template-needs': 'The variables of a provider template are not those that `template.needs` names.',
  'unmet-comparison':
    'A template, a variant or `recipients.where` compares a column with a value that no recipient has.',
  'no-variant': 'Variants go by the language of recipients, and some have a language without one.',
  'test-too-small': 'The test gives a variant fewer messages than `winner.minimum`, so that no variant can win.',
  'value-in-html': 'A template inserts a value of the list as HTML, or as a whole web address, without escaping it.',
  'value-in-link': 'A value in a link is not encoded, so that the link breaks or changes.',
  'unused-column': 'No template uses this column.',
  // Content
  'empty-message': 'The message has no text in this row.',
  'not-gsm': 'The campaign sets `characterSet: gsm`, but the text has characters outside GSM-7.',
  'unicode-message': 'Characters outside GSM-7 make this message Unicode, so that it needs more parts.',
  transliterated: 'Characters were replaced to keep the message in GSM-7.',
  'too-many-parts':
    'A message has more parts than `limits.maxParts` allows (10 where it is not set), or more than 3 (a warning).',
  'would-expire':
    'More than a tenth of the messages would expire before handbill sends them, at the rate and in the windows.',
  'too-many-recipients': 'The list has more recipients than `limits.maxRecipients` allows.',
  'too-expensive': 'The plan costs more than `limits.maxCost` allows.',
  'no-price':
    '`limits.maxCost` or the `budget` of the environment sets a limit, but there is no price for this destination.',
  'over-budget': 'The plan costs more than the rest of the `budget` of the environment.',
  budget: 'How much of its `budget` the environment has spent, and how much is left.',
  'no-permanent-codes':
    '`suppressions.unreachable` is set, and the provider names no codes that mean a permanent failure.',
  'sender-format': 'The sender is not one that networks accept.',
  'sender-country': 'Networks of this country refuse or replace alphanumeric senders, or ask for their registration.',
  'link-shortener': 'The message has a link of a public shortener, which networks block.',
  'insecure-link': 'The message has a link that begins with `http:`, which networks block.',
  'cut-link': 'A link is in two parts of an SMS.',
  'odd-blanks': 'The message has a blank at its beginning or end, or two in a row.',
  capitals: 'More than half of the words of the message are in capitals.',
  'no-opt-out': 'A marketing message does not say how to opt out.',
  'content-invalid': 'The content has a part that its channel does not know, or lacks one that it needs.',
  'content-limit': 'A part of the content is longer or more than its channel allows.',
  'content-advice': 'The content can be sent, but will not look or sound as intended, or costs more than it needs to.',
  // Command line and git
  usage: 'handbill does not understand the command line.',
  'git-unavailable': 'git is not installed, cannot be run, or the folder is not in the work tree of a repository.',
  'unknown-revision': 'git knows no such revision in this clone, or lacks its files.',
  'output-exists': 'handbill cannot write the output there.',
  'runtime-too-old': 'This Node.js is older than handbill needs.',
  'other-build': 'The files in schemas/ are not those that this handbill was built with.',
  // API key and connections
  'missing-api-key': 'The API key is not where the environment says.',
  'invalid-api-key': 'The API key has characters that are not allowed in a header.',
  'key-file-permissions': 'Other users can read the file that holds the API key.',
  'env-file': 'The file .env sets more than secrets, or git tracks it.',
  'tls-verification-off': 'The verification of certificates is switched off in this environment.',
  'unasked-answer': 'The API sent an answer that no request was waiting for.',
  mismatch: 'The API gives each message the same id, or names another recipient than the request.',
  'connection-limit':
    'handbill can open fewer connections than `concurrency` asks for, or each request needs a new one.',
  // Plans and approval
  'plan-invalid': 'This version of handbill did not write the plan file.',
  'not-approved': 'The environment accepts approved plans only, and this plan lacks signatures.',
  'approval-ends': 'A standing approval ends within a week, or has ended.',
  'commit-refused': 'The environment accepts only other commits, or only committed files (`git` in handbill.yaml).',
  'signing-failed': 'handbill could not sign a plan, or could not check its signatures.',
  // Runs that may not start
  'input-changed': 'An input changed since the plan was made or since the run began.',
  'identity-changed': 'What identifies a recipient changed, so that earlier recipients would look new.',
  'occurrence-similar':
    'The name of a new occurrence differs from one that was used before only in case or in the width of characters.',
  'schedule-new': 'handbill skips a scheduled time that is before the schedule was first seen.',
  'not-confirmed': 'No one confirmed the command.',
  interrupted: 'The command was told to stop before it had sent anything.',
  'too-late': 'The run, or its scheduled time, is more than 24 hours old, or the latest time of a message has passed.',
  clock: 'The clock of this machine is before the newest entry of the ledger.',
  locked: 'Another process holds this run.',
  fence: 'The environment sends only to some addresses (`only`, `redirect`), or handbill cannot use these.',
  paused: 'A person has paused the environment or the campaign: nothing is sent there until it is resumed.',
  // Runs and their recipients
  'run-not-found': 'The ledger holds no such run.',
  'run-ambiguous': 'More than one run of the ledger has this name.',
  'run-closed': 'A person closed this run, and it sends nothing more.',
  'run-open': 'A run could still send: to a person who is to be erased, or beside a newer run of the campaign.',
  'run-purged': 'handbill purged the personal data of this run, and no longer knows its recipients.',
  'follow-up-list': 'The list of a follow-up has less than half of the recipients of the campaign before.',
  'address-changed': 'The list has a new address for recipients whose message went to an old one.',
  'zone-unknown':
    'Recipients wait for their window, but handbill does not know their time zone: no later start sends to them by itself.',
  'not-in-doubt': 'The command names a recipient who is not in doubt.',
  // Suppression lists
  'invalid-suppression': 'handbill cannot read a row or the header of a suppression list.',
  'missing-suppression-key': 'A suppression list holds keyed hashes, but their key is not there.',
  'invalid-suppression-key': 'The key of the hashes in suppression lists is too short.',
  'other-suppression-key': 'Hashes of a suppression list were made with another key.',
  // Webhooks
  'missing-webhook-secret': 'A secret of webhooks is not where handbill.yaml says.',
  'invalid-webhook-secret': 'A secret of webhooks is not one that its scheme can use.',
  'weak-webhook':
    'Webhooks are protected less than they could be: by a short secret, one in the URL, one of two environments, or an address that other machines reach.',
  'unclear-environment': 'handbill does not know which environment delivery reports and replies belong to.',
  'invalid-reports': 'handbill cannot read a file of delivery reports and replies, or a part of it.',
  'fetch-failed': 'Reports and replies could not all be fetched from the API.',
  'reports-stale': 'Reports and replies were not fetched for more than a day, and a new occurrence would begin.',
  'unassigned-opt-out': 'An opt-out names no address and no message that handbill knows: no recipient is suppressed.',
  'unread-event': 'handbill recognises an event neither as a delivery report nor as a reply.',
  // Ledger
  'ledger-unusable': 'The ledger cannot be opened or is not a ledger.',
  'ledger-write': 'handbill could not write to the ledger.',
  'second-ledger':
    'The command would use a ledger that does not know the recipients of another ledger of this project.',
  'ledger-missing': 'This project has sent before, but its ledger is gone.',
  'ledger-taken-over': 'Another server took over the shared ledger, and may lack the last messages that were sent.',
  'ledger-replaced': 'The ledger was removed or replaced while a command was using it.',
  'ledger-permissions': 'Others can write to the ledger, or it is a link.',
  'ledger-filesystem': 'The ledger lies on a network file system, where locks cannot be trusted.',
  bug: 'Something happened that handbill does not expect. Please report it.',
} as const satisfies Record<string, string>;

export type Code = keyof typeof CODES;

/** Sums up the errors before it: it is always shown, and not counted as one more. */
export const SUMMARY_CODE: Code = 'invalid-rows';

/** A place in a file: lines and columns count from 1, columns in UTF-16 units as editors do. */
export interface Position {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  /** How many characters the caret marks; 1 when absent. */
  readonly length?: number;
}

/** Text with the place where it was written, so that an error in it can point there. */
export interface SourceText {
  readonly text: string;
  readonly file: string;
  /** Line and column of the first character; 1 and 1 where the file is the text. */
  readonly line: number;
  readonly column: number;
}

/** One thing that is wrong with what the user wrote, or worth knowing about it. */
export interface Diagnostic {
  readonly code: Code;
  /** A note says what is worth knowing although nothing is wrong. */
  readonly severity: 'error' | 'warning' | 'note';
  /** One sentence, without the place. */
  readonly message: string;
  readonly at?: Position | undefined;
  /** How to go on. */
  readonly hint?: string | undefined;
  /** The line of the file, unchanged, for the caret. */
  readonly source?: string | undefined;
}

/** An error that handbill expects: printed as its diagnostics, never as a stack trace. */
export class HandbillError extends Error {
  override readonly name = 'HandbillError';
  readonly code: Code;
  readonly exit: ExitStatus;
  readonly diagnostics: readonly Diagnostic[];
  /** How many errors there were when the list of diagnostics was cut short. */
  readonly total: number;

  constructor(exit: ExitStatus, diagnostics: readonly Diagnostic[], total = diagnostics.length) {
    super(diagnostics[0]?.message ?? 'Something went wrong.');
    this.exit = exit;
    this.code = diagnostics[0]?.code ?? 'bug';
    this.diagnostics = diagnostics;
    this.total = total;
  }
}

/** Refuses before any request: everything that is wrong, at once. Exit status 2. */
export function refuse(...diagnostics: readonly Diagnostic[]): HandbillError {
  return new HandbillError(EXIT.refused, diagnostics);
}

/** For a sentence: anything can be thrown, by Node.js and by packages. */
export function thrownText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** An error diagnostic, in one line. */
export function problem(
  code: Code,
  message: string,
  rest: Partial<Omit<Diagnostic, 'code' | 'message'>> = {},
): Diagnostic {
  return { code, severity: 'error', message, ...rest };
}

export function warning(
  code: Code,
  message: string,
  rest: Partial<Omit<Diagnostic, 'code' | 'message'>> = {},
): Diagnostic {
  return { code, severity: 'warning', message, ...rest };
}
