import { type Diagnostic, problem } from '../errors.ts';
import type { SourceText } from '../model.ts';
import { number } from '../util/words.ts';
import type { Expression, Loc, OutExpression, OutStatement } from './ast.ts';
import type { Kind, Settings } from './helpers/signature.ts';
import type { Parsed } from './parse.ts';
import { at, type Located, TEMPLATE_LIMITS, tooDeeplyNested } from './position.ts';

export interface State {
  readonly columns: ReadonlySet<string>;
  readonly partials: ReadonlyMap<string, SourceText>;
  readonly settings: Settings;
  readonly escape: 'none' | 'html';
  /** UTF-8 bytes that it may have, partials put in place. */
  readonly mostBytes: number;
  readonly diagnostics: Map<string, Diagnostic>;
  readonly parsed: Map<string, Parsed | null>;
  readonly used: Set<string>;
  readonly required: Set<string>;
  readonly shown: Map<string, Shown>;
  /** By place: a partial that is included twice compares once. */
  readonly comparisons: Map<string, Comparison>;
  /** Nodes and bytes so far, partials put in place. */
  nodes: number;
  bytes: number;
  /** Too large: the check ends. */
  stopped: boolean;
}

export interface Shown {
  /** With blanks at their ends. */
  readonly whole: boolean;
  /** Also where they hold nothing, such as `NULL`: no `default` and no `{{#if}}` of that column. */
  readonly always: boolean;
}

/** `(eq plan "gold")`: a column, the text that it is compared with, and where. */
export interface Comparison {
  readonly column: string;
  readonly text: string;
  readonly place: Pick<Diagnostic, 'at' | 'source'>;
}

export interface Place {
  readonly state: State;
  readonly located: Located;
  readonly scope: ReadonlyMap<string, Given>;
  /** Outside every `{{#if}}` and `{{#unless}}`, and not the value that a `default` replaces. */
  readonly mandatory: boolean;
  /** Columns that the `{{#if}}` or `{{#unless}}` around it asks about. */
  readonly guarded: ReadonlySet<string>;
  readonly depth: number;
  /** Partials that are being put in place, the outermost first. */
  readonly within: readonly string[];
}

/** Inserted wherever its name is used, and checked where it was written. */
export type Given = { readonly expression: Expression; readonly place: Place };

export type Statements = readonly OutStatement[];

export type Checked = { readonly kind: Kind; readonly out: OutExpression };

/** Once, however many places include the partial that contains it. */
export function report({ state }: Place, found: Diagnostic): void {
  const { file, line, column } = found.at ?? {};
  const key = JSON.stringify([found.code, file, line, column, found.message]);
  state.diagnostics.set(key, found);
}

/** Returns null for a caller that has nothing to give then. */
export function reportAt(place: Place, loc: Loc, code: Diagnostic['code'], message: string, hint?: string): null {
  report(place, problem(code, message, { ...at(place.located, loc), hint }));
  return null;
}

export function notAllowed(place: Place, loc: Loc, message: string, hint?: string): null {
  return reportAt(place, loc, 'template-not-allowed', message, hint);
}

/** False: the template is too large, which ends the check. */
export function enter(place: Place, loc: Loc): boolean {
  if (place.state.stopped) return false;
  place.state.nodes++;
  if (place.state.nodes > TEMPLATE_LIMITS.nodes) {
    const most = number(TEMPLATE_LIMITS.nodes);
    return stop(place, loc, `The template has more than ${most} tags, texts and values, partials included.`);
  }
  if (place.depth > TEMPLATE_LIMITS.depth) {
    place.state.stopped = true;
    report(place, tooDeeplyNested(place.located, loc));
    return false;
  }
  return true;
}

/** False: the template is too large. */
export function enterText(place: Place, loc: Loc, bytes: number): boolean {
  place.state.bytes += bytes;
  if (place.state.bytes <= place.state.mostBytes) return true;
  return stop(
    place,
    loc,
    `The template with its partials put in place is longer than ${place.state.mostBytes / 1024} KiB.`,
  );
}

function stop(place: Place, loc: Loc, message: string): false {
  place.state.stopped = true;
  reportAt(place, loc, 'template-too-large', message);
  return false;
}

export function deeper(place: Place, change: Partial<Place> = {}): Place {
  return { ...place, depth: place.depth + 1, ...change };
}
