import type { Diagnostic } from '../errors.ts';
import type { EventMapping } from '../model.ts';
import { pointerTo } from '../util/json.ts';
import type { WebhookFile } from './written.ts';

type Report = (pointer: string, fault: Pick<Diagnostic, 'code' | 'message'> & { readonly hint?: string }) => null;

/** What handbill.yaml says of the shape of events. A pointer alone is a list of one. */
export function readMapping(written: WebhookFile, report: Report): EventMapping {
  const { events, fields = {}, states = {}, unsupported = [] } = written;
  const named = Object.entries(fields).map(([field, at]) => [field, typeof at === 'string' ? [at] : at] as const);
  checkStates(states, report);
  return {
    events: events ?? null,
    fields: Object.fromEntries(named),
    states,
    unsupported: unsupported.map(String),
  };
}

/** Two spellings of one word that mean different things: which of them counts would be chance. */
function checkStates(states: NonNullable<WebhookFile['states']>, report: Report): void {
  const taken = new Map<string, string>();
  for (const word of Object.keys(states)) {
    const folded = word.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
    const other = taken.get(folded);
    if (other !== undefined && states[other] !== states[word]) {
      report(pointerTo(['webhook', 'states', word]), {
        code: 'invalid-value',
        message: `"${word}" and "${other}" are one word: letter case, "-" and "_" do not count.`,
        hint: 'Remove one of them.',
      });
    }
    taken.set(folded, word);
  }
}
