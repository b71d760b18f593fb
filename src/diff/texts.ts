import { isDeepStrictEqual } from 'node:util';
import { diffArrays } from 'diff';
import type { Campaign, SourceText, Step, Variables } from '../model.ts';
import { messagesIn, stepsIn } from '../plan/compile.ts';
import { parsePointer } from '../util/json.ts';
import type { TemplateChange } from './result.ts';
import { hideAddresses } from './rules.ts';

/** The messages with a text: all, those of a variant (null: the campaign's message), or the fallbacks of some of these. */
type Scope =
  | { readonly kind: 'all' }
  | { readonly kind: 'fallbacks'; readonly of: ReadonlySet<string | null> }
  | { readonly kind: 'own'; readonly variant: string | null };

interface Source {
  readonly text: string;
  readonly scope: Scope;
}

export interface ScopedChange extends TemplateChange {
  readonly scope: Scope;
}

function sourcesOf(campaign: Campaign): ReadonlyMap<string, Source> {
  const sources = new Map<string, Source>();
  const users = new Map<string, Set<string | null>>();
  for (const { name, step, fallbacks } of messagesIn(campaign)) {
    const at = name === null ? '' : `variants.${name}.`;
    addStep(sources, step, at, { kind: 'own', variant: name });
    for (const [i, one] of fallbacks.entries()) {
      const shared = campaign.fallbacks[i];
      const isShared =
        one.template === shared?.template && one.content === shared.content && one.variables === shared.variables;
      const place = `${isShared ? '' : at}fallback.${one.channel}.`;
      const of = users.get(place) ?? new Set();
      users.set(place, of.add(name));
      addStep(sources, one, place, { kind: 'fallbacks', of });
    }
  }
  addVariables(sources, campaign.recipientMetaData, 'recipientMetaData', { kind: 'all' });
  for (const [name, { text }] of campaign.partials) sources.set(`partials.${name}`, { text, scope: { kind: 'all' } });
  return sources;
}

function addStep(sources: Map<string, Source>, { template, content, variables }: Step, at: string, scope: Scope): void {
  if (template?.kind === 'text') sources.set(`${at}text`, { text: template.source.text, scope });
  for (const [pointer, { text }] of content?.texts ?? []) {
    sources.set(`${at}content.${parsePointer(pointer).join('.')}`, { text, scope });
  }
  addVariables(sources, variables, `${at}variables`, scope);
}

function addVariables(sources: Map<string, Source>, variables: Variables<SourceText> | null, at: string, scope: Scope) {
  for (const [name, source] of Object.entries(variables ?? {})) {
    if (typeof source.text === 'string') sources.set(`${at}.${name}`, { text: source.text, scope });
    else addVariables(sources, source as Readonly<Record<string, SourceText>>, `${at}.${name}`, scope);
  }
}

export function changedSources(before: Campaign, after: Campaign): readonly ScopedChange[] {
  const old = sourcesOf(before);
  const now = sourcesOf(after);
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((what) => {
    const [was, is] = [old.get(what), now.get(what)];
    if (isDeepStrictEqual(was?.text, is?.text)) return [];
    const scope = is?.scope ?? was?.scope ?? { kind: 'all' };
    return [{ what: hideAddresses(what), shape: shapeOf(was?.text ?? '', is?.text ?? ''), scope }];
  });
}

/** Columns that any text of either side may show: all of them where a provider gets every column. */
export function columnsShown(campaigns: readonly Campaign[], columns: readonly string[]): readonly string[] {
  if (campaigns.flatMap(stepsIn).some(({ template, variables }) => template?.kind === 'provider' && variables === null))
    return columns;
  const texts = campaigns.flatMap((one) => [...sourcesOf(one).values()].map(({ text }) => text));
  const to = new Set(campaigns.flatMap((one) => one.fallbacks.flatMap((fallback) => fallback.to ?? [])));
  return columns.filter((column) => to.has(column) || texts.some((text) => text.includes(column)));
}

/** Words of both texts, or of one. */
interface Piece {
  readonly kind: 'same' | 'old' | 'new';
  readonly text: string;
}

/** Texts with more inserted and deleted words are entirely different: bounds time and memory. */
const MAX_EDITS = 500;

/** Changes by word. A Handlebars tag is one word, and so is each sign and each stretch of white space. */
export function wordDiff(before: string, after: string): readonly Piece[] {
  const old = wordsOf(before);
  const now = wordsOf(after);
  const start = lengthOfSame(old, now);
  const rest = [old.slice(start), now.slice(start)] as const;
  const end = lengthOfSame(rest[0].toReversed(), rest[1].toReversed());
  return tidy([
    pieceOf('same', old.slice(0, start)),
    ...changes(rest[0].slice(0, rest[0].length - end), rest[1].slice(0, rest[1].length - end)),
    pieceOf('same', old.slice(old.length - end)),
  ]);
}

function wordsOf(text: string): readonly string[] {
  return text.match(/\{\{\{?[^{}]*\}?\}\}|\s+|[\p{L}\p{M}\p{N}_]+|[^\s]/gu) ?? [];
}

function lengthOfSame(old: readonly string[], now: readonly string[]): number {
  const different = old.findIndex((word, index) => word !== now[index]);
  return different === -1 ? old.length : different;
}

function changes(old: readonly string[], now: readonly string[]): readonly Piece[] {
  const found = diffArrays([...old], [...now], { maxEditLength: MAX_EDITS });
  if (found === undefined) return [pieceOf('old', old), pieceOf('new', now)];
  return found.map(({ added, removed, value }) => pieceOf(added ? 'new' : removed ? 'old' : 'same', value));
}

function pieceOf(kind: Piece['kind'], words: readonly string[]): Piece {
  return { kind, text: words.join('') };
}

/** Joins adjacent pieces: old text before new text, and never only a blank between two changes. */
function tidy(pieces: readonly Piece[]): readonly Piece[] {
  const joined: Piece[] = [];
  let old = '';
  let now = '';
  const flush = (): void => {
    if (old !== '') joined.push({ kind: 'old', text: old });
    if (now !== '') joined.push({ kind: 'new', text: now });
    old = '';
    now = '';
  };
  const shown = pieces.filter(({ text }) => text !== '');
  for (const [index, { kind, text }] of shown.entries()) {
    if (kind === 'old') old += text;
    else if (kind === 'new') now += text;
    else if (/^[^\S\n]+$/.test(text) && old !== '' && now !== '' && isRewritten(shown, index + 1)) {
      old += text;
      now += text;
    } else {
      flush();
      joined.push({ kind, text });
    }
  }
  flush();
  return joined;
}

/** Old and new text follow, so that the two changes around a blank read as one. */
function isRewritten(pieces: readonly Piece[], at: number): boolean {
  const [first, second] = pieces.slice(at, at + 2);
  return first !== undefined && second !== undefined && first.kind !== 'same' && second.kind !== 'same';
}

/** Characters shown around a change; the rest of a long text is cut. */
const AROUND = 40;
const MAX_CHANGE = 300;
const MAX_SHAPE = 1_200;

/** One line in the form of git's `--word-diff`: `[-Hello-]{+Hi+} {{name}}`. */
export function shapeOf(before: string, after: string): string {
  const pieces = wordDiff(before, after);
  const shown = pieces.map(({ kind, text }, index) => {
    if (kind === 'same') return around(text, index === 0, index === pieces.length - 1);
    return kind === 'old' ? `[-${cutAt(text, MAX_CHANGE)}-]` : `{+${cutAt(text, MAX_CHANGE)}+}`;
  });
  return cutAt(shown.join(''), MAX_SHAPE);
}

function around(text: string, first: boolean, last: boolean): string {
  if (text.length <= AROUND * 2) return text;
  const head = first ? '' : wholeCharacters(text.slice(0, AROUND));
  const tail = last ? '' : wholeCharacters(text.slice(-AROUND));
  return `${head}…${tail}`;
}

function cutAt(text: string, most: number): string {
  return text.length <= most ? text : `${wholeCharacters(text.slice(0, most))}…`;
}

/** Without half a character at either end. */
function wholeCharacters(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
}
