import { findCampaigns } from '../campaign/find.ts';
import { readCampaign } from '../campaign/load.ts';
import { findSuppressions } from '../campaign/read-suppressions.ts';
import type { Diagnostic } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openExistingLedger } from '../ledger/open.ts';
import type { Project, SuppressionAnswer, SuppressionEntry } from '../model.ts';
import {
  createKeyCheck,
  hashKeyState,
  readSuppressionList,
  readSuppressions,
  type SuppressionSource,
  sourcesOf,
} from '../plan/suppression.ts';
import type { Hasher } from '../suppression/hash.ts';
import { type HasherReading, readHasher } from '../suppression/hash.ts';
import { placeOfLedger } from '../util/ledger-address.ts';
import { type ProjectOptions, type Settled, settle } from './options.ts';
import { projectHere } from './project-ledger.ts';
import { checkHashes, countryOf, type Named, readEach } from './suppress-addresses.ts';

/** The addresses to check. */
export interface CheckSuppressionsOptions extends ProjectOptions {
  /** Numbers, email addresses, `contact:ID`s or hashes, each of which gets an answer. Default: none. */
  readonly addresses?: readonly string[];
}

/** What the lists of a project hold, and what would keep its campaigns from being sent. */
export interface SuppressionCheck {
  /** In the ledger, unchanged. */
  readonly addresses: number;
  readonly hashes: number;
  /** Id of the key of those hashes; null without any. */
  readonly keyId: string | null;
  /** Id of the key that handbill.yaml names; null where it is not there. */
  readonly ownKeyId: string | null;
  /** Lists that handbill.yaml names. */
  readonly files: readonly string[];
  /** Empty: nothing would. */
  readonly problems: readonly Diagnostic[];
  /** One for each of `addresses`, in their order. */
  readonly answers: readonly SuppressionAnswer[];
}

/**
 * `handbill suppress check`: what the lists of the project hold, and whether the key of their hashes is there; for each of
 * `addresses`, whether it is suppressed, why, and by which list.
 *
 * @throws HandbillError exit 2 (a project file that is wrong, what is no address), 7 (ledger)
 */
export async function checkSuppressions(options: CheckSuppressionsOptions = {}): Promise<SuppressionCheck> {
  return (await lookAtSuppressions(options)).checked;
}

/** As `checkSuppressions`, and how many problems there are: `problems` has the first ones of each list. */
export async function lookAtSuppressions(
  options: CheckSuppressionsOptions,
): Promise<{ readonly checked: SuppressionCheck; readonly total: number }> {
  const { addresses = [] } = options;
  const context = settle(options);
  const reading = await projectHere(context, context.ledger);
  const { project } = reading;
  const { root } = project;
  const named = readEach(addresses, countryOf(reading));
  await checkHashes(
    named.flatMap((one) => ('hash' in one ? [one.hash] : [])),
    project,
    context,
  );
  const found = await findSuppressions(null, reading, { root, folder: root, cwd: context.cwd });
  const listed = {
    suppressions: found.files,
    recipients: { defaultCountry: countryOf(reading) },
    project,
  };
  const ledger = openExistingLedger(project.ledger, { nowMs: context.now() });
  try {
    const held = ledger ?? { path: placeOfLedger(project.ledger, context.cwd), ...NO_LEDGER };
    const { problem, ...state } = await hashKeyState(project, context.env, held);
    const own = sourcesOf(listed).map((source) => ({ ...source, campaigns: null }));
    const answered =
      named.length === 0
        ? { found: [], ...(await readSuppressions(listed, context.env)).faults }
        : await answer(
            named,
            {
              ledger,
              lists: [...own, ...(await listsOfCampaigns(project, context))],
              reading: await readHasher(project.suppressionKey, context.env, root),
            },
            context.now(),
          );
    const problems = [...found.diagnostics, ...answered.diagnostics, ...(problem === null ? [] : [problem])];
    const total = found.diagnostics.length + answered.total + (problem === null ? 0 : 1);
    const { addresses: count } = held.suppressionCounts();
    const files = found.files.map(({ file }) => file);
    const answers = named.map((one, i) => answerOf(one, answered.found[i] ?? [], total === 0));
    return { checked: { addresses: count, ...state, files, problems, answers }, total };
  } finally {
    ledger?.close();
  }
}

function answerOf(named: Named, entries: readonly SuppressionEntry[], isComplete: boolean): SuppressionAnswer {
  const isSuppressed = entries.some(({ active, campaigns }) => active && campaigns === null);
  const address = 'address' in named ? named.address : null;
  const suppressed = isSuppressed ? true : isComplete ? false : null;
  return { given: named.given, address, suppressed, entries };
}

const NO_LEDGER = { hashKeyId: () => null, suppressionCounts: () => ({ addresses: 0, hashes: 0 }) };

/** A list, and the campaigns that name it; null: the project does. */
type AnsweringList = SuppressionSource & { readonly campaigns: string[] | null };

/** The lists that only campaigns name. A campaign that is wrong is left out: it cannot be sent either. */
async function listsOfCampaigns(
  { root }: Project,
  { cwd, now }: Pick<Settled, 'cwd' | 'now'>,
): Promise<readonly AnsweringList[]> {
  const lists = new Map<string, AnsweringList & { readonly campaigns: string[] }>();
  for (const file of (await findCampaigns([], root)).files) {
    const { campaign } = await readCampaign(file, { cwd, now: now() });
    if (campaign === null) continue;
    const own = { ...campaign, suppressions: campaign.suppressions.filter(({ namedBy }) => namedBy === 'campaign') };
    for (const source of sourcesOf(own)) {
      // The country says how its numbers are read.
      const key = JSON.stringify(source);
      const list = lists.get(key) ?? { ...source, campaigns: [] };
      list.campaigns.push(campaign.name);
      lists.set(key, list);
    }
  }
  return [...lists.values()];
}

type Answering = Pick<Ledger, 'suppressionOf' | 'suppressedHashOf' | 'suppressions'>;

/** Looks for each given address in the ledger and in every list. Returns the errors in the lists, too. */
async function answer(
  named: readonly Named[],
  { ledger, lists, reading }: { ledger: Answering | null; lists: readonly AnsweringList[]; reading: HasherReading },
  nowMs: number,
): Promise<{
  readonly found: readonly (readonly SuppressionEntry[])[];
  readonly diagnostics: readonly Diagnostic[];
  readonly total: number;
}> {
  const hasher = 'hasher' in reading ? reading.hasher : null;
  const found = named.map(() => [] as SuppressionEntry[]);
  const isActive = (untilMs: number | null): boolean => untilMs === null || untilMs > nowMs;
  const { byForm, byHash, hasHashes } = indexOf(named, hasher);
  const add = (at: readonly number[], entry: SuppressionEntry): void => {
    for (const i of at) found[i]?.push(entry);
  };
  if (ledger !== null) {
    const facts = { list: 'ledger', line: null, campaigns: null };
    // A hash is compared with the addresses too: their list may be the only one that names the person.
    const forms = hasHashes && hasher !== null ? everyForm(ledger) : byForm.keys();
    for (const form of forms) {
      const at = placesOf(form);
      const one = at.length === 0 ? null : ledger.suppressionOf(form);
      if (one !== null) add(at, { ...facts, hashed: false, ...timesOf(one, isActive) });
    }
    for (const [hash, at] of byHash) {
      const one = ledger.suppressedHashOf(hash);
      if (one !== null) add(at, { ...facts, hashed: true, ...timesOf(one, isActive) });
    }
  }
  const diagnostics: Diagnostic[] = [];
  let total = 0;
  for (const { campaigns, ...source } of lists) {
    const keys = createKeyCheck(source.file, reading);
    const entry = (untilMs: number | null, reason: string | null, line: number) => ({
      list: source.file,
      line,
      campaigns,
      reason,
      since: null,
      until: isoOf(untilMs),
      source: null,
      active: isActive(untilMs),
    });
    const read = await readSuppressionList(source, {
      address: (form, untilMs, reason, line) => add(placesOf(form), { ...entry(untilMs, reason, line), hashed: false }),
      hash({ keyId, hash }, untilMs, reason, line) {
        keys.see(keyId, line);
        if (keyId === hasher?.keyId) add(byHash.get(hash) ?? [], { ...entry(untilMs, reason, line), hashed: true });
      },
    });
    for (const faults of [read, keys.faults()]) {
      diagnostics.push(...faults.diagnostics);
      total += faults.total;
    }
  }
  return { found, diagnostics, total };

  function placesOf(form: string): readonly number[] {
    if (!hasHashes || hasher === null) return byForm.get(form) ?? [];
    return byHash.get(hasher.hash(form)) ?? [];
  }
}

/** Where each address and each hash was named. With a hasher, an address is found by its hash too. */
function indexOf(named: readonly Named[], hasher: Hasher | null) {
  const byForm = new Map<string, number[]>();
  const byHash = new Map<string, number[]>();
  const push = (map: Map<string, number[]>, key: string, at: number): void => {
    map.set(key, [...(map.get(key) ?? []), at]);
  };
  for (const [at, one] of named.entries()) {
    if ('hash' in one) push(byHash, one.hash.hash, at);
    else {
      push(byForm, one.address, at);
      if (hasher !== null) push(byHash, hasher.hash(one.address), at);
    }
  }
  return { byForm, byHash, hasHashes: named.some((one) => 'hash' in one) };
}

function* everyForm(ledger: Pick<Ledger, 'suppressions'>): Iterable<string> {
  for (const { address } of ledger.suppressions()) yield address;
}

function timesOf(
  one: { readonly reason: string | null; readonly untilMs: number | null; source: string; createdAtMs: number },
  isActive: (untilMs: number | null) => boolean,
) {
  const { reason, untilMs, source, createdAtMs } = one;
  return { reason, since: isoOf(createdAtMs), until: isoOf(untilMs), source, active: isActive(untilMs) };
}

function isoOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
