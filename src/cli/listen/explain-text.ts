import { stringify } from 'yaml';
import type { WebhookEvent } from '../../model.ts';
import { safe, safeLine } from '../../util/safe.ts';
import { cut, table } from '../../util/table.ts';
import type { ExplainedEvent, Explanation } from './explain-result.ts';

const FORMS = { json: 'JSON', 'json-lines': 'JSON lines', form: 'a form', empty: 'empty' } as const;
/** Of events, and of values that nothing has read: the rest is counted, and stands in the JSON. */
const MOST_EVENTS = 20;
const MOST_UNUSED = 8;
/** Of a value: where it stands matters more. */
const MOST_COLUMNS = 40;

/** For a terminal: each event with where its parts were found, then what to write into handbill.yaml. */
export function explanationText({ file, form, problem, events, mapping }: Explanation, width: number): string {
  if (problem !== null) return `${safeLine(file)} is refused: ${problem}\n`;
  const count = `${events.length} ${events.length === 1 ? 'event' : 'events'}`;
  const parts = [`${safeLine(file)} is ${FORMS[form]}, with ${events.length === 0 ? 'no event' : count} in it.\n`];
  events.slice(0, MOST_EVENTS).forEach((event, i) => void parts.push(eventText(event, i + 1, width)));
  if (events.length > MOST_EVENTS) {
    parts.push(`... and ${events.length - MOST_EVENTS} more: \`--format json\` shows all.\n`);
  }
  if (mapping !== null) {
    parts.push(`This in handbill.yaml may help; check what it means:\n\n${indent(safe(stringify(mapping)))}`);
  }
  return parts.join('\n');
}

function eventText({ at, event, from, unused, advice }: ExplainedEvent, number: number, width: number): string {
  const title = `${number}. ${titleOf(event, at === '' ? '' : ` at ${safeLine(at)}`)}\n`;
  const rows = partsOf(event).map(([part, value]) => [NAMES[part] ?? part, value, within(from[part] ?? '', at)]);
  const body = rows.length === 0 ? '' : table(rows, [{}, {}, {}], { width, indent: 3 });
  const shown = unused
    .slice(0, MOST_UNUSED)
    .map((pointer) => safeLine(within(pointer, at)))
    .join(', ');
  const more = unused.length > MOST_UNUSED ? ` and ${unused.length - MOST_UNUSED} more` : '';
  const rest = unused.length === 0 ? '' : `   not read: ${shown}${more}\n`;
  return `${title}${body}${rest}${advice.map((sentence) => `   ${safeLine(sentence)}\n`).join('')}`;
}

/** A pointer from the event, as a mapping has it; what surrounds the event has its pointer from the body. */
function within(pointer: string, at: string): string {
  if (at === '' || pointer === '') return pointer;
  if (pointer === at) return '(its name)';
  return pointer.startsWith(`${at}/`) ? pointer.slice(at.length) : `${pointer} (around it)`;
}

function titleOf(event: WebhookEvent, place: string): string {
  if (event.kind === 'unread') return `Not understood${place}`;
  if (event.kind === 'reply') return `A reply${place}: ${MEANINGS[event.meaning]}`;
  const cause = event.cause === null ? '' : `, ${CAUSES[event.cause]}`;
  return `A delivery report${place}: ${event.state}${cause}`;
}

const MEANINGS = {
  'opt-out': 'it opts out',
  'opt-in': 'it opts in',
  review: 'somebody has to read it',
  answer: 'an answer',
} as const;

const CAUSES = {
  'unsupported-channel': 'the channel cannot reach this person',
  gone: 'the address is gone',
  'opted-out': 'this person opted out',
} as const;

/** Parts by the names under which `from` has their places, with the state as it was written. */
function partsOf(event: WebhookEvent): readonly (readonly [part: string, value: string])[] {
  if (event.kind === 'unread') return [];
  const { kind: _, ...rest } = event;
  const shown: Readonly<Record<string, unknown>> =
    event.kind === 'delivery'
      ? { ...rest, state: stateText(event), word: null, cause: null }
      : { ...rest, meaning: null };
  return Object.entries(shown).flatMap(([part, value]) => {
    if (value === null) return [];
    const said = part === 'atMs' ? new Date(Number(value)).toISOString() : cut(String(value), MOST_COLUMNS);
    return [[part, said] as const];
  });
}

/** As `webhook.fields` calls what the model of events has another name for. */
const NAMES: Readonly<Record<string, string>> = { address: 'to', atMs: 'timestamp' };

function stateText({ state, word }: Extract<WebhookEvent, { kind: 'delivery' }>): string {
  return word === null ? state : `${state} ("${word}")`;
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}
