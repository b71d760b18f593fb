import type { Json } from '../util/json.ts';

/** A recipient of a request, as placeholders see it. */
export interface Entry {
  /** The address in the form of the provider. */
  readonly to: string;
  /** Null outside of a repetition, where a request has several recipients: it is that of none of them. */
  readonly reference: string | null;
  readonly text: string | null;
  readonly variables: Readonly<Record<string, Json>> | null;
  readonly content: Readonly<Record<string, Json>> | null;
  readonly metaData: Readonly<Record<string, string>> | null;
  /** Of an email, such as `List-Unsubscribe`. */
  readonly headers: Readonly<Record<string, string>> | null;
  /** Null for messages that are no SMS. */
  readonly isGsm: boolean | null;
}

/** One step of a repetition: `{name}` and `{value}`. */
export interface Item {
  readonly name: string;
  readonly value: Json;
}

/** A value that a placeholder names. `constant`: the same for all messages of a step. Undefined: absent. */
export type Value =
  | { readonly constant: Json | undefined }
  | {
      readonly of: (entry: Entry, item: Item | undefined) => Json | undefined;
      /** Every message has it, and it is a text that JSON writes as it is. */
      readonly isPlain?: true;
    };

/** The value of a name; null: there is none of that name. */
export type Lookup = (name: string) => Value | null;

/** A part of a text with placeholders: `Bearer {secret.key}`, `{characterSet|auto}`. */
export type Piece = string | { readonly name: string; readonly instead: string | null };

/**
 * Takes a text of a provider file apart. A name may be followed by what is used where it is absent: `{a|b}`.
 * @returns null where a brace belongs to no placeholder
 */
export function piecesOf(text: string): readonly Piece[] | null {
  const pieces: Piece[] = [];
  let end = 0;
  for (const found of text.matchAll(PLACEHOLDER)) {
    if (found.index > end) pieces.push(text.slice(end, found.index));
    pieces.push({ name: found[1] ?? '', instead: found[2] ?? null });
    end = found.index + found[0].length;
  }
  if (end < text.length) pieces.push(text.slice(end));
  return pieces.some((piece) => typeof piece === 'string' && /[{}]/.test(piece)) ? null : pieces;
}

const PLACEHOLDER = /\{([A-Za-z][\w.-]*)(?:\|([^{}|]*))?\}/g;

/**
 * Compiles a text. A placeholder alone keeps the type of its value; beside other text it becomes text, and where it is
 * absent, so is the whole.
 */
export function compileText(text: string, lookup: Lookup): Value {
  const values = (piecesOf(text) ?? [text]).map((piece) =>
    typeof piece === 'string' ? constant(piece) : placed(piece, lookup),
  );
  const [only = constant('')] = values;
  if (values.length <= 1) return only;
  const of = (entry: Entry, item: Item | undefined): string | undefined => {
    let whole = '';
    for (const value of values) {
      const part = 'of' in value ? value.of(entry, item) : value.constant;
      if (part === undefined) return undefined;
      whole += asText(part);
    }
    return whole;
  };
  return values.some((value) => 'of' in value) ? { of } : constant(of(NO_ENTRY, undefined));
}

function placed({ name, instead }: Exclude<Piece, string>, lookup: Lookup): Value {
  const value = lookup(name) ?? constant(undefined);
  if (instead === null) return value;
  const other = lookup(instead) ?? constant(instead);
  if (!('of' in value)) return value.constant === undefined ? other : value;
  return { of: (entry, item) => value.of(entry, item) ?? ('of' in other ? other.of(entry, item) : other.constant) };
}

/** A value as a text: what is no text is JSON. */
export function asText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function constant(value: Json | undefined): { readonly constant: Json | undefined } {
  return { constant: value };
}

const NO_ENTRY: Entry = {
  to: '',
  reference: '',
  text: null,
  variables: null,
  content: null,
  metaData: null,
  headers: null,
  isGsm: null,
};
