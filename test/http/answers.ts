import type { Verdict } from '../../src/http/classify.ts';
import { classifyMany } from '../../src/http/recipient-answers.ts';
import type { Attempt, Phase } from '../../src/model.ts';
import { wireOf } from './wire.ts';

export const NOW = Date.UTC(2026, 10, 21, 9, 0, 0);
export const ANN = { to: '+447700900101', reference: 'ref-ann' };
export const BEN = { to: '+447700900102', reference: 'ref-ben' };
export const CAT = { to: '+447700900103', reference: 'ref-cat' };
export const THREE = [ANN, BEN, CAT];

export function attempt(facts: Partial<Attempt>): Attempt {
  const nothing = { phase: 'P4' as Phase, status: 200, error: null, contentType: null, retryAfter: null, body: '' };
  return { ...nothing, latencyMs: 1, ...facts };
}

interface Circumstances {
  readonly wire?: ReturnType<typeof wireOf>;
  readonly recipients?: readonly { to: string; reference: string }[];
  readonly firstAnswer?: boolean;
}

export function judge(facts: Partial<Attempt>, circumstances: Circumstances = {}): readonly Verdict[] {
  const { wire = wireOf(), recipients = THREE, firstAnswer = false } = circumstances;
  return classifyMany(attempt(facts), recipients, {
    wire,
    firstAnswer,
    neverAccepted: firstAnswer,
    nowMs: NOW,
    stopping: false,
  });
}

export function answered(answer: unknown, circumstances: Circumstances = {}): readonly Verdict[] {
  return judge({ body: JSON.stringify(answer) }, circumstances);
}

/** `accepted m-1`, `rejected refused`, `in-doubt unrecognised`. */
export function told(verdicts: readonly Verdict[]): readonly string[] {
  return verdicts.map((v) => `${v.outcome} ${v.outcome === 'accepted' ? v.messageId : v.reason}`);
}

/** The same with what follows from it. */
export function stated({ outcome, reason, messageId, again, split, halt, retryAfterMs, error }: Verdict): string {
  const follows = [
    again && 'again',
    split && 'split',
    halt !== null && `halt ${halt}`,
    retryAfterMs !== null && `after ${retryAfterMs} ms`,
  ];
  return [`${outcome} ${outcome === 'accepted' ? messageId : reason}`, ...follows, error !== null && `says ${error}`]
    .filter(Boolean)
    .join(', ');
}

export const DOUBT = 'in-doubt unrecognised';
/** It says no, but not for certain of the recipient. */
export const DENIED = 'in-doubt refused';
export const REFUSED = 'rejected refused';
export const UNSUPPORTED = 'rejected unsupported-channel';
