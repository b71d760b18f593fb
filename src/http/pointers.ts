import type { Wire } from '../model.ts';

/** A JSON pointer (RFC 6901) taken apart: the names to follow, none for the whole document. */
export type Pointer = readonly string[];

/** The wire settings with their pointers taken apart, made once for a run. */
export interface CompiledWire extends Wire {
  readonly pointers: {
    readonly messageId: readonly Pointer[];
    readonly error: readonly Pointer[];
    readonly failed: readonly Pointer[];
  };
  /** Takes secrets out of what the API says, before it is cut to length: a cut key would pass unseen afterwards. */
  readonly redact: (text: string) => string;
}

/** @param redact see `CompiledWire`; default: nothing is taken out */
export function compilePointers(wire: Wire, redact: (text: string) => string = (text) => text): CompiledWire {
  const { messageId, error, failed } = wire.response;
  return {
    ...wire,
    pointers: {
      messageId: messageId.map(parsePointer),
      error: error.map(parsePointer),
      failed: failed.map(parsePointer),
    },
    redact,
  };
}

/**
 * What stands at the first pointer that leads somewhere, null included; undefined where none does. Own properties only:
 * an answer with `__proto__` in it neither finds nor changes anything (SECURITY S12).
 */
export function find(document: unknown, pointers: readonly Pointer[], accept: (value: unknown) => boolean): unknown {
  for (const pointer of pointers) {
    const value = follow(document, pointer);
    if (accept(value)) return value;
  }
  return undefined;
}

function follow(document: unknown, pointer: Pointer): unknown {
  let value = document;
  for (const name of pointer) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value)) value = INDEX.test(name) ? value[Number(name)] : undefined;
    else value = Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
  }
  return value;
}

function parsePointer(text: string): Pointer {
  if (text === '') return [];
  const names = text.startsWith('/') ? text.slice(1).split('/') : text.split('/');
  return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}

const INDEX = /^(?:0|[1-9][0-9]{0,9})$/;
