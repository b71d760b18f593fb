import { stringify } from 'yaml';
import type { DeliveryState, EventField, WebhookEvent } from '../../model.ts';
import type { CommandContext } from '../../operations/context.ts';
import { countryOf, environmentFor, interpreterOf, projectHere } from '../../operations/project.ts';
import { createReportedAddressReader } from '../../recipients/address.ts';
import { countOf } from '../../report/words.ts';
import { safe, safeLine } from '../../util/escape.ts';
import { type Pointer, pointerTo } from '../../util/json.ts';
import { readNamedFile } from '../../util/paths.ts';
import { type Level, spelled } from '../../webhook/fields.ts';
import type { Found } from '../../webhook/interpret.ts';
import { stateOf } from '../../webhook/states.ts';
import { readTime } from '../../webhook/times.ts';
import { withPipedList } from '../shared/piped-list.ts';

/** A captured body of a file; bodies that come in have at most 64 KiB. */
const MAX_BYTES = 1024 * 1024;
/** Events in the text, and unread values of each. The rest is counted. */
const MOST_EVENTS = 20;
const MOST_VALUES = 8;

/**
 * `handbill listen --explain`: values of a captured payload that handbill does not understand, and settings that would
 * read them. Opens no port and no ledger. `file` is a path, or `-` for standard input; `named` is the environment.
 * Throws exit 2: no such file, handbill.yaml is wrong, or an environment has to be named.
 */
export async function explainPayload(
  file: string,
  named: string | undefined,
  context: Pick<CommandContext, 'cwd' | 'env' | 'now' | 'out'>,
): Promise<void> {
  const reading = await projectHere(context, undefined);
  const environment = environmentFor(reading, named);
  const bytes = await withPipedList(file, ({ pipedList = file }) => readNamedFile(context.cwd, pipedList, MAX_BYTES));
  const name = file === '-' ? 'standard input' : safeLine(file);
  const address = createReportedAddressReader(countryOf(reading));
  const nowMs = context.now();
  const fields: Partial<Record<EventField, string>> = {};
  const states: Record<string, DeliveryState> = {};
  const shown: string[] = [];
  const interpreter = interpreterOf(reading, environment, {
    follow(event, level, found) {
      const unread = level === null ? [] : unreadOf(level, event.kind === 'unread' ? [] : found);
      const advice = adviceOn(event, new Set(found.map(({ field }) => field)), (wanted) => {
        const left = new Set(unread);
        return wanted.flatMap((field) => {
          const leaf = [...left].find((one) => looksLike(field, one, address, nowMs));
          if (leaf !== undefined) left.delete(leaf);
          return leaf === undefined ? [] : [[field, pointerTo(leaf.pointer)] as const];
        });
      });
      for (const [field, pointer] of advice.fields) fields[field] ??= pointer;
      if (advice.word !== undefined) states[advice.word.toLowerCase()] ??= 'sent';
      if (advice.says.length > 0 || advice.fields.length > 0) shown.push(eventText(level, unread, advice.says));
    },
  });
  const { form, problems, events } = interpreter.interpret(bytes, nowMs);
  const [wrong] = problems;
  if (wrong !== undefined) return await context.out(`${name} is refused: ${wrong.message}\n`);
  const verdict = shown.length === 0 ? 'All that handbill needs is read.' : `Something is missing in ${shown.length}:`;
  const parts = [`${name} is ${FORMS[form]}, with ${countOf(events.length, 'event')} in it. ${verdict}\n`];
  parts.push(...shown.slice(0, MOST_EVENTS));
  if (shown.length > MOST_EVENTS) parts.push(`... and ${shown.length - MOST_EVENTS} more.\n`);
  const webhook = Object.entries({ fields, states }).filter(([, settings]) => Object.keys(settings).length > 0);
  if (webhook.length > 0) {
    const settings = { environments: { [environment]: { webhook: Object.fromEntries(webhook) } } };
    const yaml = safe(stringify(settings)).replace(/^(?=.)/gm, '  ');
    parts.push(`This in handbill.yaml may help; check what it means:\n\n${yaml}`);
  }
  await context.out(parts.join('\n'));
}

const FORMS = { json: 'JSON', 'json-lines': 'JSON lines', form: 'a form', empty: 'empty' } as const;

/** A value that is neither an array nor an object, and its path from the event. */
interface Leaf {
  readonly pointer: Pointer;
  readonly value: string | number | boolean;
}

/** The first 200 values of an event that are in nothing that was found: a fault counts with all that it holds. */
function unreadOf(level: Level, found: readonly Found[]): readonly Leaf[] {
  const own = found.filter((one) => one.level === level && one.pointer.length > 0);
  const used = new Set(own.map(({ pointer }) => pointerTo(spelled(level.value, pointer))));
  const leaves: Leaf[] = [];
  const visit = (inner: unknown, pointer: Pointer): void => {
    if (leaves.length >= 200 || pointer.length > 32 || used.has(pointerTo(pointer))) return;
    if (typeof inner === 'object' && inner !== null) {
      for (const [name, value] of Object.entries(inner)) visit(value, [...pointer, name]);
    } else if (typeof inner === 'string' ? inner.trim() !== '' : typeof inner === 'number' || inner === true) {
      leaves.push({ pointer, value: inner as Leaf['value'] });
    }
  };
  visit(level.value, []);
  return leaves;
}

interface Advice {
  readonly says: readonly string[];
  /** Entries for `webhook.fields`: JSON pointers from the event. */
  readonly fields: readonly (readonly [EventField, string])[];
  /** A state that `webhook.states` does not know. */
  readonly word?: string;
}

/** `found`: fields that were found, whatever the event became; `look`: unread values that look like these fields. */
function adviceOn(
  event: WebhookEvent,
  found: ReadonlySet<string>,
  look: (wanted: readonly EventField[]) => Advice['fields'],
): Advice {
  if (event.kind !== 'unread') {
    const isNameless = event.kind === 'delivery' && event.reference === null && event.messageId === null;
    const fields = look([
      ...(isNameless ? ['messageId' as const] : []),
      ...(event.atMs === null ? ['timestamp' as const] : []),
    ]);
    const has = (wanted: EventField): boolean => fields.some(([field]) => field === wanted);
    const says: string[] = [];
    const word = event.kind === 'delivery' && event.state === 'unknown' ? event.word : null;
    const isUnknown = word !== null && !/^unknown$/i.test(word);
    if (isUnknown) says.push(`The state "${word}" counts as "unknown" until \`webhook.states\` says what it means.`);
    if (isNameless && !has('messageId'))
      says.push('Nothing in it looks like the id of a message: it is joined to what was sent by its address alone.');
    if (event.atMs === null && !has('timestamp')) says.push('It does not say when it happened.');
    return { says, fields, ...(isUnknown ? { word } : {}) };
  }
  if (found.has('text') && !found.has('from') && !found.has('person')) {
    return { says: ['It holds a text, but no sender.'], fields: look(['from']) };
  }
  if (found.has('status') || found.has('kind') || found.has('group')) {
    const says = ['It says a state, but names neither message nor recipient.'];
    return { says, fields: look(['messageId', 'to']) };
  }
  const fields = look(['status', 'messageId', 'to', 'timestamp']);
  const names = new Set(fields.map(([field]) => field));
  // Without a state it is not a report, wherever its other parts are.
  const isReport = names.has('status') && (names.has('messageId') || names.has('to'));
  return { says: ['It is neither a delivery report nor a reply.'], fields: isReport ? fields : [] };
}

function looksLike(
  field: EventField,
  { pointer, value }: Leaf,
  address: (written: string) => string | null,
  nowMs: number,
): boolean {
  if (field === 'timestamp') return readTime(value, nowMs) !== null;
  if (typeof value === 'boolean') return false;
  const name = pointer.at(-1) ?? '';
  const text = String(value);
  if (field === 'status') return stateOf(text, new Map()) !== null || STATE_NAME.test(name);
  if (field === 'messageId') return ID_NAME.test(name) && !PERSON_NAME.test(name) && text.length >= 3;
  return address(text) !== null;
}

const STATE_NAME = /(?:status|phase|outcome|result)$/i;
const ID_NAME = /(?:id|ident(?:ifier)?|uuid|ref(?:erence)?|num(?:ber)?|no|key)$/i;
/** `destNumber`, `phone_no`: a number of a person, whatever the end of the name. */
const PERSON_NAME = /dest|phone|mobile|msisdn|recipient|subscriber/i;

function eventText(level: Level | null, unread: readonly Leaf[], says: readonly string[]): string {
  const at = level === null ? '' : pointerTo(pathOf(level));
  const values = unread.slice(0, MOST_VALUES).map(({ pointer }) => safeLine(pointerTo(pointer)));
  const more = unread.length > MOST_VALUES ? ` and ${unread.length - MOST_VALUES} more` : '';
  const left = unread.length === 0 ? [] : [`not read: ${values.join(', ')}${more}`];
  const lines = [...left, ...says.map(safeLine)].map((line) => `   ${line}\n`);
  return `${at === '' ? 'The event' : `The event at ${safeLine(at)}`}\n${lines.join('')}`;
}

/** Where a level is in the body, as the body spells it. */
function pathOf(level: Level): Pointer {
  if (level.parent === null) return level.pointer;
  return [...pathOf(level.parent), ...spelled(level.parent.value, level.pointer)];
}
