import { CHANNEL_TABLE } from '../../content/channels.ts';
import type { Diagnostic } from '../../errors.ts';
import type { Decision, SendDecision, SendRequest } from '../../model.ts';
import type { Previewed, PreviewRows } from '../../plan/previewed.ts';
import type { Formats } from '../../report/locale.ts';
import { reasonWords } from '../../report/reason-words.ts';
import { changedText, OUTCOME_WORDS } from '../../report/words.ts';
import { iso } from '../../util/time.ts';
import type { Facets } from './about.ts';
import { reasonOf } from './facts.ts';
import { messageNode } from './message.ts';
import type { PreviewNode, RowView } from './nodes.ts';

/** The recipient, the decision and its reason, and each message as it will look; not the columns. */
export function rowView(
  row: Previewed,
  { warnings, label }: { readonly warnings: readonly Diagnostic[]; readonly label: string | null },
  source: PreviewRows,
  heads: Heads,
): RowView {
  const { decision } = row;
  const items = warnings.map(({ code, message }): PreviewNode => ['item', message, ' ', ['word', code]]);
  return {
    head: headNode(decision, label),
    shown: decision.decision === 'send' ? sendNodes(decision, row, source) : restNodes(decision, source),
    more: [...whyNodes(decision, source.formats), ...(warnings.length === 0 ? [] : [['warnings', ...items] as const])],
    requests: requestsOf(row, heads),
  };
}

function headNode(decision: Decision, label: string | null): PreviewNode {
  const { key, to, line } = decision;
  const who = to ?? key ?? 'no address';
  const facts = [
    ...(label === null ? [] : [who]),
    `line ${line}`,
    ...(key === null || key === to ? [] : [`key ${key}`]),
    ...(decision.decision === 'send' && decision.variant !== null ? [`variant ${decision.variant}`] : []),
  ];
  return ['head', ['to', label ?? who], ['badge', decision.decision], ['soft', facts.join(' · ')]];
}

function whyNodes(decision: Decision, formats: Formats): readonly PreviewNode[] {
  if (decision.decision === 'send') return [];
  const reason = reasonOf(decision) ?? '';
  const means = decision.decision === 'done' ? OUTCOME_WORDS[decision.outcome] : reasonWords(reason);
  const said: PreviewNode = ['p', ['word', reason], means === '' ? '' : ` ${means}`];
  const detail = detailOf(decision, formats);
  return detail === null ? [said] : [said, ['p', detail]];
}

function detailOf(decision: Decision, { instant }: Formats): string | null {
  if (decision.decision === 'invalid') return decision.problem.message;
  if (decision.decision === 'done') {
    const { sentTo, to } = decision;
    const changed = sentTo === undefined ? '' : `The message was ${changedText(sentTo, to)}. `;
    return `${changed}The ledger holds this outcome already: nothing more will be sent.`;
  }
  if (decision.decision !== 'skip' && decision.decision !== 'defer') return null;
  if (decision.detail !== undefined) return decision.detail;
  if (decision.decision !== 'defer' || decision.untilMs === undefined) return null;
  return `Not before ${instant(iso(decision.untilMs))}.`;
}

function sendNodes(decision: SendDecision, { sharedWith }: Previewed, source: PreviewRows): readonly PreviewNode[] {
  const steps = decision.fallbacks.flatMap((message): readonly PreviewNode[] => [
    ['soft', `If that cannot be received${message.to === decision.to ? '' : `, to ${message.to}`}:`],
    messageNode(message, source.stepOf(message, decision.variant)),
  ]);
  const shared: readonly PreviewNode[] =
    sharedWith === null ? [] : [['soft', `Goes out in the request that line ${sharedWith} shows.`]];
  return [messageNode(decision, source.stepOf(decision, decision.variant)), ...steps, ...shared];
}

function restNodes(decision: Decision, source: PreviewRows): readonly PreviewNode[] {
  if (decision.decision !== 'defer' || decision.mayGet.length === 0) return [];
  const isSure = decision.mayGet.filter(({ step }) => step === 0).length === 1;
  return decision.mayGet.flatMap((message): readonly PreviewNode[] => {
    const { step, variant } = message;
    const isOther = !isSure && variant !== null;
    const when =
      step > 0
        ? `If ${isOther ? `variant ${variant}` : 'that'} cannot be received`
        : isOther
          ? `Maybe variant ${variant}`
          : 'Later';
    return [['soft', `${when}:`], messageNode(message, source.stepOf(message, variant))];
  });
}

function requestsOf({ decision, request, fallbacks }: Previewed, heads: Heads): RowView['requests'] {
  if (decision.decision !== 'send') return [];
  const own = request === null ? [] : [['Request', heads.numberOf(request)] as const];
  const others = fallbacks.map((one, i) => {
    const channel = decision.fallbacks[i]?.channel ?? decision.channel;
    return [`Request of the fallback: ${CHANNEL_TABLE[channel].label}`, heads.numberOf(one)] as const;
  });
  return [...own, ...others];
}

export type Heads = ReturnType<typeof createHeads>;

/** The lines above the bodies of requests, each once: most campaigns have one. */
export function createHeads() {
  const all: string[] = [];
  return {
    all: (): readonly string[] => all,
    numberOf({ form: { url, contentType } }: SendRequest): number {
      const head = `POST ${url}, content-type: ${contentType}`;
      const known = all.indexOf(head);
      return known === -1 ? all.push(head) - 1 : known;
    },
  };
}

export type FacetTable = ReturnType<typeof createFacetTable>;

export function createFacetTable(source: Pick<PreviewRows, 'plan'>) {
  const numbers = new Map<string, number>();
  const all: Facets[] = [];
  const { channel } = source.plan.campaign;
  return {
    all: (): readonly Facets[] => all,
    numberOf(decision: Decision, warnings: readonly Diagnostic[]): number {
      const send = decision.decision === 'send' ? decision : null;
      const codes = warnings.length === 0 ? [] : [...new Set(warnings.map(({ code }) => code))].sort();
      // Contains only handbill's words, and names of variants, which have no spaces.
      const key =
        send === null
          ? `${decision.decision} ${reasonOf(decision)} ${codes}`
          : `send ${send.variant ?? ''} ${send.channel} ${send.country ?? ''} ${send.sms?.encoding ?? ''} ${send.sms?.parts ?? 0} ${codes}`;
      let found = numbers.get(key);
      if (found === undefined) {
        found = all.length;
        numbers.set(key, found);
        all.push({
          decision: decision.decision,
          reason: reasonOf(decision) ?? '',
          variant: send?.variant ?? '',
          channel: send?.channel ?? channel,
          country: send?.country ?? '',
          encoding: send?.sms?.encoding ?? '',
          parts: send?.sms?.parts ?? 0,
          warnings: codes,
        });
      }
      return found;
    },
  };
}
