import { findCampaigns } from '../campaign/find.ts';
import { readCampaign } from '../campaign/load.ts';
import type { Diagnostic } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Project, SuppressionEntry } from '../model.ts';
import { readSuppressionList, type SuppressionSource, sourcesOf } from '../plan/suppression-lists.ts';
import { createKeyCheck } from '../plan/suppression-parts.ts';
import type { Hasher } from '../suppression/hash.ts';
import type { HasherReading } from '../suppression/key.ts';
import type { CommandContext } from './context.ts';
import type { Named } from './suppress-addresses.ts';

/** A list, and the campaigns that name it; null: the project does. */
export type AnsweringList = SuppressionSource & { readonly campaigns: string[] | null };

/** The lists that only campaigns name. A campaign that is wrong is left out: it cannot be sent either. */
export async function listsOfCampaigns(
  { root }: Project,
  { cwd, now }: Pick<CommandContext, 'cwd' | 'now'>,
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

/** Looks for each of those that were named in the ledger and in every list. What is wrong with the lists comes back. */
export async function answer(
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
