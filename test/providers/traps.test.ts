import { describe, expect, it } from 'vitest';
import { compilePointers, parseAnswer } from '../../src/http/answer.ts';
import { classifyMany } from '../../src/http/recipient-answers.ts';
import type { AnswerRule } from '../../src/providers/provider.ts';
import { spelled } from '../../src/providers/reference.ts';
import { compileRules } from '../../src/providers/rules.ts';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { golden } from '../helpers/golden.ts';
import { knownProvider, type RequestExample } from './examples.ts';
import { attemptOf, requestOf, wireOf, wordOf } from './reading.ts';

/*
 * Traps of the APIs that providers describe, one by one. Those about webhooks alone (the recipient in `to`, GET, bodies of
 * our answers, time limits, fetching) are tested with webhooks; the one about secrets is in secrets.test.ts, and redirects
 * are in run.test.ts.
 */

const ADA = '+447700900123';
const BO = '+447700900124';
const REFERENCES = ['Kx3nPq8sT0uVwYz1aBcD_-', 'Lx3nPq8sT0uVwYz1aBcD_-'];

interface Said {
  readonly status: number;
  readonly body?: Json;
  readonly text?: string;
}

/** The verdicts of a provider on its answer, and the ids. */
function read(name: string, said: Said, to: readonly string[] = [ADA], wire = wireOf(name)) {
  const attempt = attemptOf(said);
  const recipients = to.map((one, i) => ({ to: one, reference: REFERENCES[i] ?? '' }));
  const context = { wire, firstAnswer: false, nowMs: Date.UTC(2026, 10, 27), stopping: false };
  return classifyMany(attempt, recipients, context, parseAnswer(attempt, recipients));
}

golden('an answer is read without the traps of its API', 'providers/traps', (input) => {
  const [head = '', answer = ''] = input.split('\n');
  const [provider = '', ...to] = head.split(' ');
  const verdicts = read(provider, JSON.parse(answer), to.length === 0 ? [ADA] : to);
  return verdicts.map((verdict) => [wordOf(verdict), verdict.messageId].filter((one) => one !== null).join(' '));
});

describe('rules', () => {
  const rule = (
    verdict: AnswerRule['verdict'],
    code: string,
    statuses: readonly number[] | null = null,
  ): AnswerRule => {
    return { statuses, codeAt: '/code', codes: [code], textAt: null, text: null, verdict };
  };
  const RULES = [
    rule('refused', 'no'),
    rule('accepted', 'yes'),
    rule('retry', 'later'),
    rule('stop', 'account'),
    rule('retry', 'busy', [503]),
    rule('stop', 'closed', [500]),
  ];
  const wire = (rules: readonly AnswerRule[] = RULES) => ({
    ...compilePointers({ ...wireOf('vonage-sms'), answers: rules }),
    rules: compileRules(rules),
  });

  // Without a status none is about a 5xx, which may have been done; a redirect is never an answer about the message.
  golden('is about the statuses that it may be about', 'providers/rules', (input) => {
    const [status, code = ''] = input.split(' ');
    return read('', { status: Number(status), body: { code } }, [ADA], wire()).map(wordOf);
  });

  it.each([
    ['an answer that is cut', { phase: 'P3', error: { code: 'UND_ERR_SOCKET', message: 'closed' } }],
    ['an answer whose end is unproven', { phase: 'P4', error: { code: 'HANDBILL_CUT_BODY', message: 'reset' } }],
    ['an attempt that failed before the answer', { phase: 'P2', error: { code: 'ECONNRESET', message: 'reset' } }],
    ['an answer that began before the request was sent', { phase: 'P2', error: null }],
  ] as const)('none is about %s', (_, more) => {
    for (const code of ['no', 'yes', 'later', 'account']) {
      const attempt = { ...attemptOf({ status: 200, body: { code } }), ...more };
      const status = more.phase === 'P2' ? null : 200;
      const context = { wire: wire(), firstAnswer: false, nowMs: 0, stopping: false };
      const verdicts = classifyMany({ ...attempt, status }, [{ to: ADA, reference: 'r' }], context);
      expect(verdicts.map(({ outcome, again }) => [outcome, again])).toEqual([['in-doubt', false]]);
    }
  });

  it.each<[about: string, entries: readonly JsonObject[], word: string]>([
    ['taken and refused', [{ code: 'yes' }, { code: 'no' }], 'doubt'],
    ['taken, and one to be tried again', [{ code: 'yes' }, { code: 'later' }], 'doubt'],
    ['taken and unknown', [{ code: 'yes' }, { code: 'maybe' }], 'doubt'],
    ['refused, and the account', [{ code: 'no' }, { code: 'account' }], 'doubt'],
    ['refused twice', [{ code: 'no' }, { code: 'no' }], 'refused'],
  ])('entries of one recipient: %s', (_, entries, word) => {
    const ofOne = read('', { status: 200, body: { messages: [...entries] } }, [ADA], wire());
    expect(ofOne.map(wordOf)).toEqual([word]);
    const named = entries.map((entry) => ({ ...entry, to: '447700900123' }));
    const other = { code: 'yes', to: '447700900124', 'message-id': 'b' };
    const ofTwo = read('', { status: 200, body: { messages: [...named, other] } }, [ADA, BO], wire());
    expect(ofTwo.map(wordOf)).toEqual([word, 'accepted']);
  });

  it('a wait of more than 15 minutes halts the run, as it does for a 429', () => {
    const attempt = { ...attemptOf({ status: 200, body: { code: 'later' } }), retryAfter: '1000' };
    const context = { wire: wire(), firstAnswer: false, nowMs: 0, stopping: false };
    expect(classifyMany(attempt, [{ to: ADA, reference: 'r' }], context)).toMatchObject([
      { outcome: 'pending', again: false, halt: 'throttled', retryAfterMs: 1_000_000 },
    ]);
  });
});

describe('requests', () => {
  const example = (message: RequestExample['message'], to: readonly string[] = [ADA]): RequestExample => ({
    about: '',
    message,
    recipients: to.map((one, i) => ({ to: one, reference: REFERENCES[i] ?? '' })),
    url: '',
    body: '',
  });
  const sms = (more: Partial<RequestExample['message']> = {}): RequestExample =>
    example({ channel: 'sms', from: 'Riverside', text: 'Hi', ...more });
  const bodyOf = async (name: string, one: RequestExample): Promise<string> =>
    (await requestOf(knownProvider(name), one)).body;

  it.each<[trap: string, provider: string, example: RequestExample, part: string]>([
    ['5 milliseconds in one API', 'vonage-sms', sms({ validForSeconds: 3600 }), 'ttl=3600000'],
    ['5 seconds in the other', 'vonage-messages', sms({ validForSeconds: 3600 }), '"ttl":3600'],
    ['5 the request names the unit', 'infobip', sms({ validForSeconds: 3600 }), '"amount":3600,"timeUnit":"SECONDS"'],
    ['6 the encoding by the text', 'vonage-sms', sms({ text: 'Hi ☀' }), 'type=unicode'],
    ['6 the encoding by the text', 'vonage-sms', sms(), 'type=text'],
    ['6 the encoding by the text', 'gatewayapi', sms({ text: 'Hi ☀' }), '"encoding":"UCS2"'],
    ['6 the encoding is automatic', 'messagebird', sms({ text: 'Hi ☀' }), '"datacoding":"auto"'],
    ['8 a plus sign is encoded', 'twilio', sms({ text: '2+2 & more' }), 'To=%2B447700900123&'],
    ['8 a plus sign is encoded', 'twilio', sms({ text: '2+2 & more' }), 'Body=2%2B2+%26+more'],
    [
      '9 text stays text',
      'whatsapp-cloud',
      example({ channel: 'messaging-app', template: { id: 't' }, variables: { body: { code: '0042' } } }),
      '"0042"',
    ],
    [
      '9 text stays text',
      'govuk-notify',
      example({ channel: 'sms', template: { id: 't' }, variables: { code: '0042' } }),
      '"personalisation":{"code":"0042"}',
    ],
    ['17 letters and digits only', 'cm', sms(), `"reference":"${spelled(REFERENCES[0] ?? '')}"`],
  ])('%s (%s)', async (_, provider, one, part) => {
    const { examples, provider: file } = knownProvider(provider);
    const references = one.recipients.map(({ reference, ...rest }) => ({
      ...rest,
      reference: file.alphanumericReference ? spelled(reference) : reference,
    }));
    expect(examples.requests.length).toBeGreaterThan(0);
    expect(await bodyOf(provider, { ...one, recipients: references })).toContain(part);
  });

  it('17 a reference of letters and digits keeps all bits', () => {
    expect(REFERENCES.map(spelled)).toEqual(REFERENCES.map(() => expect.stringMatching(/^[a-z\d]{26}$/)));
    expect(spelled(REFERENCES[0] ?? '')).not.toBe(spelled(REFERENCES[1] ?? ''));
  });

  it('10 no field that an API does not know', async () => {
    const known = ['phone_number', 'template_id', 'personalisation', 'reference', 'sms_sender_id'];
    const body = await bodyOf('govuk-notify', example({ channel: 'sms', from: 'Riverside', template: { id: 't' } }));
    expect(Object.keys(JSON.parse(body) as object).filter((name) => !known.includes(name))).toEqual([]);
  });

  it('18 the sender is in the path, or an id of the provider', async () => {
    const known = knownProvider('whatsapp-cloud');
    const message = { channel: 'messaging-app', from: 'Riverside', text: 'Hi' } as const;
    const { form, body } = await requestOf(known, example(message));
    expect([form.url.includes(known.examples.vars?.['phoneNumberId'] ?? '?'), body.includes('Riverside')]).toEqual([
      true,
      false,
    ]);
  });

  it('20 a slash at the end of a path stays', async () => {
    expect((await requestOf(knownProvider('plivo'), sms())).form.path).toMatch(/\/Message\/$/);
  });
});

describe('of several recipients of one request', () => {
  const entry = (to: string, more: JsonObject) => ({
    destination: to.slice(1),
    status: { groupName: 'PENDING', name: 'PENDING_ACCEPTED' },
    ...more,
  });

  it('none gets the id of another, whose entry is the first', () => {
    const messages = [entry(ADA, { messageId: 'of-ada' }), entry(BO, {})];
    for (const all of [messages, messages.toReversed()]) {
      const verdicts = read('infobip', { status: 200, body: { messages: all } }, [ADA, BO]);
      expect(verdicts.map(wordOf)).toEqual(['accepted', 'doubt']);
      expect(verdicts.map(({ messageId }) => messageId)).toEqual(['of-ada', null]);
    }
  });

  it('one that the list leaves out is in doubt, also where the answer as a whole has a good word', () => {
    const answers: readonly AnswerRule[] = [
      { statuses: [200], codeAt: '/state', codes: ['ok'], textAt: null, text: null, verdict: 'accepted' },
    ];
    const usual = wireOf('infobip');
    const response = { ...usual.response, messageIdRequired: false };
    const wire = { ...usual, response, rules: compileRules(answers) };
    const body = { state: 'ok', messages: [{ destination: ADA.slice(1), messageId: 'of-ada' }] };
    const verdicts = read('infobip', { status: 200, body }, [ADA, BO], wire);
    expect(verdicts.map(wordOf)).toEqual(['accepted', 'doubt']);
  });
});
