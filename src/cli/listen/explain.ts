import type { ProjectReading } from '../../campaign/project.ts';
import { problem, refuse } from '../../errors.ts';
import type { DeliveryState, EventField, WebhookEvent } from '../../model.ts';
import type { CommandContext } from '../../operations/context.ts';
import { interpreterOf } from '../../operations/event-interpreter.ts';
import { projectHere } from '../../operations/project-ledger.ts';
import { countryOf } from '../../operations/suppress-addresses.ts';
import { createReportedAddressReader } from '../../recipients/reported-address.ts';
import { pointerTo } from '../../util/json.ts';
import { displayPath, findFileAnywhere, readSmallFile } from '../../util/paths.ts';
import { follow, type Pointer } from '../../util/pointer.ts';
import { jsonText } from '../../util/safe.ts';
import type { Level } from '../../webhook/fields.ts';
import { spelled } from '../../webhook/fields-spelling.ts';
import type { Found } from '../../webhook/interpret.ts';
import { readInput } from '../shared/read-input.ts';
import { type Advice, adviceOn } from './explain-advice.ts';
import { leavesOf } from './explain-leaves.ts';
import type { ExplainedEvent, Explanation } from './explain-result.ts';
import { explanationText } from './explain-text.ts';

/** A captured body of a file; bodies that come in have at most 64 KiB. */
const MAX_BYTES = 1024 * 1024;

/**
 * `handbill listen --explain`: opens no port and no ledger.
 *
 * @param file - path from the current folder, or `-` for standard input
 * @throws HandbillError exit 2: no such file, or what is wrong with handbill.yaml
 */
export async function explainPayload(
  file: string,
  format: 'text' | 'json',
  context: Pick<CommandContext, 'cwd' | 'env' | 'now' | 'out' | 'width' | 'tableWidth'>,
): Promise<void> {
  const reading = await projectHere(context, undefined);
  const input =
    file === '-' ? { name: 'standard input', bytes: await readInput(MAX_BYTES) } : await open(file, context);
  const explained = explain(input, reading, context.now());
  await context.out(
    format === 'json' ? `${jsonText(explained, 2)}\n` : explanationText(explained, context.tableWidth ?? context.width),
  );
}

async function open(
  written: string,
  { cwd }: Pick<CommandContext, 'cwd'>,
): Promise<{ readonly name: string; readonly bytes: Uint8Array }> {
  const found = await findFileAnywhere(cwd, written);
  const read = 'fault' in found ? found : await readSmallFile(found.path, MAX_BYTES, written);
  if ('fault' in read) {
    const { code, message, hint } = read.fault;
    throw refuse(problem(code, message, hint === undefined ? {} : { hint }));
  }
  return { name: 'path' in found ? displayPath(found.path, cwd) : written, bytes: read.bytes };
}

/** How a body is read with the mapping of a project. */
export function explain(
  input: { readonly name: string; readonly bytes: Uint8Array },
  reading: Pick<ProjectReading, 'project' | 'written'>,
  nowMs: number,
): Explanation {
  const address = createReportedAddressReader(countryOf(reading));
  const events: (ExplainedEvent & { readonly suggests: Advice })[] = [];
  const interpreter = interpreterOf(reading, {
    follow(event, level, found) {
      const from = sourcesOf(event, found);
      const used = new Set(Object.values(from));
      const at = level === null ? [] : pathOf(level);
      const all = level === null ? [] : leavesOf(level.value);
      const unused = all.filter(({ pointer }) => !isUsed(pointer, at, used));
      const clues = { unused, found: new Set(found.map(({ field }) => field)), address, nowMs };
      const suggests = adviceOn(event, clues);
      const shown = unused.map(({ pointer }) => pointerTo([...at, ...pointer]));
      events.push({ at: pointerTo(at), event, from, unused: shown, advice: suggests.says, suggests });
    },
  });
  const { form, problems } = interpreter.interpret(input.bytes, nowMs);
  const wrong = problems[0] ?? null;
  return {
    version: 1,
    file: input.name,
    form,
    problem: wrong?.message ?? null,
    events: wrong === null ? events.map(({ suggests, ...event }) => event) : [],
    mapping: wrong === null ? mappingOf(events.map(({ suggests }) => suggests)) : null,
  };
}

/** Read itself, or as a part of an object that was read, such as an error. */
function isUsed(pointer: Pointer, at: Pointer, used: ReadonlySet<string>): boolean {
  return pointer.some((_, i) => used.has(pointerTo([...at, ...pointer.slice(0, i + 1)])));
}

/** What the advice about all events comes to; null for nothing. */
function mappingOf(all: readonly Advice[]): Explanation['mapping'] {
  const fields: Partial<Record<EventField, string>> = {};
  const states: Record<string, DeliveryState> = {};
  for (const advice of all) {
    for (const [field, pointer] of Object.entries(advice.fields)) fields[field as EventField] ??= pointer;
    for (const [word, state] of Object.entries(advice.states)) states[word.toLowerCase()] ??= state;
  }
  const webhook = {
    ...(Object.keys(fields).length === 0 ? {} : { fields }),
    ...(Object.keys(states).length === 0 ? {} : { states }),
  };
  return Object.keys(webhook).length === 0 ? null : { webhook };
}

/** Where each part of an event was read, by its name in the event; what was looked at and not taken is not among it. */
function sourcesOf(event: WebhookEvent, found: readonly Found[]): Readonly<Record<string, string>> {
  const sources: Record<string, string> = {};
  if (event.kind === 'unread') return sources;
  for (const { field, level, pointer } of found) {
    const part = PARTS[event.kind][field];
    if (part === undefined || Object.hasOwn(sources, part) || !isTaken(event, part)) continue;
    const own = spelled(level.value, pointer);
    if (part === 'state' && event.kind === 'delivery' && !saysWord(event.word, level, own)) continue;
    sources[part] = pointerTo([...pathOf(level), ...own]);
  }
  return sources;
}

function isTaken(event: WebhookEvent, part: string): boolean {
  return (event as unknown as Readonly<Record<string, unknown>>)[part] !== null;
}

function saysWord(word: string | null, level: Level, pointer: Pointer): boolean {
  const value = pointer.length === 0 ? level.name : follow(level.value, pointer);
  return word === null || String(value).trim().startsWith(word);
}

/** What the fields of a mapping are in a report, and in a reply. */
const PARTS: Readonly<Record<'delivery' | 'reply', Readonly<Partial<Record<Found['field'], string>>>>> = {
  delivery: {
    reference: 'reference',
    callback: 'reference',
    messageId: 'messageId',
    eventId: 'eventId',
    status: 'state',
    group: 'state',
    kind: 'state',
    readTime: 'state',
    deliveredTime: 'state',
    person: 'address',
    to: 'address',
    contact: 'address',
    channel: 'channel',
    fault: 'error',
    error: 'error',
    code: 'error',
    text: 'textHash',
    timestamp: 'atMs',
    otherTime: 'atMs',
  },
  reply: {
    reference: 'reference',
    callback: 'reference',
    messageId: 'replyId',
    eventId: 'replyId',
    inReplyTo: 'messageId',
    from: 'from',
    person: 'from',
    contact: 'from',
    to: 'to',
    ownNumber: 'to',
    channel: 'channel',
    text: 'text',
    timestamp: 'atMs',
    otherTime: 'atMs',
  },
};

/** Where a level is in the body, as the body spells it. */
function pathOf(level: Level): Pointer {
  if (level.parent === null) return level.pointer;
  return [...pathOf(level.parent), ...spelled(level.parent.value, level.pointer)];
}
