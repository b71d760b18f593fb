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

/** Bodies that come in have at most 64 KiB. */
const MAX_BYTES = 1024 * 1024;
/** Events in the text, and unread values of each. */
const MOST_EVENTS = 20;
const MOST_VALUES = 8;
const FORMS = { json: 'JSON', 'json-lines': 'JSON lines', form: 'a form', empty: 'empty' } as const;

/** `listen --explain`: opens no port and no ledger. `file` can be `-`. Throws exit 2, also if no environment is named. */
export async function explainPayload(
  file: string,
  named: string | undefined,
  context: Pick<CommandContext, 'cwd' | 'env' | 'now' | 'out'>,
): Promise<void> {
  const reading = projectHere(context);
  const environment = environmentFor(reading, named);
  const bytes = await withPipedList(file, async (piped) =>
    readNamedFile(context.cwd, piped.pipedList ?? file, MAX_BYTES),
  );
  const name = file === '-' ? 'standard input' : safeLine(file);
  const address = createReportedAddressReader(countryOf(reading));
  const nowMs = context.now();
  const isAddress = ({ value }: Leaf): boolean => address(String(value)) !== null;
  const looksLike: Readonly<Record<Wanted, (leaf: Leaf) => boolean>> = {
    status: ({ value, name }) => stateOf(String(value), new Map()) !== null || STATE_NAME.test(name),
    messageId: ({ value, name }) => ID_NAME.test(name) && !PERSON_NAME.test(name) && String(value).length >= 3,
    to: isAddress,
    from: isAddress,
    timestamp: ({ value }) => readTime(value, nowMs) !== null,
  };
  const fields: Partial<Record<Wanted, string>> = {};
  const states: Record<string, DeliveryState> = {};
  const shown: string[] = [];
  const interpreter = interpreterOf(reading, environment, {
    follow(event, level, found) {
      const gaps = gapsOf(event, new Set(found.map(({ field }) => field)));
      if (gaps.length === 0) return;
      const unread = level === null ? [] : unreadOf(level, event.kind === 'unread' ? [] : found);
      const left = new Set(unread);
      const similar: typeof fields = {};
      for (const field of gaps.flatMap(([, ...wanted]) => wanted)) {
        const leaf = [...left].find(looksLike[field]);
        if (leaf === undefined) continue;
        similar[field] = pointerTo(leaf.pointer);
        left.delete(leaf);
      }
      const isReport = similar.status !== undefined && (similar.messageId ?? similar.to) !== undefined;
      if (gaps !== NEITHER || isReport) Object.assign(fields, { ...similar, ...fields });
      const word = unknownWord(event);
      if (word !== null) states[word.toLowerCase()] ??= 'sent';
      const values = unread.slice(0, MOST_VALUES).map(({ pointer }) => pointerTo(pointer));
      const more = unread.length > MOST_VALUES ? ` and ${unread.length - MOST_VALUES} more` : '';
      const says = [
        ...(unread.length === 0 ? [] : [`not read: ${values.join(', ')}${more}`]),
        ...gaps.map(([one]) => one),
      ];
      const at = level === null ? '' : pointerTo(pathOf(level));
      const title = at === '' ? 'The event' : `The event at ${safeLine(at)}`;
      shown.push(`${title}\n${says.map((line) => `   ${safeLine(line)}\n`).join('')}`);
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

const STATE_NAME = /(?:status|phase|outcome|result)$/i;
const ID_NAME = /(?:id|ident(?:ifier)?|uuid|ref(?:erence)?|num(?:ber)?|no|key)$/i;
/** `destNumber`, `phone_no`: a number of a person, whatever the end of the name. */
const PERSON_NAME = /dest|phone|mobile|msisdn|recipient|subscriber/i;

/** A text or a number, its name and its path from the event. */
interface Leaf {
  readonly pointer: Pointer;
  readonly name: string;
  readonly value: string | number;
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
    } else if (typeof inner === 'number' || (typeof inner === 'string' && inner.trim() !== '')) {
      leaves.push({ pointer, name: pointer.at(-1) ?? '', value: inner });
    }
  };
  visit(level.value, []);
  return leaves;
}

type Wanted = Extract<EventField, 'status' | 'messageId' | 'to' | 'from' | 'timestamp'>;
/** A sentence, and the fields that would fill the gap. */
type Gap = readonly [says: string, ...wanted: Wanted[]];

const NEITHER: readonly Gap[] = [
  ['It is neither a delivery report nor a reply.', 'status', 'messageId', 'to', 'timestamp'],
];

/** `found`: fields that were found, whatever the event became. */
function gapsOf(event: WebhookEvent, found: ReadonlySet<string>): readonly Gap[] {
  if (event.kind === 'unread') {
    const isReply = found.has('text') && !found.has('from') && !found.has('person');
    if (isReply) return [['It holds a text, but no sender.', 'from']];
    if (!found.has('status') && !found.has('kind') && !found.has('group')) return NEITHER;
    return [['It says a state, but names neither message nor recipient.', 'messageId', 'to']];
  }
  const word = unknownWord(event);
  const isNameless = event.kind === 'delivery' && event.reference === null && event.messageId === null;
  const gaps: readonly (Gap | null)[] = [
    word === null ? null : [`The state "${word}" counts as "unknown" until \`webhook.states\` says what it means.`],
    isNameless ? ['It names no message: only its address joins it to what was sent.', 'messageId'] : null,
    event.atMs === null ? ['It does not say when it happened.', 'timestamp'] : null,
  ];
  return gaps.filter((gap) => gap !== null);
}

/** A state that `webhook.states` does not know. */
function unknownWord(event: WebhookEvent): string | null {
  if (event.kind !== 'delivery' || event.state !== 'unknown' || /^unknown$/i.test(event.word ?? '')) return null;
  return event.word;
}

/** Where a level is in the body, as the body spells it. */
function pathOf(level: Level): Pointer {
  if (level.parent === null) return level.pointer;
  return [...pathOf(level.parent), ...spelled(level.parent.value, level.pointer)];
}
