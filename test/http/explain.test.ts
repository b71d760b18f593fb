import { expect, it } from 'vitest';
import { explainAnswer } from '../../src/http/explain.ts';
import { classifyMany } from '../../src/http/recipient-answers.ts';
import { stateAnswer } from '../../src/operations/send-test.ts';
import type { AnswerRule } from '../../src/providers/provider.ts';
import { compileRules } from '../../src/providers/rules.ts';
import { golden } from '../helpers/golden.ts';
import { ANN, attempt, NOW } from './answers.ts';
import { wireOf } from './wire.ts';

/** What `send --test-to` prints of an answer. */
function said(body: string, status = 200, rules: readonly AnswerRule[] = []): string {
  const wire = { ...wireOf(), rules: compileRules(rules) };
  const facts = attempt({ body, status });
  const [verdict] = classifyMany(facts, [ANN], { wire, firstAnswer: false, nowMs: NOW, stopping: false });
  if (verdict === undefined) throw new Error('There is no verdict.');
  return stateAnswer(explainAnswer(facts, ANN, verdict, wire));
}

golden('handbill names what decided about an answer, without an address', 'http/explain', (input) => {
  const [, status = '', body = '', rule] = /^(\d+) (.*?)(?: \| (.*))?$/.exec(input) ?? [];
  const line = said(body, Number(status), rule === undefined ? [] : [{ ...RULE, ...JSON.parse(rule) }]);
  return line.replaceAll(ANN.to, 'THE ADDRESS');
});

it.each([
  ['UND_ERR_SOCKET', 'the answer broke off'],
  ['HANDBILL_ENCODED_BODY', 'the answer could not be read'],
  ['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'the answer could not be read'],
])('says of an answer with the error %s that %s, and not that it is no JSON', (code, says) => {
  const wire = wireOf();
  const error = { code, message: 'm' };
  const facts = attempt({ phase: 'P3', body: '{"id":"m-', status: 201, error });
  const [verdict] = classifyMany(facts, [ANN], { wire, firstAnswer: false, nowMs: NOW, stopping: false });
  if (verdict === undefined) throw new Error('There is no verdict.');
  expect(stateAnswer(explainAnswer(facts, ANN, verdict, wire))).toContain(`201, in-doubt (unrecognised): ${says}.`);
});

const RULE: AnswerRule = {
  statuses: null,
  codeAt: '/code',
  codes: ['21610'],
  textAt: null,
  text: null,
  verdict: 'opted-out',
};
