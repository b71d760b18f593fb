import { createSenderCheck, senderAdvice } from '../content/senders.ts';
import { unicodeCauses } from '../content/unicode-causes.ts';
import { type Diagnostic, type Position, warning } from '../errors.ts';
import type { JsonObject, Leg, LegMessage, SendDecision } from '../model.ts';
import { legsOf } from './leg-of.ts';
import type { Plan } from './plan.ts';
import type { CheckContent } from './workshop.ts';

/** What is worth knowing about a message that will be sent: shown by validate and preview, no reason to stop. */
export type Warner = (decision: SendDecision) => readonly Diagnostic[];

/** Made once for a campaign: what does not depend on the recipient is looked up before. */
export function createWarner({ campaign, check }: Pick<Plan, 'campaign' | 'check'>): Warner {
  const legs = legsOf(campaign);
  const senders = new Map<Leg, ReturnType<typeof createSenderCheck>>();
  const ruleOf = (leg: Leg, country: string | null) => {
    let check = senders.get(leg);
    if (check === undefined) {
      check = createSenderCheck(leg.channel === 'sms' ? leg.from : null, campaign.project.senderRules);
      senders.set(leg, check);
    }
    return check(country);
  };
  const ofLeg = (message: LegMessage, variant: string | null, at: Position): readonly Diagnostic[] => {
    const leg = legs(message, variant);
    const found = ofMessage(message, leg, check, at);
    const rule = ruleOf(leg, message.country);
    if (rule === null || leg.from === null || message.country === null) return found;
    const { message: said, hint } = senderAdvice(leg.from, message.country, rule);
    return [...found, warning('sender-country', said, { at, hint })];
  };
  return (decision) => {
    const at = { file: campaign.recipients.file, line: decision.line };
    const own = ofLeg(decision, decision.variant, at);
    if (decision.recipient.assigned && decision.fallbacks.length === 0) return own;
    const number = decision.recipient.assigned
      ? []
      : [warning('unassigned-number', 'The number is not in use by its numbering plan.', { at })];
    return [
      ...number,
      ...own,
      ...decision.fallbacks.flatMap((message) => ofFallback(message, ofLeg(message, decision.variant, at))),
    ];
  };
}

const EMPTY: JsonObject = Object.freeze({});
const NOTHING: readonly Diagnostic[] = Object.freeze([]);

function ofFallback({ channel }: LegMessage, found: readonly Diagnostic[]): readonly Diagnostic[] {
  return found.map((one) => ({ ...one, message: `Fallback to ${channel}: ${one.message}` }));
}

function ofMessage(message: LegMessage, leg: Leg, check: CheckContent | null, at: Position): readonly Diagnostic[] {
  if (message.channel === 'sms' && message.replaced.length === 0 && message.sms?.encoding !== 'UCS-2') return NOTHING;
  const found: Diagnostic[] = [];
  if (message.replaced.length > 0) {
    const list = [...new Set(message.replaced.map((r) => `${r.from} -> ${r.to || 'nothing'}`))].join(', ');
    found.push(warning('transliterated', `Replaced to stay in GSM-7: ${list}.`, { at }));
  }
  if (message.sms?.encoding === 'UCS-2' && leg.characterSet === 'auto' && message.text !== null) {
    found.push(unicodeWarning(message.text, message.sms.parts, at));
  }
  if (message.channel === 'sms' || check === null) return found;
  const text = leg.template?.kind === 'provider' ? null : (message.text ?? undefined);
  for (const { severity, code, message: said, hint } of check(message.channel, message.content ?? EMPTY, text)) {
    if (severity === 'warning') found.push(warning(code, said, { at, ...(hint === undefined ? {} : { hint }) }));
  }
  return found;
}

function unicodeWarning(text: string, parts: number, at: Position): Diagnostic {
  const causes = unicodeCauses(text);
  const named = [...new Set(causes.map((c) => c.character))].slice(0, 5).join(' ');
  const first = causes[0];
  const where = first === undefined ? '' : `, first at line ${first.line}, column ${first.column} of the message`;
  const plural = parts === 1 ? '1 part' : `${parts} parts`;
  return warning('unicode-message', `Outside GSM-7: ${named}${where}. The message is Unicode, in ${plural}.`, { at });
}
