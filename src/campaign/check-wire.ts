import { pointerTo } from '../util/json.ts';
import { parsePointer } from '../util/pointer.ts';
import { DEFAULT_WIRE } from './defaults.ts';
import type { WireFile } from './written.ts';

/** Statuses that are never about the recipient, or never say that nothing was done (failures.md, F2 to F6). */
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

/** Fields of the request that rich content must not take the place of; inside `body`, `metaData`, `recipients` it can lie. */
const OWN_FIELDS = new Set([
  'accountReference',
  'name',
  'characterSet',
  'channel',
  'from',
  'validity',
  'messageType',
  'addressBook',
]);

/** Names that no object from outside may have. */
const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);

/** Adds what is wrong with the value at a path below `wire`. */
export type ReportWire = (path: readonly (string | number)[], message: string, hint: string) => void;

/** Checks what a schema cannot judge. */
export function checkWire(written: WireFile, report: ReportWire): void {
  checkHeader(written, report);
  checkStatuses(written, report);
  checkNames(written, report);
  const { content = {} } = written;
  const places =
    typeof content === 'string' ? [[[], content] as const] : Object.entries(content).map(([c, p]) => [[c], p] as const);
  for (const [path, place] of places) {
    const fault = faultOfPlace(parsePointer(place), written);
    if (fault !== null) report(['content', ...path], `Rich content cannot go to "${place}": ${fault}.`, USUAL_PLACES);
  }
}

function checkHeader({ idempotencyHeader }: WireFile, report: ReportWire): void {
  if (idempotencyHeader === undefined || !OWN_HEADERS.has(idempotencyHeader.toLowerCase())) return;
  const message = `The header "${idempotencyHeader}" is needed for something else.`;
  report(['idempotencyHeader'], message, 'A usual name is Idempotency-Key.');
}

function checkStatuses({ unsupportedChannel, tooLargeStatuses, retryStatuses }: WireFile, report: ReportWire): void {
  for (const [path, statuses] of [
    [['unsupportedChannel', 'statuses'], unsupportedChannel?.statuses],
    [['tooLargeStatuses'], tooLargeStatuses],
  ] as const) {
    statuses?.forEach((status, i) => {
      if (!NOT_ABOUT_THE_RECIPIENT.has(status)) return;
      const message = `The status ${status} is never about the recipient, or the size of a request.`;
      report([...path, i], message, 'It stops the run, is tried again, or leaves a doubt. Remove it.');
    });
  }
  retryStatuses?.forEach((status, i) => {
    if (unsupportedChannel?.statuses?.includes(status) !== true) return;
    const message = `The status ${status} cannot mean both "try again" and "cannot receive this channel".`;
    report(['retryStatuses', i], message, 'Remove it here, or from unsupportedChannel.statuses.');
  });
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
  if (referenceName !== undefined && /^list-unsubscribe(?:-post)?$/i.test(referenceName)) {
    const message = `"${referenceName}" is where an email says how one unsubscribes.`;
    report(['referenceName'], message, 'The reference would take its place. A usual name is handbill.');
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

const USUAL_PLACES = 'Usual places are /body/content, and /recipients/0/content for one in every recipient.';

/** Rich content goes into a field of its own: in `body`, in `metaData`, in every recipient, or beside them. */
function faultOfPlace(names: readonly string[], { emailField, referenceName }: WireFile): string | null {
  const [first = '', ...inside] = names;
  if (OWN_FIELDS.has(first)) return `"${first}" is a field of its own in the request`;
  if (first === 'recipients' && inside[0] !== '0') return 'recipients are a list, and 0 means every one of them';
  const own = first === 'recipients' ? inside.slice(1) : names;
  if (own.some((name) => name === '' || FORBIDDEN.has(name) || /^(?:[0-9]+|-)$/.test(name))) {
    return 'it leads through a name that cannot be made';
  }
  const reference = `/metaData/${referenceName ?? DEFAULT_WIRE.referenceName}`;
  const taken =
    first === 'recipients'
      ? ['', '/msisdn', '/variables', '/metaData', `/${emailField ?? DEFAULT_WIRE.emailField}`, reference]
      : ['/body', '/body/text', '/body/templateId', '/metaData', reference];
  const place = pointerTo(own);
  if (taken.includes(place)) return 'that place is taken';
  return /^\/body\/(?:text|templateId)\//.test(place) ? 'it leads through the text of the message' : null;
}
