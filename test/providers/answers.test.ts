import { describe, expect, it } from 'vitest';
import { readEnvironments } from '../../src/campaign/environments.ts';
import { builtIn, providerNames } from '../../src/campaign/read-provider.ts';
import { compilePointers, parseAnswer } from '../../src/http/answer.ts';
import type { Verdict } from '../../src/http/classify.ts';
import { classifyMany } from '../../src/http/recipient-answers.ts';
import type { Attempt } from '../../src/model.ts';
import { type AnswerExample, knownProvider } from './examples.ts';

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
});

function wireOf(name: string) {
  const { environments } = readEnvironments(
    { environments: { one: { provider: name } } },
    null,
    '/',
    new Map([['one', builtIn(name)]]),
  );
  const environment = environments.get('one');
  if (environment === undefined) throw new Error('There is an environment.');
  return compilePointers(environment.wire);
}

function attemptOf({ status, body, text, headers = {} }: AnswerExample): Attempt {
  const said = text ?? (body === undefined ? '' : JSON.stringify(body));
  const contentType = headers['content-type'] ?? (text === undefined ? 'application/json' : 'text/plain');
  return {
    phase: 'P4',
    status,
    body: said,
    contentType,
    retryAfter: headers['retry-after'] ?? null,
    error: null,
    latencyMs: 1,
  } as Attempt;
}

function wordOf({ outcome, reason, halt, split, again }: Verdict): string {
  if (split) return 'split';
  if (halt === 'wrong-address') return 'stop';
  if (outcome === 'in-doubt') return 'doubt';
  if (halt !== null) return 'stop';
  if (reason === 'opted-out') return 'opted-out';
  if (reason === 'unsupported-channel') return 'unsupported';
  if (again) return 'retry';
  return outcome === 'rejected' ? 'refused' : outcome;
}
