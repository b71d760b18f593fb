import { isDeepStrictEqual } from 'node:util';
import { decisions } from '../plan/decide.ts';
import type { Plan } from '../plan/plan.ts';
import { identityHash } from '../plan/settings.ts';
import { mask } from '../util/redact.ts';
import { compareRows, createGatherer } from './compare-rows.ts';
import { type CampaignOnSide, gatherSide, type ReadOptions, readOnSide } from './read-campaign-side.ts';
import type { CampaignDiff } from './result.ts';
import { changedRules, hideAddresses, isMessageText, readRules } from './rules.ts';
import { chooseLists, type ListOptions, lendFiles, type Placed, type Side } from './side.ts';
import { changedSources, columnsShown, type ScopedChange } from './texts.ts';

export interface CompareOptions extends ListOptions, Omit<ReadOptions, 'hasList'> {
  readonly signal: AbortSignal;
  /** Source of files that are not in git. */
  readonly workTree: Side;
}

/** Compares values of so many columns; the texts show changes in further ones. */
const MAX_COLUMNS = 31;

/** One of the two sides may be missing, not both. */
export async function compareCampaign(
  before: Placed | null,
  after: Placed | null,
  options: CompareOptions,
): Promise<CampaignDiff> {
  const lent: string[] = [];
  for (const placed of [before, after]) if (placed !== null) lent.push(...(await lendFiles(placed, options.workTree)));
  const lists = await chooseLists(before, after, options);
  const read = async (placed: Placed | null, list: { path: string | null; isHere: boolean }) =>
    placed === null
      ? null
      : await readOnSide(placed.side, placed.file, { ...options, recipients: list.path, hasList: list.isHere });
  const old = await read(before, lists.before);
  const now = await read(after, lists.after);
  const both = old?.campaign != null && now?.campaign != null;
  const changes = both && old.campaign && now.campaign ? changedSources(old.campaign, now.campaign) : [];
  const rows = await compareLists(old, now, changes, lists.areComparable, options.signal);
  const rules = changedRules(
    readRules('campaign', before?.file.path ?? null),
    readRules('campaign', after?.file.path ?? null),
    both ? isMessageText : undefined,
  );
  const file = after?.file ?? before?.file;
  const [wasCalled, isCalled] = [before?.file.name ?? null, after?.file.name ?? null];
  const renamedFrom = before !== null && after !== null && wasCalled !== isCalled ? wasCalled : null;
  return {
    name: isCalled ?? wasCalled ?? file?.place ?? '',
    change: before === null ? 'added' : after === null ? 'removed' : 'changed',
    renamedFrom,
    file: file?.place ?? '',
    notes: [
      ...renamedNotes(before?.file ?? null, after?.file ?? null),
      ...identityNotes(old, now),
      ...lists.notes,
      ...new Set(lent),
    ],
    before: old === null ? null : { errors: old.findings.list(), figures: rows.figures[0] },
    after: now === null ? null : { errors: now.findings.list(), figures: rows.figures[1] },
    // A campaign that is new or gone has nothing to be compared with: its file is enough.
    rules: before === null || after === null ? [] : rules,
    recipients: rows.recipients,
    decisions: rows.decisions,
    texts: rows.texts,
  };
}

/** Nothing differs, and the campaign can be sent. */
export function isUnchanged(diff: CampaignDiff): boolean {
  const { change, renamedFrom, before, after, rules, recipients, decisions, texts } = diff;
  if (after !== null && after.errors.length > 0) return false;
  if (change !== 'changed' || renamedFrom !== null || rules.length > 0 || decisions.length > 0) return false;
  if (recipients !== null && recipients.added + recipients.removed + recipients.readdressed > 0) return false;
  return texts.groups.length === 0 && isDeepStrictEqual(before, after);
}

function renamedNotes(before: Placed['file'] | null, after: Placed['file'] | null): readonly string[] {
  // A file that cannot be read has no id.
  if (before === null || after === null || before.id === null || after.id === null) return [];
  if (before.id !== after.id) return [`${OTHER_ID} With \`id: ${before.id}\` it keeps its history.`];
  return before.name === after.name ? [] : [`The runs of ${before.name} stay those of this campaign (\`id\`).`];
}

const OTHER_ID =
  'The `id` of the campaign changes (default: its name): to the ledger it is a new campaign, and no recipient counts as sent to.';
const IDENTITY =
  'What identifies a recipient changes (`recipients.key`, `to`, `contact` or `defaultCountry`): a run that has begun is refused, and all recipients look new.';

function identityNotes(old: CampaignOnSide | null, now: CampaignOnSide | null): readonly string[] {
  if (!old?.campaign || !now?.campaign) return [];
  return identityHash(old.campaign) === identityHash(now.campaign) ? [] : [IDENTITY];
}

async function compareLists(
  old: CampaignOnSide | null,
  now: CampaignOnSide | null,
  changes: readonly ScopedChange[],
  areComparable: boolean,
  signal: AbortSignal,
) {
  const columns = commonColumns(old, now);
  const positions = (side: CampaignOnSide | null) => columns.map((name) => side?.plan?.columns.indexOf(name) ?? -1);
  const variantsOf = (side: CampaignOnSide | null) => side?.campaign?.variants.map(({ name }) => name) ?? [];
  const variants = [variantsOf(old), variantsOf(now)] as const;
  const drawn = new Set(
    [old, now].flatMap(
      (side) => side?.campaign?.variants.flatMap(({ name, where }) => (where === null ? name : [])) ?? [],
    ),
  );
  const gatherer = createGatherer([positions(old), positions(now)], variants);
  const figures = [
    old === null ? null : await gatherSide(0, old, gatherer, signal),
    now === null ? null : await gatherSide(1, now, gatherer, signal),
  ] as const;
  if (old?.plan == null || now?.plan == null || figures[0] === null || figures[1] === null) {
    const templates = changes.map(({ what, shape }) => ({ what, shape }));
    const group = { recipients: null, example: null, decision: null, templates, columns: [], variant: null };
    const texts = { compared: 0, changed: 0, groups: templates.length === 0 ? [] : [group], more: null };
    return { figures, recipients: null, decisions: [], texts };
  }

  const found = compareRows(gatherer.rows(), { changes, columns, variants, drawn });
  const afterRows = [...found.addedRows, ...found.decisions.map(({ row }) => row)];
  for (const { row } of found.texts.groups) if (row !== null) afterRows.push(row);
  const was = await maskedAddresses(old.plan, found.removedRows, old.skipsInvalid);
  const is = await maskedAddresses(now.plan, afterRows, now.skipsInvalid);
  const shown = (rows: readonly number[], masked: ReadonlyMap<number, string>) =>
    rows.flatMap((row) => masked.get(row) ?? []);
  const recipients = {
    ...found.recipients,
    addedExamples: shown(found.addedRows, is),
    removedExamples: shown(found.removedRows, was),
  };
  return {
    figures,
    recipients: areComparable ? recipients : null,
    decisions: found.decisions.map(({ row, ...rest }) => ({ ...rest, example: is.get(row) ?? null })),
    texts: {
      ...found.texts,
      groups: found.texts.groups.map(({ row, recipients: count, columns: names, variant, ...group }) => ({
        recipients: count,
        example: row === null ? null : (is.get(row) ?? null),
        ...group,
        columns: names.map(hideAddresses),
        variant,
      })),
    },
  };
}

function commonColumns(old: CampaignOnSide | null, now: CampaignOnSide | null): readonly string[] {
  if (old?.plan == null || now?.plan == null) return [];
  const common = old.plan.columns.filter((name) => now.plan?.columns.includes(name));
  return columnsShown([old.plan.campaign, now.plan.campaign], common).slice(0, MAX_COLUMNS);
}

/** Reads the list again up to the last example: to keep every recipient's address would take too much memory. */
async function maskedAddresses(plan: Plan, rows: Iterable<number>, skipsInvalid: boolean) {
  const wanted = new Set(rows);
  const masked = new Map<number, string>();
  if (wanted.size === 0) return masked;
  for await (const batch of decisions(plan, { skipsInvalid, wanted: (row) => wanted.has(row) })) {
    for (const { row, to } of batch) {
      wanted.delete(row);
      if (to !== null) masked.set(row, mask(to));
    }
    if (wanted.size === 0) break;
  }
  return masked;
}
