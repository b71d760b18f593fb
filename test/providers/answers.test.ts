import { describe, expect, it } from 'vitest';
import { providerNames } from '../../src/campaign/read-provider.ts';
import { parseAnswer } from '../../src/http/answer.ts';
import { classifyMany } from '../../src/http/recipient-answers.ts';
import type { Json } from '../../src/util/json.ts';
import { knownProvider } from './examples.ts';
import { attemptOf, wireOf, wordOf } from './reading.ts';

const KNOWN = providerNames()
  .filter((name) => name !== 'messages-v2')
  .map(knownProvider);
const REFERENCES = ['Kx3nPq8sT0uVwYz1aBcD_-', 'Lx3nPq8sT0uVwYz1aBcD_-', 'Mx3nPq8sT0uVwYz1aBcD_-'];

describe.each(KNOWN)('$name', ({ name, examples }) => {
  it.each(examples.answers)('reads $about', (example) => {
    const recipients = (example.recipients ?? ['+447700900123']).map((to, i) => ({
      to,
      reference: example.references?.[i] ?? REFERENCES[i] ?? '',
    }));
    const attempt = attemptOf(example);
    const context = {
      wire: wireOf(name),
      firstAnswer: false,
      nowMs: Date.parse('2026-11-27T10:00:00Z'),
      stopping: false,
    };
    const verdicts = classifyMany(attempt, recipients, context, parseAnswer(attempt, recipients));
    const words = verdicts.map(wordOf);
    expect(words).toEqual(typeof example.then === 'string' ? words.map(() => example.then) : example.then);
    if (example.messageId === undefined) return;
    const ids = Array.isArray(example.messageId) ? example.messageId : verdicts.map(() => example.messageId);
    expect(verdicts.map(({ messageId }) => messageId)).toEqual(ids);
  });

  it('never gives a recipient up because of a 429, whatever code it has', () => {
    const codes = wireOf(name).rules.flatMap(({ codeAt, codes: all }) =>
      [...all].map((code) => [codeAt ?? [], code] as const),
    );
    const words = codes.map(([keys, code]) => {
      const body = keys.reduceRight<Json>((inner, key) => (key === '0' ? [inner] : { [key]: inner }), code);
      const attempt = attemptOf({ status: 429, body });
      const context = { wire: wireOf(name), firstAnswer: false, nowMs: 0, stopping: false };
      const recipients = [{ to: '+447700900123', reference: REFERENCES[0] ?? '' }];
      return `${code} at ${keys.join('/')}: ${classifyMany(attempt, recipients, context, parseAnswer(attempt, recipients)).map(wordOf)}`;
    });
    expect(words.filter((word) => /: (?:refused|unsupported|accepted)$/.test(word))).toEqual([]);
  });
});
