import type { DecisionChange, RecipientsDiff, TextGroup, TextsDiff } from './result.ts';
import type { Rows } from './rows.ts';
import type { ScopedChange } from './sources.ts';

/** Recipients who are shown of each kind. */
const EXAMPLES = 5;
/** Groups of texts and kinds of decisions that are listed. */
const MAX_GROUPS = 20;
/** Groups that are told apart while rows are compared; a list in which every column changes has no more. */
const MAX_TOLD_APART = 5_000;

/** What the joined rows come to; examples are rows of their list, to be looked up. */
export interface Compared {
  readonly recipients: Omit<RecipientsDiff, 'addedExamples' | 'removedExamples'>;
  readonly addedRows: readonly number[];
  readonly removedRows: readonly number[];
  readonly decisions: readonly (Omit<DecisionChange, 'example'> & { readonly row: number })[];
  readonly texts: Omit<TextsDiff, 'groups'> & {
    readonly groups: readonly (Omit<TextGroup, 'example'> & { readonly row: number | null })[];
  };
}

interface Group {
  readonly beforeVariant: number;
  readonly afterVariant: number;
  readonly first: boolean;
  readonly rest: boolean;
  readonly columns: number;
  readonly row: number;
  count: number;
}

/** What the messages of the two sides are made of. */
export interface Texts {
  readonly changes: readonly ScopedChange[];
  /** The columns whose cells were gathered, in order; at most 31. */
  readonly columns: readonly string[];
  readonly variants: readonly [readonly string[], readonly string[]];
}

/** Joins the rows of both sides by key. Every recipient is added, removed or common. */
export function compareRows(rows: Rows, texts: Texts): Compared {
  const [before, after] = rows.sides;
  const send = rows.words.indexOf('send');
  const counts = { added: 0, removed: 0, common: 0, readdressed: 0, compared: 0, changed: 0 };
  const addedRows: number[] = [];
  const removedRows: number[] = [];
  const decisions = new Map<number, { count: number; row: number }>();
  const groups = new Map<string, Group>();

  for (let at = 0; at < rows.keys.size; at += 1) {
    const was = before.decision[at] ?? 0;
    const is = after.decision[at] ?? 0;
    if (was === 0) {
      counts.added += 1;
      if (addedRows.length < EXAMPLES) addedRows.push(after.row[at] ?? 0);
      continue;
    }
    if (is === 0) {
      counts.removed += 1;
      if (removedRows.length < EXAMPLES) removedRows.push(before.row[at] ?? 0);
      continue;
    }
    counts.common += 1;
    if (before.to[at] !== after.to[at]) counts.readdressed += 1;
    if (was !== is) {
      const change = decisions.get(was * 256 + is);
      if (change === undefined) decisions.set(was * 256 + is, { count: 1, row: after.row[at] ?? 0 });
      else change.count += 1;
      continue;
    }
    if (is !== send && before.first[at] === 0 && after.first[at] === 0) continue;
    counts.compared += 1;
    const first = before.first[at] !== after.first[at];
    const rest = before.rest[at] !== after.rest[at];
    if (!first && !rest) continue;
    counts.changed += 1;
    join(groups, rows, at, first, rest, texts.columns.length);
  }
  const { added, removed, common, readdressed, compared, changed } = counts;
  return {
    recipients: { before: common + removed, after: common + added, added, removed, common, readdressed },
    addedRows,
    removedRows,
    decisions: [...decisions]
      .map(([pair, { count, row }]) => ({
        before: rows.words[Math.floor(pair / 256)] ?? '',
        after: rows.words[pair % 256] ?? '',
        recipients: count,
        row,
      }))
      .sort((a, b) => b.recipients - a.recipients),
    texts: { compared, changed, ...listGroups(groups, texts) },
  };
}

function join(groups: Map<string, Group>, rows: Rows, at: number, first: boolean, rest: boolean, width: number): void {
  const [before, after] = rows.sides;
  let columns = 0;
  for (let i = 0; i < width; i += 1) {
    if (before.cells[at * width + i] !== after.cells[at * width + i]) columns += 2 ** i;
  }
  const [beforeVariant, afterVariant] = [before.variant[at] ?? 0, after.variant[at] ?? 0];
  const key = `${beforeVariant} ${afterVariant} ${first} ${rest} ${columns}`;
  const known = groups.get(key);
  if (known !== undefined) known.count += 1;
  else if (groups.size < MAX_TOLD_APART) {
    groups.set(key, { beforeVariant, afterVariant, first, rest, columns, row: after.row[at] ?? 0, count: 1 });
  }
}

type Listed = Pick<Compared['texts'], 'groups' | 'more'>;

function listGroups(groups: ReadonlyMap<string, Group>, texts: Texts): Listed {
  const sorted = [...groups.values()].sort((a, b) => b.count - a.count);
  const shown = sorted.slice(0, MAX_GROUPS).map((group) => listed(group, texts));
  const used = new Set(shown.flatMap(({ templates }) => templates.map(({ what }) => what)));
  const idle = texts.changes.filter(({ what }) => !used.has(what)).map(({ what, shape }) => ({ what, shape }));
  const rest = sorted.slice(MAX_GROUPS);
  const recipients = rest.reduce((sum, { count }) => sum + count, 0);
  // A text that changes where nobody gets it: a branch that no row takes, a variant that nobody has.
  const nobody = rest.length === 0 && idle.length > 0 ? [{ ...EMPTY, templates: idle }] : [];
  return { groups: [...shown, ...nobody], more: rest.length === 0 ? null : { groups: rest.length, recipients } };
}

const EMPTY = { recipients: 0, columns: [], variant: null, row: null } as const;

function listed(group: Group, { changes, columns, variants }: Texts): Listed['groups'][number] {
  const before = variants[0][group.beforeVariant - 1] ?? null;
  const after = variants[1][group.afterVariant - 1] ?? null;
  const templates = changes.filter(({ scope }) => {
    if (scope.kind === 'all') return true;
    if (scope.kind === 'fallbacks') return group.rest;
    return group.first && before === after && scope.variant === after;
  });
  return {
    recipients: group.count,
    templates: templates.map(({ what, shape }) => ({ what, shape })),
    columns: columns.filter((_, i) => Math.floor(group.columns / 2 ** i) % 2 === 1),
    variant: before === after ? null : { before, after },
    row: group.row,
  };
}
