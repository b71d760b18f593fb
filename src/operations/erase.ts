import { EXIT, type ExitStatus, HandbillError, problem, refuse } from '../errors.ts';
import type { Erasure, KeptDelivery, Ledger } from '../ledger/ledger.ts';
import type { RunLock } from '../ledger/lock.ts';
import { openExistingLedger, openLedger } from '../ledger/open.ts';
import type { Hasher, RunRecord } from '../ledger/records.ts';
import type { Erasure as ErasedPerson } from '../model/result-types.ts';
import type { Outcome, Project } from '../model.ts';
import { createReferences } from '../plan/expand.ts';
import { nationalDigits } from '../recipients/phone.ts';
import { toKeep } from '../send/deliveries.ts';
import { mustExist } from '../send/run-lock.ts';
import { formsOf, listedForm } from '../util/address-form.ts';
import { traceOf } from '../util/address-trace.ts';
import { shownLedger } from '../util/ledger-address.ts';
import { nextCommand } from '../util/next-command.ts';
import {
  type Confirm,
  type OptionsOf,
  type OptionTable,
  type ProjectOptions,
  type ResolvedOptions,
  requireYes,
  withDefaults,
} from './options.ts';
import { addressOfKey, namesIn, outcomesAbout } from './person.ts';
import { countryOf, joinReplies, projectHere } from './project.ts';
import { ALL_PURGES, busy } from './purge.ts';
import { nameOfRun } from './report.ts';
import { hasherOf, readEach, refuseOtherKey } from './suppress-change.ts';

export const ERASE = {
  keepSuppressed: {
    flag: '--keep-suppressed',
    says: 'with --erase: the address stays on the suppression list, instead of a keyed hash of it',
  },
} as const satisfies OptionTable;

/** The form in which the address stays suppressed, and the confirmation. */
export interface ErasePersonOptions extends ProjectOptions, OptionsOf<typeof ERASE> {
  /** Asked before anything is changed; refused (exit 2, `not-confirmed`) where the answer is no. Default: no. */
  readonly confirm?: Confirm<ErasedPerson>;
}

export type { ErasedPerson };
export type ErasedFrom = ErasedPerson['runs'][number];

/**
 * `handbill person --erase`: takes a person out of the ledger, in all environments. Counts stay, and the address is
 * suppressed for all campaigns, so that no later send reaches the person.
 *
 * @param address - a phone number, an email address, or contact:ID
 * @throws HandbillError exit 2 (refused, nothing was changed), 6 (a run of the person or the ledger is in use), 7 (ledger)
 */
export async function erasePerson(address: string, options: ErasePersonOptions = {}): Promise<ErasedPerson> {
  const resolved = withDefaults(options);
  const reading = projectHere(resolved);
  const { project } = reading;
  const keyed = addressOfKey(project.ledger, address, resolved.now());
  const [named] = readEach([keyed ?? address], countryOf(reading));
  if (named === undefined || !('address' in named)) {
    const hint = 'Give the address itself: with the hash alone, the rows of the person cannot be found.';
    throw refuse(problem('usage', 'A hash names a person whose address is not known here.', { hint }));
  }
  const keep = options.keepSuppressed === true;
  const hasher = keep ? null : await hasherFor(project, resolved);
  const nowMs = resolved.now();
  const found = look(project.ledger, named.address, hasher, nowMs);
  const planned: ErasedPerson = {
    version: 1,
    ledger: shownLedger(project.ledger),
    runs: found.runs.map(toShown),
    events: null,
    suppressed: { as: keep ? 'address' : 'hash', addresses: found.suppressed.length },
    rewritten: null,
  };
  await requireYes(options.confirm, planned, 'Nothing was erased');
  const ledger = openLedger(project.ledger, { mode: 'write', nowMs, mustExist: mustExist(project) });
  const locks: RunLock[] = [];
  try {
    const whole = ledger.lock(ALL_PURGES);
    if (whole === null) throw busy();
    locks.push(whole);
    // Afterwards, the message that a reply answers could not be found any more.
    await joinReplies(ledger, { now: resolved.now, ...project.webhook.replies });
    const erasure = find(ledger, named.address, hasher);
    refuseOpen(ledger, erasure);
    for (const run of new Map([...erasure.runs, ...erasure.drafts].map((one) => [one.run.id, one.run])).values()) {
      const lock = ledger.lock(run);
      if (lock === null) throw inUse([run]);
      locks.push(lock);
    }
    // Read before their locks were taken, the runs may have gone on meanwhile.
    const isUnchanged = erasure.runs.every(({ run }) => {
      const now = ledger.findRun(run);
      return now !== null && now.list === run.list && now.starts === run.starts && now.state === run.state;
    });
    if (!isUnchanged) throw inUse(erasure.runs.map(({ run }) => run));
    ledger.purge.begin();
    const events = ledger.purge.erase(erasure, resolved.now());
    const rewritten = ledger.purge.rewrite();
    // A run that was begun meanwhile may have loaded the person before they were suppressed: they are not sent to.
    const { runs: since } = find(ledger, named.address, hasher, new Set(erasure.seen));
    if (since.length > 0) throw inUse(since.map(({ run }) => run));
    const { length: addresses } = erasure.suppressed;
    return {
      ...planned,
      runs: erasure.runs.map(toShown),
      events,
      suppressed: { ...planned.suppressed, addresses },
      rewritten,
    };
  } finally {
    // A shared ledger keeps its locks with its connection.
    for (const lock of locks.toReversed()) lock.release();
    ledger.close();
  }
}

/** 0; 6: the file is in use, and running again, or a purge, does the rest; 7: the disk has no room. */
export function eraseExit({ rewritten }: Pick<ErasedPerson, 'rewritten'>): ExitStatus {
  if (rewritten === 'no-room') return EXIT.ledger;
  return rewritten === 'in-use' ? EXIT.locked : EXIT.done;
}

/** @throws HandbillError exit 2: there is no key, or it cannot be read */
async function hasherFor(project: Project, options: ResolvedOptions): Promise<Hasher> {
  if (project.suppressionKey !== null) return await hasherOf(project, options);
  const message =
    'An erased person is kept on the suppression list as a keyed hash, and handbill.yaml has no key for it.';
  const hint =
    'Write suppressionKey: { env: HANDBILL_SUPPRESSION_KEY } into handbill.yaml, and put a key there (openssl rand -hex 32). ' +
    'Or keep the address itself on the list, with --keep-suppressed.';
  throw refuse(problem('missing-suppression-key', message, { hint }));
}

/** `seen`: the lists that were read for it. */
interface Found extends Erasure {
  readonly runs: readonly (Erasure['runs'][number] & { readonly outcomes: readonly Outcome[] })[];
  readonly seen: readonly number[];
}

/** Changes nothing, and creates no ledger. */
function look(path: string, address: string, hasher: Hasher | null, nowMs: number): Pick<Found, 'runs' | 'suppressed'> {
  using ledger = openExistingLedger(path, { nowMs });
  if (ledger === null) return { runs: [], suppressed: [address] };
  refuseOtherKey(ledger, hasher?.keyId ?? null);
  const found = find(ledger, address, hasher);
  refuseOpen(ledger, found);
  return found;
}

/** Reads every list that is not in `seen`. */
function find(ledger: Ledger, address: string, hasher: Hasher | null, seen: ReadonlySet<number> = NONE): Found {
  const all = ledger.runs().filter((run) => run.purgedAtMs === null && !seen.has(run.list));
  const runs = all.flatMap((run) => {
    const outcomes = outcomesAbout(ledger, run, address);
    return outcomes.length === 0 ? [] : [{ run, outcomes, ...rowsIn(ledger, run, outcomes) }];
  });
  const loading = ledger.purge.drafts().filter((run) => !seen.has(run.list));
  const drafts = loading.flatMap((run) => {
    const rows = outcomesAbout(ledger, run, address).map(({ row }) => row);
    return rows.length === 0 ? [] : [{ run, rows }];
  });
  const outcomes = runs.flatMap((one) => one.outcomes);
  // A message to any address of the rows would be a second one, so all of them are suppressed.
  const addressesOf = ({ key, ...outcome }: Outcome): readonly string[] => {
    const addresses = namesIn({ ...outcome, key: null });
    // A key that is no address is a name in another book (form.ts).
    return addresses.flatMap((to) => (key === null ? [to] : formsOf(to, key))).map(listedForm);
  };
  const suppressed = [...new Set([address, ...outcomes.flatMap(addressesOf)])];
  const trace = traceOf(address, nationalDigits);
  return { address, runs, drafts, suppressed, hasher, trace, seen: [...all, ...loading].map(({ list }) => list) };
}

const NONE: ReadonlySet<number> = new Set();

function rowsIn(ledger: Ledger, run: RunRecord, outcomes: readonly Outcome[]) {
  const referenceOf = createReferences(run);
  const keys = outcomes.flatMap(({ key }) => key ?? []);
  // Messages to earlier addresses are in no row.
  const earlier = ledger.earlier(run);
  const before = [...new Set(keys)].flatMap((key): readonly KeptDelivery[] =>
    (earlier.get(key) ?? []).map(({ channel, resend, ...one }) => {
      return { ...one, row: -1, step: 0, delivery: null, reference: referenceOf(key, channel, resend) };
    }),
  );
  const kept = [...outcomes.flatMap((outcome) => toKeep(outcome, referenceOf)), ...before];
  return { rows: outcomes.map(({ row }) => row), keys, kept };
}

/** @throws HandbillError exit 6: a run of the person is in use; 2: one is not finished, or they are in doubt */
function refuseOpen(ledger: Ledger, { runs, drafts }: Pick<Found, 'runs' | 'drafts'>): void {
  const held = [...runs, ...drafts].map(({ run }) => run).filter((run) => ledger.isHeld(run));
  if (held.length > 0) throw inUse(held);
  const refusals = runs.flatMap(({ run, outcomes }) => refusalsOf(run, outcomes));
  if (refusals.length > 0) throw refuse(...refusals);
}

/** Without the key of a recipient, a run that can go on could not know who has its message. */
function refusalsOf(run: RunRecord, outcomes: readonly Outcome[]) {
  const { id, name: campaign, environment, occurrence, state } = run;
  if (state !== 'finished') {
    const message = `The run ${id} (${campaign}, ${environment}, ${occurrence}) is not finished and has the person: it could send to them again. Nothing was erased.`;
    const hint = `Send it to its end (${nextCommand('send', campaign, '--env', environment)}), close it (${nextCommand('runs', 'close', id)}), or give it up: ${nextCommand('purge', '--older-than', '1s', '--with-open', '--campaign', campaign, '--env', environment)} takes all personal data out of the campaign's runs.`;
    return [problem('run-open', message, { hint })];
  }
  if (!outcomes.some(({ outcome }) => outcome === 'in-doubt')) return [];
  const message = `In the run ${id} (${campaign}, ${environment}, ${occurrence}) it is in doubt whether the person has the message. Nothing was erased.`;
  const hint = `Resolve it first: ${nextCommand('doubt', 'list', id)}, then ${nextCommand('doubt', 'resolve', id)}.`;
  return [problem('run-open', message, { hint })];
}

function inUse(runs: readonly RunRecord[]): HandbillError {
  const hint = 'Run the command again when it has ended.';
  return new HandbillError(
    EXIT.locked,
    runs.map(({ id }) => problem('locked', `The run ${id} has the person, and another process is at it.`, { hint })),
  );
}

function toShown({ run, rows }: Pick<Erasure['runs'][number], 'run' | 'rows'>): ErasedFrom {
  return { ...nameOfRun(run), recipients: rows.length };
}
