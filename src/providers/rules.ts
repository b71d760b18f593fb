import { fold, follow, type Pointer, parsePointer } from '../util/json.ts';
import type { AnswerRule } from './provider.ts';

export type Word = AnswerRule['verdict'];

export type CompiledRule = ReturnType<typeof compileRules>[number];

export function compileRules(rules: readonly AnswerRule[]) {
  return rules.map(({ statuses, codeAt, codes, textAt, text, verdict: word }) => ({
    statuses,
    codeAt: codeAt === null ? null : parsePointer(codeAt),
    codes: new Set(codes.map(fold)),
    textAt: textAt === null ? null : parsePointer(textAt),
    text: (text ?? '').toLowerCase(),
    word,
  }));
}

/** That of the first rule that matches. */
export function wordOf(status: number, document: unknown, entry: unknown, rules: readonly CompiledRule[]): Word | null {
  return ruleFor(status, document, entry, rules)?.word ?? null;
}

/** The first that matches. Where the API has a code for success, every other code of a 2xx is a doubt. */
export function ruleFor(
  status: number,
  document: unknown,
  entry: unknown,
  rules: readonly CompiledRule[],
): CompiledRule | null {
  const isSuccess = status >= 200 && status < 300;
  let otherCode: CompiledRule | null = null;
  for (const rule of rules) {
    const isOpen =
      rule.statuses === null ? isSuccess || (status >= 400 && status < 500) : rule.statuses.includes(status);
    if (!isOpen) continue;
    const code = rule.codeAt === null ? undefined : textAt(entry, document, rule.codeAt);
    if (rule.codeAt !== null && (code === undefined || !holds(rule.codes, code))) {
      if (isSuccess && rule.word === 'accepted' && code !== undefined) otherCode ??= { ...rule, word: 'doubt' };
      continue;
    }
    if (rule.textAt !== null) {
      const text = textAt(entry, document, rule.textAt);
      if (text === undefined || !text.toLowerCase().includes(rule.text)) continue;
    }
    return rule;
  }
  return otherCode;
}

/** In the entry of a recipient, else in the answer. */
function textAt(entry: unknown, document: unknown, place: Pointer): string | undefined {
  for (const value of [follow(entry, place), follow(document, place)]) {
    if (typeof value === 'string' || typeof value === 'number') return String(value);
  }
  return undefined;
}

/** `type` of problem+json is a URI (RFC 9457): its last name is the code. */
export function holds(codes: ReadonlySet<string>, code: string): boolean {
  return codes.has(fold(code)) || codes.has(fold(code.replace(/^.*[/#]/s, '')));
}

/** The status refuses the recipient, and nothing was done: not 408 and 499; others are about the key, the account or the run. */
export function isAboutRecipient(status: number): boolean {
  return status >= 400 && status < 500 && ![401, 402, 403, 407, 408, 425, 429, 499].includes(status);
}
