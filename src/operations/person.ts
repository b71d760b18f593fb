import type { ProjectReading } from '../campaign/project.ts';
import { HandbillError } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openExistingLedger } from '../ledger/open.ts';
import type { RunRecord } from '../ledger/records.ts';
import type { Person as PersonSchema, RepliesReply as ReceivedReply } from '../model/result-types.ts';
import type { Outcome } from '../model.ts';
import { nationalDigits } from '../recipients/phone.ts';
import { type ReportRecord, recordOf } from '../report/record.ts';
import { formsOf, keyWithoutTime, kindOf, listedForm } from '../util/address-form.ts';
import { traceOf } from '../util/address-trace.ts';
import { iso } from '../util/time.ts';
import { type ProjectOptions, withDefaults } from './options.ts';
import { joinRepliesOf, projectHere } from './project.ts';
import { listReplies } from './replies.ts';
import { nameOfRun, newestFirst, referencesOf, rowsOf } from './report.ts';
import { shownArgument } from './suppress-change.ts';
import { lookAtSuppressions } from './suppress-list.ts';

export interface PersonMessage extends Omit<PersonSchema['messages'][number], 'outcome'> {
  /** As `report --format jsonl` has it. */
  readonly outcome: ReportRecord;
}

export interface Person extends Omit<PersonSchema, 'version' | 'messages' | 'replies'> {
  /** In each run that has it, the one started last first. */
  readonly messages: readonly PersonMessage[];
  readonly replies: readonly ReceivedReply[];
}

/**
 * `handbill person`: the runs that an address is or was in, with outcomes and delivery reports, its replies, and whether
 * it is suppressed, in all environments. It reads every list of the ledger once. A purged run knows no address any more.
 *
 * @param address - a phone number, an email address, contact:ID, or the key of a recipient
 * @throws HandbillError exit 2 (no address, a project file that is wrong), 7 (ledger)
 */
export async function person(address: string, options: ProjectOptions = {}): Promise<Person> {
  const resolved = withDefaults(options);
  const reading = projectHere(resolved);
  const { project } = reading;
  const keyed = addressOfKey(project.ledger, address, resolved.now());
  const { checked } = await lookAtSuppressions({ ...resolved, addresses: [keyed ?? address] }).catch(noKey(address));
  const [answer] = checked.answers;
  if (answer === undefined) throw new Error('a check of one address has one answer');
  const { suppressed, entries, unreachable } = answer;
  await joinRepliesOf(reading, resolved);
  const failing = unreachable === undefined ? {} : { unreachable };
  const known = { given: address, address: answer.address ?? address, suppressed, entries, ...failing };
  const held = heldOf(reading, [known.address, address], resolved.now());
  const all = await listReplies(resolved);
  return {
    ...known,
    ...held,
    replies: all.filter(({ from, key }) => [known.address, address].some((one) => one === from || isKey(key, one))),
  };
}

/** The address of this key in the newest run that has it; null: no run has the key, or it is the address itself. */
export function addressOfKey(path: string, key: string, nowMs: number): string | null {
  using ledger = openExistingLedger(path, { nowMs });
  if (ledger === null) return null;
  for (const run of newestFirst(ledger.runs())) {
    if (run.purgedAtMs !== null) continue;
    for (const batch of rowsOf(ledger, run, {})) {
      const to = batch.find((outcome) => isKey(outcome.key, key))?.to ?? null;
      // A command line names the id of a contact with its prefix.
      if (to !== null)
        return listedForm(to) === listedForm(key) ? null : kindOf(to) === 'contact' ? `contact:${to}` : to;
    }
  }
  return null;
}

/** Also where the row has a time (`send.each`), which is part of its key. */
function isKey(key: string | null, asked: string): boolean {
  return key === asked || (key !== null && keyWithoutTime(key) === asked);
}

const BY_NAME = 'To search by name, run `handbill serve` and look under People.';

/** The user may have meant a key. */
function noKey(given: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof HandbillError)) throw error;
    const orKey = `, and no run has a recipient with the key "${shownArgument(given)}".`;
    const diagnostics = error.diagnostics.map((one) =>
      one.code === 'invalid-address'
        ? {
            ...one,
            message: `${one.message.replace(/\.$/, '')}${orKey}`,
            ...(/[\d@]/.test(given) ? {} : { hint: BY_NAME }),
          }
        : one,
    );
    throw new HandbillError(error.exit, diagnostics, error.total);
  };
}

/** The ledger is closed again before replies are read: a process opens it only once at a time. */
function heldOf(
  { project }: Pick<ProjectReading, 'project'>,
  names: readonly [address: string, key: string],
  nowMs: number,
): Pick<Person, 'messages' | 'unread' | 'reports' | 'mentions'> {
  using ledger = openExistingLedger(project.ledger, { nowMs });
  if (ledger === null) return { messages: [], unread: [], reports: 0, mentions: 0 };
  const [address, key] = names;
  const { unread, reports, mentions } = ledger.purge.traces(address, traceOf(address, nationalDigits));
  const messages = newestFirst(ledger.runs()).flatMap((run) => {
    if (run.purgedAtMs !== null) return [];
    const referenceOf = referencesOf(run, project);
    return outcomesAbout(ledger, run, address, { key, referenceOf }).map((outcome) => {
      return { ...nameOfRun(run), outcome: recordOf(outcome, referenceOf) };
    });
  });
  return {
    messages,
    unread: unread.map(({ receivedAtMs, body }) => ({ receivedAt: iso(receivedAtMs), body })),
    reports,
    mentions,
  };
}

/** The rows of a run that have an address, as key or address: now, in a channel step, or before it was corrected. */
export function outcomesAbout(
  ledger: Ledger,
  run: RunRecord,
  address: string,
  { key = address, ...uses }: { readonly key?: string; readonly referenceOf?: ReturnType<typeof referencesOf> } = {},
): readonly Outcome[] {
  const found: Outcome[] = [];
  for (const batch of rowsOf(ledger, run, {}, uses)) {
    for (const outcome of batch) if (isKey(outcome.key, key) || isAbout(outcome, address)) found.push(outcome);
  }
  return found;
}

/** A key may be a number with blanks, which is compared without them: the suppression list does so too. */
function isAbout(outcome: Outcome, address: string): boolean {
  if (namesIn(outcome).some((name) => listedForm(name) === address)) return true;
  const { key, to } = outcome;
  return key !== null && formsOf(to ?? '', key).includes(address);
}

/** The key of a recipient, and every address that a row has of them. */
export function namesIn({ key, to, listTo, steps = [], earlier = [] }: Outcome): readonly string[] {
  const all = [key, to, listTo, ...steps.map((step) => step.to), ...earlier.map((one) => one.to)];
  return all.filter((name) => typeof name === 'string');
}
