import { hostname, userInfo } from 'node:os';
import { resolve } from 'node:path';
import { type Diagnostic, EXIT, HandbillError, type Position, problem, refuse } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { DoubtRow, DoubtVerdict, RunRecord } from '../ledger/records.ts';
import type { DoubtsDoubt as Doubt } from '../model/result-types.ts';
import type { Campaign, Outcome, Report, StepOutcome } from '../model.ts';
import { createReferences } from '../plan/expand.ts';
import { lateAtOf } from '../plan/gate.ts';
import { unspelled } from '../providers/reference.ts';
import { type AddressReader, createPhoneReader } from '../recipients/phone.ts';
import { countOf } from '../report/words.ts';
import { closedProblem, isLate, isTooLate, refusePurged } from '../send/prepare.ts';
import { locked, lockRun } from '../send/run-lock.ts';
import { summarise } from '../send/summary.ts';
import { listedForm, spellingsOf } from '../util/address-form.ts';
import { nextCommand } from '../util/next-command.ts';
import { mask } from '../util/redact.ts';
import { iso, utcText } from '../util/time.ts';
import {
  type Confirm,
  checkNumbers,
  type OptionsOf,
  type OptionTable,
  type ProjectOptions,
  type ResolvedOptions,
  requireYes,
  withDefaults,
} from './options.ts';
import { countryOf, ledgerHere, projectHere, withLedger } from './project.ts';
import { findRun, meantBy, nameInLedger, nameOfRun, readSent, referencesOf, takesPlans } from './report.ts';

export const RESOLVE_DOUBTS = {
  acceptDuplicates: {
    flag: '--accept-duplicates',
    says: 'with --resend: recipients who got the first message get a second one',
    more: 'Must be true with `resend`.',
  },
  lines: {
    flag: '--line <n...>',
    says: 'who: first lines of rows, as the list shows them',
    range: [1, 1e9, 'whole'],
    without: 'none',
  },
  all: { flag: '--all', says: 'who: all recipients in doubt in this run' },
  messageId: {
    flag: '--message-id <id>',
    says: 'the id that the API gave out; for one recipient',
    more: 'The verdict is `accepted` with it.',
    without: 'not known',
  },
  note: { flag: '--note <text>', says: 'why, for the history', without: 'nothing' },
} as const satisfies OptionTable;

/** Recipients in doubt, and what happened to their message. */
export interface ResolveDoubtsOptions extends ProjectOptions, OptionsOf<typeof RESOLVE_DOUBTS> {
  readonly verdict: DoubtVerdict;
  /** Keys, references or addresses of recipients. Default: none. */
  readonly names?: readonly string[];
  /** The person who resolves the doubts, such as `ann@ops-1`. */
  readonly by: string;
  /** Asked before anything is changed; refused (exit 2, `not-confirmed`) if the answer is no. Default: no. */
  readonly confirm?: Confirm<ResolveDoubtsQuestion>;
}

export interface ResolveDoubtsQuestion {
  readonly verdict: DoubtVerdict;
  readonly doubts: readonly Doubt[];
}

export interface ResolveDoubtsResult {
  /** Empty with `all` if no recipient is in doubt. */
  readonly resolved: readonly Doubt[];
  /** After the change. */
  readonly report: Report;
}

/**
 * `handbill doubt resolve`: records what happened to the message of recipients in doubt, for all who are named or for
 * none. Who recorded it, when and why is kept permanently.
 *
 * @param run - id of the run, or name of a campaign that has one run only
 * @throws HandbillError exit 2 (refused, nothing was changed), 6 (another process holds this run), 7 (ledger)
 */
export async function resolveDoubts(run: string, options: ResolveDoubtsOptions): Promise<ResolveDoubtsResult> {
  const names = (options.names ?? []).map((name) => ({ name }));
  const { resolved, report } = await recordVerdict(run, { ...options, names });
  return { resolved, report };
}

/** In a command, a name may have a position in its file. */
type Asked = Omit<ResolveDoubtsOptions, 'names'> & { readonly names?: readonly Named[] };

export interface RecordedVerdict extends ResolveDoubtsResult {
  readonly run: RunRecord;
  readonly root: string;
  /** The run can only be continued with an approved plan. */
  readonly takesPlans: boolean;
  /** The run can only be continued with `--allow too-late`. */
  readonly isTooLate: boolean;
}

export async function recordVerdict(named: string, given: Asked): Promise<RecordedVerdict> {
  for (const line of given.lines ?? []) checkNumbers({ lines: line }, RESOLVE_DOUBTS);
  const options = withDefaults(given);
  refuseUsage(options);
  const { now } = options;
  const { names = [], lines = [], all = false } = options;
  const { run, doubts, campaign, reading } = await withLedger(options, async (ledger, reading) => {
    const run = oneRun(ledger, (await nameInLedger(named, ledger, reading)) ?? named);
    refusePurged(run);
    if (run.closedAtMs !== null && options.verdict === 'resend') throw refuse(closedProblem(run));
    // Checked before the selection, because recipients in flight are not in doubt yet.
    if (ledger.isHeld(run)) throw locked(ledger, run);
    const phone = createPhoneReader(countryOf(reading));
    const doubts = selectDoubts(ledger, run, { names, lines, all }, phone);
    // As the next start would read it; null: it cannot be read.
    const { root } = reading.project;
    const given = run.inputs.find(({ role }) => role === 'recipients')?.given;
    const list = given === undefined ? {} : { recipients: resolve(root, given) };
    const { cwd, env } = options;
    const campaign = (await readSent(run, root, { cwd, env, withoutList: true, ...list }))?.campaign ?? null;
    if (options.verdict === 'resend') refuseSentTo(ledger, run, doubts);
    if (options.verdict === 'resend' && campaign !== null) refuseLate(doubts, run, campaign, now());
    return { run, doubts, campaign, reading };
  });
  const referenceOf = referencesOf(run, reading.project);
  const resolved = doubts.map((doubt) => toDoubt(run, doubt, referenceOf));
  if (options.messageId !== undefined && doubts.length !== 1) {
    const message = '--message-id belongs to one recipient, but the command names several or none.';
    throw refuse(problem('usage', message, { hint: 'Resolve them one by one.' }));
  }
  if (doubts.length > 0) {
    const question = { verdict: options.verdict, doubts: resolved };
    await requireYes(options.confirm, question, 'Nothing was resolved');
    using held = lockRun(reading.project, run, now());
    record(held.ledger, run, doubts, options);
  }
  using ledger = ledgerHere(reading, options);
  const ended = ledger.findRun(run) ?? run;
  const { root } = reading.project;
  return {
    resolved,
    run: ended,
    report: summarise(ledger, ended),
    root,
    takesPlans: takesPlans(run, reading.project),
    // If the campaign cannot be read, by the age of the run alone.
    isTooLate: campaign === null ? isLate(ended, now()) : await isTooLate({ ledger, campaign, nowMs: now() }, ended),
  };
}

/** The next start would skip them as expired, as if the API could not have the first message. Throws exit 2. */
function refuseLate(doubts: readonly DoubtRow[], run: RunRecord, campaign: Campaign, nowMs: number): void {
  const lateAt = lateAtOf({ campaign }, run.startedAtMs ?? nowMs);
  const late = doubts.filter(({ key }) => nowMs >= lateAt(key));
  const [first] = late;
  if (first === undefined) return;
  const who = `${countOf(late.length, 'recipient')}, the first in line ${first.line}`;
  const message = `It is too late to send again to ${who}: the message could go out until ${utcText(lateAt(first.key))}.`;
  const hint =
    'Nothing was changed. Enter what became of the message, --as accepted or --as rejected, or leave the doubt.';
  throw refuse(problem('too-late', message, { at: { file: campaign.file }, hint }));
}

/** Where the list has again an address that got an earlier message, no second one goes there. Throws exit 2. */
function refuseSentTo(ledger: Ledger, run: RunRecord, doubts: readonly DoubtRow[]): void {
  const again = new Set(ledger.changed(run).flatMap(({ key, sentBefore }) => (sentBefore ? [key] : [])));
  const wrong = doubts.filter(({ key, resend }) => (resend ?? 0) > 0 && again.has(key));
  const [first] = wrong;
  if (first === undefined) return;
  const who = `${countOf(wrong.length, 'recipient')}, the first in line ${first.line}`;
  const message = `The list again has an address that got an earlier message. handbill sends no second message to ${who}.`;
  const hint =
    'Nothing was changed. Correct the list, or enter what became of the message: --as accepted or --as rejected.';
  throw refuse(problem('not-in-doubt', message, { hint }));
}

function record(ledger: Ledger, run: RunRecord, doubts: readonly DoubtRow[], options: Asked & ResolvedOptions): void {
  const { missed } = ledger.resolve(run, doubts, {
    verdict: options.verdict,
    messageId: options.messageId ?? null,
    who: options.by,
    note: options.note ?? null,
    nowMs: options.now(),
  });
  if (missed.length === 0) return;
  const lines = missed.map(({ line }) => line);
  const which = `${lines.slice(0, 20).join(', ')}${lines.length > 20 ? ' ...' : ''}`;
  const message = `Something happened meanwhile to ${lines.length} of them (line ${which}).`;
  const hint = `Nothing was changed. Look again with \`${nextCommand('doubt', 'list')}\`.`;
  throw refuse(problem('not-in-doubt', message, { hint }));
}

/** Changes to a run cannot be undone, so a name that several runs have is refused instead of taking the newest. */
export function oneRun(ledger: Ledger, named: string): RunRecord {
  const found = runsNamed(ledger, named);
  const run = found.find(({ id }) => id === named) ?? found[0];
  if (run !== undefined && (found.length === 1 || run.id === named)) return run;
  const ids = found.slice(0, 10).map(({ id, environment, occurrence }) => `${id} (${environment}, ${occurrence})`);
  const hint = `Name one of them: ${ids.join(', ')}${found.length > 10 ? ' ...' : ''}`;
  throw refuse(problem('run-ambiguous', `The campaign "${named}" has ${found.length} runs.`, { hint }));
}

function refuseUsage(options: Asked): void {
  const { names = [], lines = [], all = false, verdict, messageId, note, by } = options;
  const some = names.length + lines.length > 0;
  const wrong: Diagnostic[] = [];
  if (!some && !all) {
    const hint = 'Name them with --line, --key or --from FILE, or say --all.';
    wrong.push(problem('usage', 'No recipient is named.', { hint }));
  }
  if (some && all) wrong.push(problem('usage', '--all is all of them: name no recipient beside it.'));
  if (verdict === 'resend' && options.acceptDuplicates !== true) {
    const hint = 'Add --accept-duplicates if a second message does less harm than none.';
    wrong.push(problem('usage', 'Recipients who got the first message would get a second one.', { hint }));
  }
  if (verdict !== 'resend' && options.acceptDuplicates === true) {
    wrong.push(problem('usage', '--accept-duplicates belongs to --resend: nothing is sent otherwise.'));
  }
  if (messageId !== undefined && verdict !== 'accepted') {
    wrong.push(problem('usage', '--message-id belongs to --as accepted: the API gives an id to what it took.'));
  }
  // A note is kept permanently, so it must not be empty, and must be short enough to be shown.
  for (const [option, text] of Object.entries({ '--message-id': messageId, '--note': note, '--by': by })) {
    if (text?.trim() === '') wrong.push(problem('usage', `${option} is empty.`));
    else if ((text ?? '').length > LONGEST_TEXT)
      wrong.push(problem('usage', `${option} is longer than ${LONGEST_TEXT} characters.`));
  }
  if (wrong.length > 0) throw refuse(...wrong);
}

const LONGEST_TEXT = 1000;

/** A recipient as the user names them: by key, by handbill's reference, or by address. */
export interface Named {
  readonly name: string;
  /** Where the name was read, if in a file. */
  readonly at?: Position;
}

/** @throws HandbillError exit 2 (`not-in-doubt`) with all recipients who were named and are not in doubt */
function selectDoubts(
  ledger: Ledger,
  run: RunRecord,
  wanted: Required<Pick<Asked, 'names' | 'lines' | 'all'>>,
  phone: AddressReader,
): readonly DoubtRow[] {
  const doubts = [...ledger.doubts(run)].flat();
  if (wanted.all) return doubts;
  const find = finder(doubts, run, phone);
  const byLine = new Map(doubts.map((doubt) => [doubt.line, doubt]));
  const chosen = new Set<DoubtRow>();
  const unknown: Unknown[] = [];
  const twice: Diagnostic[] = [];
  for (const line of wanted.lines) {
    const doubt = byLine.get(line);
    if (doubt === undefined) unknown.push({ line });
    else chosen.add(doubt);
  }
  for (const named of wanted.names) {
    const found = [...find(named.name)];
    if (found.length > 1) twice.push(ambiguous(named, found));
    const [doubt] = found;
    if (doubt === undefined) unknown.push(named);
    else chosen.add(doubt);
  }
  if (unknown.length + twice.length > 0) {
    const shown = unknown.slice(0, EXPLAINED);
    const wrong = [...twice, ...explain(ledger, run, shown, phone)];
    const [first] = wrong;
    if (first !== undefined && chosen.size > 0) {
      const said = 'Nothing was recorded for any of those who were chosen.';
      wrong[0] = { ...first, hint: [first.hint ?? [], said].flat().join(' ') };
    }
    throw new HandbillError(EXIT.refused, wrong, unknown.length + twice.length);
  }
  return doubts.filter((doubt) => chosen.has(doubt));
}

type Unknown = Named | { readonly line: number };

/** Limit of recipients not in doubt whose outcome is reported: that takes a scan of the whole list. */
const EXPLAINED = 1000;

/**
 * By key and reference first, then by address, a number in any notation: all mean the channel step in doubt. The
 * reference may be spelled in letters and digits, as a provider shows it.
 */
function finder(doubts: readonly DoubtRow[], run: RunRecord, phone: AddressReader) {
  const referenceOf = createReferences(run);
  const exact = new Map<string, Set<DoubtRow>>();
  const byAddress = new Map<string, Set<DoubtRow>>();
  const add = (map: typeof exact, name: string, doubt: DoubtRow) =>
    map.set(name, (map.get(name) ?? new Set()).add(doubt));
  for (const doubt of doubts) {
    add(exact, doubt.key, doubt);
    add(exact, referenceOf(doubt.key, doubt.channel, doubt.resend), doubt);
    if (doubt.to !== null) add(byAddress, listedForm(doubt.to), doubt);
  }
  return (name: string): ReadonlySet<DoubtRow> => {
    const found = exact.get(name) ?? byAddress.get(listedForm(name));
    if (found !== undefined) return found;
    const number = phone(name);
    const form = 'to' in number ? listedForm(number.to) : null;
    const byNumber = form === null ? undefined : (exact.get(form) ?? byAddress.get(form));
    return byNumber ?? exact.get(unspelled(name)) ?? new Set();
  };
}

function ambiguous(named: Named, found: readonly DoubtRow[]): Diagnostic {
  const lines = found.map(({ line }) => line).join(', ');
  const message = `${shownName(named.name)} is the address of several recipients (lines ${lines}).`;
  const hint = 'Choose with --line, or name their keys or references.';
  return problem('not-in-doubt', message, { at: named.at, hint });
}

/** Scans the whole list once, and holds none of it in memory. */
function explain(ledger: Ledger, run: RunRecord, unknown: readonly Unknown[], phone: AddressReader) {
  if (unknown.length === 0) return [];
  const referenceOf = createReferences(run);
  const forms = unknown.map((one): readonly string[] => {
    if ('line' in one) return [];
    const { name } = one;
    const number = phone(name);
    return [name, listedForm(name), ...('to' in number ? spellingsOf(number.to) : []), unspelled(name)];
  });
  const people = new Map<string | number, Person | null>([
    ...forms.flat().map((form) => [form, null] as const),
    ...unknown.flatMap((one) => ('line' in one ? [[one.line, null] as const] : [])),
  ]);
  const note = (form: string | number | null, outcome: Outcome, step: StepOutcome): void => {
    // The first row with an address counts; later ones are duplicates.
    if (form !== null && people.get(form) === null) people.set(form, { outcome, step });
  };
  for (const batch of ledger.outcomes(run)) {
    for (const outcome of batch) {
      const { line, key, to } = outcome;
      for (const form of [line, key, to && listedForm(to)]) note(form, outcome, outcome);
      if (key === null) continue;
      for (const step of outcome.steps ?? [outcome]) note(referenceOf(key, step.channel, step.resend), outcome, step);
    }
  }
  return unknown.map((one, index) => {
    const names: readonly (string | number)[] = 'line' in one ? [one.line] : (forms[index] ?? []);
    const person = names.map((name) => people.get(name) ?? null).find((found) => found !== null);
    return notInDoubt(one, person ?? null);
  });
}

/** A recipient of the list, and the channel step that was named: the last one, or that of a reference. */
interface Person {
  readonly outcome: Outcome;
  readonly step: StepOutcome;
}

function notInDoubt(one: Unknown, person: Person | null): Diagnostic {
  const who = 'line' in one ? `Line ${one.line}` : shownName(one.name);
  const line = person === null || 'line' in one ? '' : ` (line ${person.outcome.line})`;
  const what =
    person === null
      ? 'is not in this run'
      : `is ${person.step.reason === null ? person.step.outcome : `${person.step.outcome} (${person.step.reason})`}, not in doubt`;
  // A reference belongs to one channel step; another step of the same recipient may be in doubt.
  const hint =
    person?.outcome.outcome === 'in-doubt'
      ? `Its fallback (${person.outcome.channel}) is in doubt: choose it with --line ${person.outcome.line}.`
      : undefined;
  return problem('not-in-doubt', `${who}${line} ${what}.`, { at: 'line' in one ? undefined : one.at, hint });
}

/** Diagnostics mask addresses; keys and references are shown. */
function shownName(name: string): string {
  return `"${/^[+\d\s().-]{8,}$|@/.test(name) ? mask(name) : name.slice(0, 80)}"`;
}

/** The user of this process, for the history; `unknown` if the system does not say. */
export function userHere(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    // In containers a process may run under a number that has no name.
    return `uid ${process.getuid?.() ?? 'unknown'}@${hostname()}`;
  }
}

export const DOUBTS = {
  resolved: { flag: '--resolved', says: 'show resolved doubts instead: who resolved them, when and why' },
} as const satisfies OptionTable;

/** The runs whose recipients in doubt are listed. */
export interface DoubtsOptions extends ProjectOptions, OptionsOf<typeof DOUBTS> {
  /** Id of a run, or name of a campaign for all its runs. Default: every run. */
  readonly run?: string;
}

export type { Doubt };

/** The fields of `jsonl` and of the schema, the columns of `csv`. */
export const DOUBT_FIELDS = [
  'run',
  'campaign',
  'environment',
  'occurrence',
  'line',
  'key',
  'to',
  'channel',
  'step',
  'reference',
  'reason',
  'attempts',
  'httpStatus',
  'error',
  'since',
  'verdict',
  'resolvedBy',
  'resolvedAt',
  'messageId',
  'note',
] as const satisfies readonly (keyof Doubt)[];

/**
 * `handbill doubt list`: who is in doubt, or was: the newest run first, each in list order; resolutions oldest first.
 *
 * @throws HandbillError exit 2 (`run-not-found`, a project file that is wrong), 7 (ledger)
 */
export async function listDoubts(given: DoubtsOptions = {}): Promise<readonly Doubt[]> {
  const options = withDefaults(given);
  const reading = projectHere(options);
  using ledger = ledgerHere(reading, options);
  const runs = runsNamed(ledger, await nameInLedger(options.run ?? null, ledger, reading));
  return runs.flatMap((run) => [...doubtsOf(ledger, run, reading.project, options.resolved === true)].flat());
}

/** The run of this id, every run of the campaign of this name, or every run; newest first. Throws as `findRun` does. */
export function runsNamed(ledger: Ledger, named: string | null): readonly RunRecord[] {
  if (named === null) return meantBy(null, ledger.runs());
  const found = meantBy(named, ledger.runById(named));
  return found.length > 0 ? found : [findRun(ledger, named)];
}

/** The doubts of one run, in batches: memory stays flat. */
export function* doubtsOf(
  ledger: Ledger,
  run: RunRecord,
  project: Parameters<typeof referencesOf>[1],
  resolved: boolean,
) {
  const referenceOf = referencesOf(run, project);
  if (resolved) {
    for (const batch of ledger.resolutions(run)) {
      yield batch.map((one): Doubt => {
        const { verdict, who, resolvedBy, resolvedAtMs, messageId, note } = one;
        const resolution = { verdict, resolvedBy: who ?? resolvedBy, resolvedAt: iso(resolvedAtMs), messageId, note };
        return { ...toDoubt(run, one, referenceOf), ...resolution };
      });
    }
  } else {
    for (const batch of ledger.doubts(run)) yield batch.map((one) => toDoubt(run, one, referenceOf));
  }
}

/** For a recipient with several channel steps, the doubt is about the last one. */
export function toDoubt(
  run: RunRecord,
  doubt: Omit<DoubtRow, 'row'>,
  referenceOf: ReturnType<typeof referencesOf>,
): Doubt {
  const { line, to, channel, step, reason, attempts, httpStatus, error, sinceMs } = doubt;
  // The column cannot be null; after a purge the key is empty.
  const key = doubt.key === '' ? null : doubt.key;
  return {
    ...nameOfRun(run),
    line,
    key,
    to,
    channel,
    step,
    reference: referenceOf({ ...doubt, key }),
    reason,
    attempts,
    httpStatus,
    error,
    since: sinceMs === null ? null : iso(sinceMs),
    verdict: null,
    resolvedBy: null,
    resolvedAt: null,
    messageId: null,
    note: null,
  };
}
