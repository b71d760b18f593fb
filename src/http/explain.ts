import type { Attempt } from '../model.ts';
import { ruleFor } from '../providers/rules.ts';
import { parseExactly, pointerTo } from '../util/json.ts';
import { createRedactor } from '../util/redact.ts';
import { type Addressee, type CompiledWire, entryListsOf, fieldOf, statementsOfOne } from './answer.ts';
import type { Verdict } from './classify.ts';
import { brokenAnswer } from './fault.ts';
import { openRules } from './ruled.ts';

/** How handbill read the answer about one recipient. Places are JSON pointers. */
export interface AnswerReading {
  readonly to: string;
  /** Null: no answer came. */
  readonly status: number | null;
  readonly outcome: Verdict['outcome'];
  readonly reason: string | null;
  readonly messageId: string | null;
  readonly messageIdAt: string | null;
  readonly decidedBy: string;
  /** Null: the answer does not have handbill's reference. */
  readonly referenceAt: string | null;
}

/** A request as it was posted, and its answer. Secrets are hidden. */
export interface ShownExchange {
  /** Null: nothing was posted. */
  readonly request: (ShownMessage & { readonly method: 'POST'; readonly url: string }) | null;
  /** Null: none came. */
  readonly answer: (ShownMessage & { readonly status: number }) | null;
  /** For each recipient of the request. */
  readonly readings: readonly AnswerReading[];
}

export interface ShownMessage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Headers of an answer that help a person. Others, such as cookies, may be secrets. */
const TELLING =
  /^(?:content-(?:type|encoding)|location|www-authenticate|retry-after|.*(?:request|message|trace|correlation)-?(?:uu)?id|.*rate-?limit.*)$/;

/** For a person who tries an API. @param secrets - short ones are hidden too: some other texts may be hidden with them */
export function showExchange(
  { sent = null, status, headers, body }: Attempt,
  readings: readonly AnswerReading[],
  secrets: readonly string[],
): ShownExchange {
  const texts = sent?.headers ?? [];
  const posted = new Map(texts.flatMap((name, i) => (i % 2 === 0 ? [[name, texts[i + 1] ?? ''] as const] : [])));
  // A name with its password in Base64, or a token that was made for this request.
  const credentials = posted.get('authorization')?.split(' ').at(-1) ?? '';
  const hide = createRedactor([...secrets, credentials]);
  const hidden = (pairs: Iterable<readonly [string, unknown]>): Readonly<Record<string, string>> =>
    Object.fromEntries([...pairs].map(([name, value]) => [name, hide(String(value))]));
  const telling = Object.entries(headers ?? {}).filter(([name]) => TELLING.test(name));
  return {
    request: sent && { method: 'POST', url: hide(sent.url), headers: hidden(posted), body: hide(sent.body) },
    answer: status === null ? null : { status, headers: hidden(telling), body: hide(body) },
    readings,
  };
}

/** For a person who tries an API: how handbill read its answer, and why. */
export function explainAnswer(
  attempt: Attempt,
  { to, reference }: Addressee,
  { outcome, reason, messageId }: Verdict,
  wire: CompiledWire,
): AnswerReading {
  const document = parseExactly(attempt.body);
  return {
    to,
    status: attempt.status,
    outcome,
    reason,
    messageId,
    messageIdAt: messageId === null ? null : placeOf(document, messageId, []),
    decidedBy: decidedBy(attempt, document, reason, wire),
    referenceAt: placeOf(document, reference, []),
  };
}

function decidedBy(attempt: Attempt, document: unknown, reason: string | null, wire: CompiledWire): string {
  const { status, body } = attempt;
  if (status === null) return 'no answer came';
  const rules = reason === 'mismatch' ? [] : openRules(attempt, document, wire);
  if (rules.length > 0) {
    const [entry] = entryListsOf(document, wire).flat();
    const rule = ruleFor(status, document, entry, rules);
    if (rule !== null) {
      const place = rule.codeAt ?? rule.textAt;
      return `"answers" decided by ${place === null ? 'the status' : `\`${pointerTo(place)}\``}`;
    }
  }
  if (status < 200 || status >= 300) return 'the status decided';
  if (attempt.error !== null) return `the ${brokenAnswer(attempt.error.code) ?? 'answer broke off'}`;
  if (reason === 'mismatch') return 'it may be the answer to another request';
  if (document === undefined)
    return body.trim() === '' ? 'the status decided: there is no body' : 'the body is not JSON';
  const { denial, success } = statementsOfOne(document, body, wire);
  if (denial !== null) return `${fieldOf(denial, wire)}, which says no`;
  return success === null ? 'the status decided: nothing in the body says no' : `\`${success}\` says success`;
}

/** Where a document has this text or number. */
function placeOf(value: unknown, text: string, path: readonly string[]): string | null {
  if (typeof value === 'string' || typeof value === 'number') return String(value) === text ? pointerTo(path) : null;
  if (typeof value !== 'object' || value === null || path.length > DEPTH) return null;
  for (const [key, inner] of Object.entries(value)) {
    const place = placeOf(inner, text, [...path, key]);
    if (place !== null) return place;
  }
  return null;
}

const DEPTH = 6;
