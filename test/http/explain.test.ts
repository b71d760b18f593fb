import { expect, it } from 'vitest';
import { explainAnswer } from '../../src/http/explain.ts';
import { classifyMany } from '../../src/http/recipient-answers.ts';
import { stateAnswer } from '../../src/operations/send-test.ts';
import type { AnswerRule } from '../../src/providers/provider.ts';
import { compileRules } from '../../src/providers/rules.ts';
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

it.each([
  [
    '{"data":{"id":"m-1","state":"queued"},"ref":"ref-ann"}',
    200,
    "200, accepted: `/data/state` says success. Message id m-1 at `/data/id`. handbill's reference is at `/ref`.",
  ],
  [
    '{"id":17,"status":"REJECTED"}',
    200,
    '200, rejected (refused): `/status` is "REJECTED", which says no. Message id 17 at `/id`. The answer does not hold handbill\'s reference.',
  ],
  [
    '{"code":401}',
    200,
    "200, pending (not-authorised): `/code` is 401, which says no. No message id was found. The answer does not hold handbill's reference.",
  ],
  [
    '{"errors":["to +447700900101: no"]}',
    200,
    "200, in-doubt (refused): `/errors/0` is there, which says no. No message id was found. The answer does not hold handbill's reference.",
  ],
  [
    '{"ok_then":1}',
    202,
    "202, accepted: the status decided: nothing in the body says no. No message id was found. The answer does not hold handbill's reference.",
  ],
  [
    '{"error":"x"}',
    422,
    "422, rejected (status): the status decided. No message id was found. The answer does not hold handbill's reference.",
  ],
])('says how %s was read', (body, status, says) => {
  const line = said(body, status);
  expect(line).toContain(says);
  expect(line).not.toContain(ANN.to);
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

it.each<[body: string, status: number, rule: Partial<AnswerRule>, says: string]>([
  ['{"code":21610}', 400, {}, '400, rejected (opted-out): "answers" decided by `/code`.'],
  ['{"code":5}', 400, {}, '400, rejected (status): the status decided.'],
  [
    '{"id":"m-1","code":5}',
    200,
    { verdict: 'accepted' },
    '200, in-doubt (unrecognised): "answers" decided by `/code`.',
  ],
  [
    '{}',
    503,
    { statuses: [503], codeAt: null, verdict: 'retry' },
    '503, pending (rate-limited): "answers" decided by the status.',
  ],
  [
    '{"text":"Not a number"}',
    400,
    { codeAt: null, textAt: '/text', text: 'not a', verdict: 'refused' },
    '400, rejected (refused): "answers" decided by `/text`.',
  ],
])('says that the provider file decided on %s', (body, status, rule, says) => {
  expect(said(body, status, [{ ...RULE, ...rule }])).toContain(says);
});
