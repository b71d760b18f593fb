import type { Wire } from '../model.ts';
import { fold, isIndex, type Pointer, parsePointer } from '../util/pointer.ts';

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

/** Does a pointer lead into an entry of the list, as `/messages/0/id` does with `/messages`? */
function leadsInto(list: Pointer, pointer: Pointer): boolean {
  return isIndex(pointer[list.length] ?? '') && list.every((name, i) => name === pointer[i]);
}
