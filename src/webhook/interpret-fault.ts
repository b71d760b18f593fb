import type { Fault } from './causes.ts';
import { type CompiledFields, type Level, ownPointers, type Trace, takeField } from './fields.ts';
import { cutText, errorOf, idOf, isNoError, wordOf } from './interpret-values.ts';
import { foldName } from './states.ts';

/** What an event says of an error; null where it says that there is none, or nothing. */
export interface SaidFault extends Fault {
  /** It stands where nothing but errors do, so that its presence alone means one. */
  readonly isPlain: boolean;
}

/** The error of an event: what an object for it holds, and what stands beside it under names of its own. */
export function faultOf(level: Level, fields: CompiledFields, trace: Trace | null): SaidFault | null {
  const options = { reach: 'event', trace } as const;
  const isOwn = ownPointers('error', fields) !== undefined;
  const parts = takeField(isOwn ? 'error' : 'fault', level, fields, partsOf, isOwn ? { trace } : options);
  const code = parts?.code ?? takeField('code', level, fields, someError(idOf), options);
  const text = parts?.text ?? (isOwn ? null : takeField('error', level, fields, someError(errorOf), options));
  const name = takeField('faultName', level, fields, wordOf, { reach: 'event' });
  if (parts === null && code === null && text === null) return null;
  const flag = takeField('permanent', level, fields, yes, { reach: 'event' });
  const names = [...(parts?.names ?? []), ...(name === null ? [] : [name])];
  return { code, names, text, isPermanent: parts?.isPermanent === true || flag === true, isPlain: parts !== null };
}

/** `1300: Not part of the provider network`, at most 500 characters. */
export function errorText({ code, names, text }: Fault): string | null {
  const said = text ?? names[0] ?? null;
  if (code === null || said === null) return code ?? said;
  return said.includes(code) ? said : cutText(`${code}: ${said}`, MAX_ERROR);
}

const MAX_ERROR = 500;

const CODE_NAMES = ['code', 'errorcode', 'id', 'errorid'];
const TEXT_NAMES = ['message', 'description', 'detail', 'details', 'reason', 'text', 'title'];
const NAME_NAMES = ['name', 'code', 'type', 'reason', 'title', 'subcode', 'groupname'];
const PERMANENT_NAMES = ['permanent', 'ispermanent', 'ispermanentfailure'];

/** An error as an object, a list of such, or a sentence; null for what says that there is none. */
function partsOf(value: unknown): Fault | null {
  const one: unknown = Array.isArray(value) ? value[0] : value;
  if (typeof one !== 'object' || one === null) {
    const text = someError(errorOf)(one);
    return text === null ? null : { code: null, names: [text], text, isPermanent: false };
  }
  const held = new Map<string, unknown>();
  for (const key of Object.keys(one).sort()) {
    const folded = foldName(key.slice(0, MAX_KEY));
    if (!held.has(folded)) held.set(folded, (one as Readonly<Record<string, unknown>>)[key]);
  }
  const names = NAME_NAMES.map((name) => wordOf(held.get(name))).filter((word) => word !== null);
  if (held.size === 0 || names.some(isNoError)) return null;
  const firstOf = <T>(keys: readonly string[], read: (of: unknown) => T | null): T | null => {
    for (const key of keys) {
      const found = read(held.get(key));
      if (found !== null) return found;
    }
    return null;
  };
  return {
    code: firstOf(CODE_NAMES, someError(idOf)),
    names,
    text: firstOf(TEXT_NAMES, errorOf),
    isPermanent: PERMANENT_NAMES.some((name) => yes(held.get(name)) === true),
  };
}

/** A longer name is none of ours. */
const MAX_KEY = 64;

function someError(read: (value: unknown) => string | null): (value: unknown) => string | null {
  return (value) => {
    const text = read(value);
    return text === null || isNoError(text) ? null : text;
  };
}

function yes(value: unknown): true | null {
  return value === true || (typeof value === 'string' && value.toLowerCase() === 'true') ? true : null;
}
