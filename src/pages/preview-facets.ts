import type { Diagnostic } from '../errors.ts';
import type { Decision, SendDecision } from '../model.ts';
import type { Facets } from './preview-about.ts';
import type { PreviewSource } from './preview-source.ts';

/** Numbers of combinations, given out in the order in which they are met. */
export interface FacetTable {
  numberOf(decision: Decision, warnings: readonly Diagnostic[]): number;
  all(): readonly Facets[];
}

export function createFacetTable(source: Pick<PreviewSource, 'plan'>): FacetTable {
  const numbers = new Map<string, number>();
  const all: Facets[] = [];
  const { channel } = source.plan.campaign;
  return {
    all: () => all,
    numberOf(decision, warnings) {
      const send = decision.decision === 'send' ? decision : null;
      const codes = codesOf(warnings);
      // Nothing in it but words of handbill's own, and names of variants, which have no spaces.
      const key =
        send === null
          ? `${decision.decision} ${reasonOf(decision)}`
          : `send ${send.variant ?? ''} ${send.channel} ${send.country ?? ''} ${send.sms?.encoding ?? ''} ${send.sms?.parts ?? 0} ${codes}`;
      let found = numbers.get(key);
      if (found === undefined) {
        found = all.length;
        numbers.set(key, found);
        all.push(facetsOf(decision, send, codes, channel));
      }
      return found;
    },
  };
}

function facetsOf(decision: Decision, send: SendDecision | null, codes: string, channel: string): Facets {
  return {
    decision: decision.decision,
    reason: reasonOf(decision),
    variant: send?.variant ?? '',
    channel: send?.channel ?? channel,
    country: send?.country ?? '',
    encoding: send?.sms?.encoding ?? '',
    parts: send?.sms?.parts ?? 0,
    warnings: codes === '' ? [] : codes.split(','),
  };
}

function codesOf(warnings: readonly Diagnostic[]): string {
  const [first, second] = warnings;
  if (first === undefined) return '';
  if (second === undefined) return first.code;
  return [...new Set(warnings.map(({ code }) => code))].sort().join(',');
}

/** Why somebody is not sent to; empty for those who are. */
export function reasonOf(decision: Decision): string {
  if (decision.decision === 'send') return '';
  return decision.decision === 'done' ? (decision.reason ?? decision.outcome) : decision.reason;
}
