import type { Wire } from '../model.ts';

/** A JSON pointer (RFC 6901) taken apart: the names to follow, none for the whole document. */
export type Pointer = readonly string[];

/** The wire settings with their pointers taken apart, made once for a run. */
export interface CompiledWire extends Wire {
  readonly pointers: {
    readonly messageId: readonly Pointer[];
    readonly error: readonly Pointer[];
    readonly failed: readonly Pointer[];
    /** Of the two above, those that do not lead into an entry: what is said of one recipient is not said of all. */
    readonly ofRequest: { readonly messageId: readonly Pointer[]; readonly failed: readonly Pointer[] };
    readonly lists: readonly Pointer[];
    readonly refusedLists: readonly Pointer[];
    readonly code: readonly Pointer[];
    /** Inside an entry of a list. */
    readonly entry: {
      readonly address: readonly Pointer[];
      readonly id: readonly Pointer[];
      readonly failed: readonly Pointer[];
      readonly error: readonly Pointer[];
      readonly status: readonly Pointer[];
    };
  };
  /** `unsupportedChannel.codes`, folded. */
  readonly unsupportedCodes: ReadonlySet<string>;
  /** `response.recipientStatus.refused`, folded. */
  readonly refusedWords: ReadonlySet<string>;
  /** Takes secrets out of what the API says, before it is cut to length: a cut key would pass unseen afterwards. */
  readonly redact: (text: string) => string;
}

/** @param redact see `CompiledWire`; default: nothing is taken out */
export function compilePointers(wire: Wire, redact: (text: string) => string = (text) => text): CompiledWire {
  const { response, unsupportedChannel } = wire;
  const messageId = response.messageId.map(parsePointer);
  const failed = response.failed.map(parsePointer);
  const lists = response.recipients.map(parsePointer);
  const isOfRequest = (pointer: Pointer): boolean => !lists.some((list) => leadsInto(list, pointer));
  return {
    ...wire,
    pointers: {
      messageId,
      error: response.error.map(parsePointer),
      failed,
      ofRequest: { messageId: messageId.filter(isOfRequest), failed: failed.filter(isOfRequest) },
      lists,
      refusedLists: response.refusedRecipients.map(parsePointer),
      code: unsupportedChannel.codeAt.map(parsePointer),
      entry: {
        address: response.recipientAddress.map(parsePointer),
        id: response.recipientId.map(parsePointer),
        failed: response.recipientFailed.map(parsePointer),
        error: response.recipientError.map(parsePointer),
        status: response.recipientStatus.at.map(parsePointer),
      },
    },
    unsupportedCodes: new Set(unsupportedChannel.codes.map(fold)),
    refusedWords: new Set(response.recipientStatus.refused.map(fold)),
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

/** What stands at a pointer, or undefined. */
export function follow(document: unknown, pointer: Pointer): unknown {
  let value = document;
  for (const name of pointer) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value)) value = INDEX.test(name) ? value[Number(name)] : undefined;
    else value = Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
  }
  return value;
}

/** `CHANNEL_NOT_SUPPORTED` and `channel-not-supported` are one word. */
export function fold(word: string): string {
  return word.toLowerCase().replace(/[-_\s]/g, '');
}

/** Does a pointer lead into an entry of the list, as `/messages/0/id` does with `/messages`? */
function leadsInto(list: Pointer, pointer: Pointer): boolean {
  return INDEX.test(pointer[list.length] ?? '') && list.every((name, i) => name === pointer[i]);
}

function parsePointer(text: string): Pointer {
  if (text === '') return [];
  const names = text.startsWith('/') ? text.slice(1).split('/') : text.split('/');
  return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}

const INDEX = /^(?:0|[1-9][0-9]{0,9})$/;
