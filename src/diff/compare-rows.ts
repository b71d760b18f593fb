import { CHANNELS } from '../content/channels.ts';
import { problem, refuse } from '../errors.ts';
import type { Decision, StepMessage } from '../model.ts';
import { number } from '../util/words.ts';
import type { TextGroup } from './result.ts';
import type { ScopedChange } from './texts.ts';

/**
 * Only numbers, no text: a recipient takes about 45 bytes and 4 for each column on each side. Arrays are indexed by the
 * position of the key; `stride`: columns for each.
 */
function arraysOf(capacity: number, stride: number) {
  return {
    decision: new Uint8Array(capacity),
    /** 1 and up: the position of the variant in the campaign; 0: none. */
    variant: new Uint8Array(capacity),
    row: new Uint32Array(capacity),
    /** Hash of the message of step 0 (or of all variants that are possible), and of the fallbacks. */
    first: new Float64Array(capacity),
    rest: new Float64Array(capacity),
    to: new Uint32Array(capacity),
    /** Hashes of cells. */
    cells: new Uint32Array(capacity * stride),
  };
}

type SideRows = ReturnType<typeof arraysOf>;

export type Gatherer = ReturnType<typeof createGatherer>;
type Rows = ReturnType<Gatherer['rows']>;

/** A Map holds at most 16.7 million keys; larger lists are refused. */
const MAX_KEYS = 10_000_000;
const FIRST_CAPACITY = 1024;

type Columns = readonly number[];

/**
 * @param columns - the same columns on both sides, by their positions in each list
 * @param variants - names of each side's variants, in order
 */
export function createGatherer(
  columns: readonly [Columns, Columns],
  variants: readonly [readonly string[], readonly string[]],
) {
  const keys = new Map<string, number>();
  /** Words for decisions, by their number in `SideRows.decision`; 0: this side does not have the key. */
  const words: string[] = [''];
  const wordNumbers = new Map<string, number>();
  const stride = columns[0].length;
  const sides = [createSide(stride), createSide(stride)] as const;

  const wordOf = (word: string): number => {
    const known = wordNumbers.get(word);
    if (known !== undefined) return known;
    wordNumbers.set(word, words.length);
    return words.push(word) - 1;
  };
  const positionOf = (key: string): number => {
    const known = keys.get(key);
    if (known !== undefined) return known;
    if (keys.size >= MAX_KEYS) {
      const message = `The two lists have more than ${number(MAX_KEYS)} recipients together.`;
      const hint = 'Compare smaller lists, or use preview on each side.';
      throw refuse(problem('file-too-large', message, { hint }));
    }
    // A copy: the key may be a slice that would keep a whole piece of the file in memory.
    keys.set(` ${key}`.slice(1), keys.size);
    return keys.size - 1;
  };

  return {
    add(side: 0 | 1, decision: Decision): void {
      const held = sides[side];
      // A row without a readable address has no key.
      if (decision.key === null || (decision.decision === 'skip' && decision.reason === 'duplicate')) return;
      const at = positionOf(decision.key);
      held.reserve(at);
      const word = wordOf(
        'reason' in decision && decision.reason !== null
          ? `${decision.decision} (${decision.reason})`
          : decision.decision,
      );
      // A recipient with an excluded row and an included one is included.
      if (held.decision[at] !== 0 && decision.decision !== 'send') return;
      held.decision[at] = word;
      held.row[at] = decision.row;
      held.to[at] = hash32(decision.to ?? '');
      held.variant[at] = 0;
      held.first[at] = 0;
      held.rest[at] = 0;
      if (decision.decision !== 'send' && decision.decision !== 'defer') return;
      const { values } = decision.recipient;
      for (const [i, column] of columns[side].entries()) held.cells[at * stride + i] = hash32(values[column] ?? '');
      if (decision.decision === 'defer') {
        const own = decision.mayGet.filter(({ step }) => step === 0);
        held.first[at] = hash53(own.map(hashMessage).join(' '), 0);
        held.rest[at] = hashFallbacks(decision.mayGet.slice(own.length));
        return;
      }
      held.variant[at] = decision.variant === null ? 0 : variants[side].indexOf(decision.variant) + 1;
      held.first[at] = hashMessage(decision);
      held.rest[at] = hashFallbacks(decision.fallbacks);
    },
    rows: () => ({ keys, sides, words }),
  };
}

function createSide(stride: number) {
  let capacity = FIRST_CAPACITY;
  const side = {
    ...arraysOf(capacity, stride),
    reserve(position: number): void {
      if (position < capacity) return;
      while (position >= capacity) capacity *= 2;
      const larger = arraysOf(capacity, stride);
      for (const name of Object.keys(larger) as (keyof SideRows)[]) larger[name].set(side[name]);
      Object.assign(side, larger);
    },
  };
  return side;
}

/** Everything of a message except its address, which is compared separately. */
function hashMessage(message: StepMessage): number {
  const { channel, text, content, variables, metaData, headers } = message;
  // The same text is another message on another channel.
  const seed = CHANNELS.indexOf(channel) + 1;
  if (content === null && variables === null && metaData === null && headers === null) return hash53(text ?? '', seed);
  return hash53(JSON.stringify([text, content, variables, metaData, headers]), seed);
}

function hashFallbacks(messages: readonly StepMessage[]): number {
  if (messages.length === 0) return 0;
  return hash53(messages.map((message) => `${message.to} ${hashMessage(message)}`).join('\n'), 0);
}

/**
 * 53 bits of a text: two multiplications a character, a tenth of the cost of SHA-256. Only texts of one recipient are
 * compared with each other, so that one change in 9e15 goes unseen.
 */
function hash53(text: string, seed: number): number {
  let high = 0xdeadbeef ^ seed;
  let low = 0x41c6ce57 ^ seed;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    high = Math.imul(high ^ unit, 2654435761);
    low = Math.imul(low ^ unit, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return 4294967296 * (2097151 & low) + (high >>> 0);
}

function hash32(text: string): number {
  return hash53(text, 0) >>> 0;
}

const EXAMPLES = 5;
const MAX_GROUPS = 20;
/** Bounds the groups while comparing rows; a list in which every column changes does not have more. */
const MAX_TOLD_APART = 5_000;

interface Group {
  /** Number of the word for the decision, the same on both sides. */
  readonly decision: number;
  readonly beforeVariant: number;
  readonly afterVariant: number;
  readonly first: boolean;
  readonly rest: boolean;
  readonly columns: number;
  readonly row: number;
  count: number;
}

interface Texts {
  readonly changes: readonly ScopedChange[];
  /** Columns with gathered cells, in order; at most 31. */
  readonly columns: readonly string[];
  readonly variants: readonly [readonly string[], readonly string[]];
  /** Variants without a condition on either side: a recipient who waits for the winner of a test may get any. */
  readonly drawn: ReadonlySet<string>;
}

/** Examples are row numbers of their list. */
export function compareRows(rows: Rows, texts: Texts) {
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
    texts: { compared, changed, ...listGroups(groups, rows.words, texts) },
  };
}

function join(groups: Map<string, Group>, rows: Rows, at: number, first: boolean, rest: boolean, width: number): void {
  const [before, after] = rows.sides;
  let columns = 0;
  for (let i = 0; i < width; i += 1) {
    if (before.cells[at * width + i] !== after.cells[at * width + i]) columns += 2 ** i;
  }
  const [beforeVariant, afterVariant] = [before.variant[at] ?? 0, after.variant[at] ?? 0];
  const decision = after.decision[at] ?? 0;
  const key = `${decision} ${beforeVariant} ${afterVariant} ${first} ${rest} ${columns}`;
  const known = groups.get(key);
  if (known !== undefined) known.count += 1;
  else if (groups.size < MAX_TOLD_APART) {
    const row = after.row[at] ?? 0;
    groups.set(key, { decision, beforeVariant, afterVariant, first, rest, columns, row, count: 1 });
  }
}

function listGroups(groups: ReadonlyMap<string, Group>, words: Rows['words'], texts: Texts) {
  const sorted = [...groups.values()].sort((a, b) => b.count - a.count);
  const shown = sorted.slice(0, MAX_GROUPS).map((group) => listed(group, words, texts));
  const used = new Set(shown.flatMap(({ templates }) => templates.map(({ what }) => what)));
  const idle = texts.changes.filter(({ what }) => !used.has(what)).map(({ what, shape }) => ({ what, shape }));
  const rest = sorted.slice(MAX_GROUPS);
  const recipients = rest.reduce((sum, { count }) => sum + count, 0);
  // A changed text without recipients: a branch that no row takes, or a variant without recipients.
  const unsent = rest.length === 0 && idle.length > 0 ? [{ ...EMPTY, templates: idle }] : [];
  return { groups: [...shown, ...unsent], more: rest.length === 0 ? null : { groups: rest.length, recipients } };
}

const EMPTY = { recipients: 0, decision: null, columns: [], variant: null, row: null } as const;

type ListedGroup = Omit<TextGroup, 'example'> & { readonly row: number | null };

function listed(group: Group, words: Rows['words'], { changes, columns, variants, drawn }: Texts): ListedGroup {
  const decision = words[group.decision] ?? '';
  const before = variants[0][group.beforeVariant - 1] ?? null;
  const after = variants[1][group.afterVariant - 1] ?? null;
  const templates = changes.filter(({ scope }) => {
    if (scope.kind === 'all') return true;
    if (scope.kind === 'fallbacks')
      return group.rest && (decision !== 'send' || (scope.of.has(before) && scope.of.has(after)));
    if (decision !== 'send') return group.first && scope.variant !== null && drawn.has(scope.variant);
    return group.first && before === after && scope.variant === after;
  });
  return {
    recipients: group.count,
    decision,
    templates: templates.map(({ what, shape }) => ({ what, shape })),
    columns: columns.filter((_, i) => Math.floor(group.columns / 2 ** i) % 2 === 1),
    variant: before === after ? null : { before, after },
    row: group.row,
  };
}
