import type { Wire } from '../model.ts';
import { segmentsOf } from '../util/json.ts';
import { DEFAULT_WIRE, eachChannel, wireChannels } from './defaults.ts';
import type { WireFile } from './written.ts';

/** Adds what is wrong with the value at a path below `wire`. */
export type ReportWire = (path: readonly (string | number)[], message: string, hint: string) => void;

/** What is written over the defaults, each setting by itself. Whoever names places for one gives up those of the default. */
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
    // Whoever names the place of the id knows that it is there: a 2xx without it is not this API's answer.
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

/** Statuses that are never about the recipient, or never say that nothing was done (FAILURES F2 to F6). */
const NOT_ABOUT_THE_RECIPIENT: ReadonlySet<number> = new Set([401, 402, 403, 407, 408, 425, 429, 499]);

/** What handbill itself says in these headers must not be overwritten. */
const OWN_HEADERS = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'x-api-key',
]);

/** Fields of the request that rich content must not take the place of. `metaData` and `body` hold more than their own. */
const OWN_FIELDS = new Set([
  'accountReference',
  'name',
  'characterSet',
  'channel',
  'from',
  'validity',
  'messageType',
  'recipients',
  'addressBook',
]);
const SHARED_FIELDS = new Set(['body', 'metaData']);
const OWN_PLACES = new Set(['/body/text', '/body/templateId']);

/** Names that no object from outside may have (SECURITY S12). */
const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);

/** Checks what a schema cannot judge. */
export function checkWire(written: WireFile, report: ReportWire): void {
  checkHeader(written, report);
  checkStatuses(written, report);
  checkNames(written, report);
  const { content = {} } = written;
  if (typeof content === 'string') checkContentPlace(content, ['content'], report);
  else for (const [channel, place] of Object.entries(content)) checkContentPlace(place, ['content', channel], report);
}

function checkHeader({ idempotencyHeader }: WireFile, report: ReportWire): void {
  if (idempotencyHeader === undefined || !OWN_HEADERS.has(idempotencyHeader.toLowerCase())) return;
  const message = `The header "${idempotencyHeader}" is needed for something else.`;
  report(['idempotencyHeader'], message, 'A usual name is Idempotency-Key.');
}

/** A status has one meaning, and not every status can have every meaning. */
function checkStatuses(
  { unsupportedChannel, tooLargeStatuses, retryStatuses = [] }: WireFile,
  report: ReportWire,
): void {
  const unsupported = unsupportedChannel?.statuses ?? [];
  const lists = [
    { path: ['unsupportedChannel', 'statuses'], statuses: unsupported, others: [] },
    { path: ['tooLargeStatuses'], statuses: tooLargeStatuses ?? [], others: [unsupported] },
    {
      path: ['retryStatuses'],
      statuses: retryStatuses,
      others: [unsupported, tooLargeStatuses ?? DEFAULT_WIRE.tooLargeStatuses],
    },
  ];
  for (const { path, statuses, others } of lists) {
    statuses.forEach((status, i) => {
      if (path[0] !== 'retryStatuses' && NOT_ABOUT_THE_RECIPIENT.has(status)) {
        const message = `The status ${status} is never an answer about the recipient or the size of a request.`;
        report([...path, i], message, 'It stops the run, is tried again, or leaves a doubt, whoever it is about.');
      } else if (others.some((other) => other.includes(status))) {
        report(
          [...path, i],
          `The status ${status} stands in two lists, and can mean only one thing.`,
          'Remove it from one.',
        );
      }
    });
  }
}

/** Names that become keys of the request. */
function checkNames({ emailField, referenceName, contentNames = {} }: WireFile, report: ReportWire): void {
  const forbidden = (path: readonly string[], name: string | undefined): void => {
    if (name === undefined || !FORBIDDEN.has(name)) return;
    report(path, `"${name}" cannot be a name here.`, 'It has a meaning of its own in many programs that read JSON.');
  };
  forbidden(['emailField'], emailField);
  forbidden(['referenceName'], referenceName);
  if (emailField === 'variables' || emailField === 'metaData') {
    report(['emailField'], `"${emailField}" holds something else of a recipient.`, 'A usual name is email.');
  }
  const taken = new Map<string, string>();
  for (const [name, other] of Object.entries(contentNames)) {
    forbidden(['contentNames', name], name);
    forbidden(['contentNames', name], other);
    const twin = taken.get(other);
    if (twin !== undefined) {
      report(
        ['contentNames', name],
        `"${other}" is the name of "${twin}" already.`,
        'Give each key a name of its own.',
      );
    }
    taken.set(other, name);
  }
}

/** Rich content goes into a field of its own: in `body`, in `metaData`, or beside them. */
function checkContentPlace(pointer: string, path: readonly string[], report: ReportWire): void {
  const example = 'A usual place is /body/content.';
  const names = segmentsOf(pointer);
  const [first = ''] = names;
  if (OWN_FIELDS.has(first)) {
    const message = `Rich content cannot go to "${pointer}": "${first}" is a field of its own in the request.`;
    report(path, message, example);
  } else if (SHARED_FIELDS.has(first) && names.length < 2) {
    report(
      path,
      `Rich content cannot take the place of "${first}" as a whole.`,
      `Write a place inside it: ${pointer}/content`,
    );
  } else if ([...OWN_PLACES].some((place) => pointer === place || pointer.startsWith(`${place}/`))) {
    report(path, `"${pointer}" is where the text or the template of the message goes.`, example);
  } else if (names.some((name) => name === '' || FORBIDDEN.has(name) || /^(?:[0-9]+|-)$/.test(name))) {
    report(
      path,
      `"${pointer}" leads through a name that cannot be made: empty, a number, or one with a meaning.`,
      example,
    );
  }
}
