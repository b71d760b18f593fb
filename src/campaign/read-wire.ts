import type { Wire } from '../model.ts';
import { DEFAULT_WIRE, eachChannel, wireChannels } from './defaults.ts';
import type { WireFile } from './written.ts';

/** What is written over the defaults, each setting by itself. Places that are named for one replace those of the default. */
export function readWire(written: WireFile): Wire {
  const { channels, characterSets, response = {}, unsupportedChannel, content, ...rest } = written;
  return {
    ...DEFAULT_WIRE,
    ...rest,
    channels: wireChannels(channels),
    characterSets: { ...DEFAULT_WIRE.characterSets, ...characterSets },
    content: eachChannel(
      (channel) => (typeof content === 'string' ? content : content?.[channel]) ?? DEFAULT_WIRE.content[channel],
    ),
    response: readResponse(response),
    unsupportedChannel: { ...DEFAULT_WIRE.unsupportedChannel, ...unsupportedChannel },
  };
}

function readResponse(written: NonNullable<WireFile['response']>): Wire['response'] {
  const { recipientStatus, ...rest } = written;
  const response = { ...DEFAULT_WIRE.response, ...rest };
  const inEntries = (pointers: readonly string[] = []): readonly string[] =>
    pointers.flatMap((pointer) => insideEntry(pointer, response.recipients));
  const ids = inEntries(written.messageId);
  return {
    ...response,
    // If the place of the id is configured, the id is there: a 2xx without it is not this API's answer.
    messageIdRequired: written.messageId !== undefined,
    // What is written of the first entry is meant of every entry, where several recipients have one each.
    recipientId: written.recipientId ?? (ids.length > 0 ? ids : response.recipientId),
    recipientFailed: written.recipientFailed ?? [...inEntries(written.failed), ...response.recipientFailed],
    recipientError: written.recipientError ?? [...inEntries(written.error), ...response.recipientError],
    recipientStatus: { ...DEFAULT_WIRE.response.recipientStatus, ...recipientStatus },
  };
}

/** `/messages/0/id` is `/id` inside the entries of `/messages`; nothing where a pointer leads into no list. */
function insideEntry(pointer: string, lists: readonly string[]): readonly string[] {
  for (const list of lists) {
    const inside = pointer.startsWith(`${list}/0/`) ? pointer.slice(list.length + 2) : null;
    if (inside !== null) return [inside];
  }
  return [];
}
