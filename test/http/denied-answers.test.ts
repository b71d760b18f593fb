import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { Verdict } from '../../src/http/classify.ts';
import { ANN, answered, BEN, DENIED, judge, REFUSED, THREE, told } from './answers.ts';
import { wireOf } from './wire.ts';

const ACCOUNT = 'pending not-authorised';

function one(answer: unknown): string {
  return told(answered(answer, { recipients: [ANN] }))[0] ?? '';
}

/** Answers of APIs that took a message (their documents, with invented values), and what may be said beside it. */
const GOOD: readonly (readonly [label: string, answer: unknown])[] = [
  ['nothing', {}],
  ['an error of null', { id: 'm', error: null }],
  ['no errors', { id: 'm', errors: [] }],
  ['errors that are an empty object', { id: 'm', errors: {} }],
  ['an empty error', { id: 'm', error: '', errorMessage: ' ' }],
  ['an error code of 0', { id: 'm', error_code: 0, errorCode: '0', errno: '00' }],
  ['errors that say that there is none', { id: 'm', error: { code: 0, message: 'OK' }, errmsg: 'ok', err: 'none' }],
  ['no error, in words', { error: { groupId: 0, name: 'NO_ERROR', description: 'No Error', permanent: false } }],
  ['warnings', { id: 'm', warnings: [{ code: 3, message: 'Invalid sender, replaced' }], credit: 12.3 }],
  ...['QUEUED', 'PENDING', 'scheduled', 'accepted', 'Accepted for delivery', 'SUBMITTED', 'in_progress', 'enroute'].map(
    (status) => [`the word ${status}`, { status }] as const,
  ),
  ...['sent', 'sending', 'buffered', 'delivered', 'processing', 'PENDING_ENROUTE', 'MESSAGE_ACCEPTED', 'created'].map(
    (state) => [`the word ${state}`, { data: { id: 1, state } }] as const,
  ),
  ['a status of 0', { status: 0 }],
  ['a status of 0 as text', { status: '0', result: '000' }],
  ...[200, 201, 202, '200', '202'].map((status) => [`a status of ${status}`, { status, code: status }] as const),
  ['a code in words', { code: 'SUCCESS', Code: 'Ok', result: 'OK' }],
  ['a code of zeros', { code: '000000', errorCode: 'ER-00', result: [{ status: '000000' }] }],
  ['success', { success: true, ok: true, isSuccess: 'true', accepted: 1, return: 'yes' }],
  ['an unknown word beside an id', { id: 'm', status: 'W Realizacji', state: 'zustaw' }],
  ['an unknown word beside an id under another name', { sid: 'SM1', status: 'enfilado' }],
  ['words in other languages', { estado: 'Aceptado', status: 'Enviado', result: '发送成功', state: 'Отправлено' }],
  [
    'a status as an object',
    { status: { groupId: 1, groupName: 'PENDING', id: 26, name: 'PENDING_ACCEPTED', code: 7 } },
  ],
  ['no lists of the refused', { accepted: [ANN.to], rejected: [], failed: [], invalid_numbers: [] }],
  ['no error in other languages', { id: 'm', fehler: null, erreur: '', erro: 0, hata: false }],
  ['a head beside data', { meta: { status: 200 }, data: { id: 'm' } }],
  ['a text alone', 'OK: queued'],
  ['a number alone', 12345],
  ['nothing but a text', { message: 'Message queued. Thank you.' }],
  ['such a text, in other words', { data: { msg: 'ok', requestId: 'r' }, message: 'We got it' }],
  ['a text that says no beside an id', { id: 'm', message: 'Do not forget to pay' }],
  ['the text of the message beside its number', { to: ANN.to, message: 'Failed to pay?' }],
  ['the request repeated', { id: 'm', metaData: { status: 'failed', error: 'x' }, template: { state: 'rejected' } }],
  [
    'Infobip',
    {
      bulkId: 'b',
      messages: [{ messageId: '1', destination: '447700900101', status: { groupName: 'PENDING', id: 26 } }],
    },
  ],
  [
    'Twilio',
    { sid: 'SM1', status: 'queued', error_code: null, error_message: null, num_media: '0', price: null, to: ANN.to },
  ],
  [
    'Telnyx',
    {
      data: {
        id: 'a',
        record_type: 'message',
        direction: 'outbound',
        to: [{ phone_number: ANN.to, status: 'queued', carrier: 'T', line_type: 'Wireless' }],
        errors: [],
        media: [],
        tags: [],
        completed_at: null,
      },
    },
  ],
  [
    'WhatsApp',
    {
      messaging_product: 'whatsapp',
      contacts: [{ input: ANN.to, wa_id: '447700900101' }],
      messages: [{ id: 'wamid.1', message_status: 'accepted' }],
    },
  ],
  [
    'WhatsApp, held',
    { contacts: [{ wa_id: '447700900101' }], messages: [{ id: 'w', message_status: 'held_for_quality_assessment' }] },
  ],
  [
    'Vonage of old',
    {
      'message-count': '1',
      messages: [{ to: '447700900101', 'message-id': '1', status: '0', 'remaining-balance': '3.14', network: '23410' }],
    },
  ],
  ['Vonage', { message_uuid: 'u' }],
  [
    'MessageBird',
    {
      id: 'm',
      href: 'https://x',
      type: 'sms',
      gateway: 10,
      recipients: {
        totalCount: 1,
        totalSentCount: 0,
        totalDeliveryFailedCount: 0,
        items: [{ recipient: 447700900101, status: 'scheduled', statusDatetime: null }],
      },
    },
  ],
  ['Sinch', { id: 'b', to: ['447700900101'], from: 'R', canceled: false, body: 'Hi', type: 'mt_text', parameters: {} }],
  ['Plivo', { api_id: 'a', message: 'message(s) queued', message_uuid: ['u'] }],
  [
    'CM.com',
    {
      details: 'Created 1 message(s)',
      errorCode: 0,
      messages: [
        { to: '00447700900101', status: 'Accepted', reference: 'r', messageDetails: null, messageErrorCode: 0 },
      ],
    },
  ],
  ['GatewayAPI', { ids: [421332671], usage: { countries: { DK: 1 }, currency: 'DKK', total_cost: 0.12 } }],
  ['46elks', { id: 's', status: 'created', from: 'R', to: ANN.to, message: 'Failed to pay?', direction: 'outgoing' }],
  ['Postmark', { To: 'a@example.com', SubmittedAt: '2026-01-01', MessageID: 'u', ErrorCode: 0, Message: 'OK' }],
  ['Postmark, a list', [{ ErrorCode: 0, Message: 'OK', MessageID: 'u', To: 'a@example.com' }]],
  ['Mailgun', { id: '<a@b>', message: 'Queued. Thank you.' }],
  ['SparkPost', { results: { total_rejected_recipients: 0, total_accepted_recipients: 1, id: '11' } }],
  ['Mandrill', [{ email: 'a@example.com', status: 'queued', reject_reason: null, _id: 'x' }]],
  [
    'Notify',
    { id: 'n', reference: 'r', content: { body: 'Error', from_number: 'x' }, template: { id: 't', version: 1 } },
  ],
  [
    "Africa's Talking",
    {
      SMSMessageData: {
        Message: 'Sent to 1/1 Total Cost: KES 0.8',
        Recipients: [{ statusCode: 101, number: '+447700900101', status: 'Success', messageId: 'ATXid_1' }],
      },
    },
  ],
  [
    'ClickSend',
    {
      http_code: 200,
      response_code: 'SUCCESS',
      response_msg: 'Messages queued for delivery.',
      data: { total_count: 1, messages: [{ to: ANN.to, body: 'no', message_id: 'x', status: 'SUCCESS' }] },
    },
  ],
  ['Kaleyra', { id: 'k', totalCount: 1, data: [{ message_id: 'k:1', recipient: '447700900101' }], error: {} }],
  ['Gupshup', { response: { status: 'success', id: 'g', phone: '447700900101', details: '' } }],
  ['Unifonic', { success: 'true', message: '', errorCode: 'ER-00', data: { MessageID: 6, Status: 'Sent' } }],
  ['Telegram', { ok: true, result: { message_id: 7, chat: { type: 'private' } } }],
  ['Viber', { status: 0, status_message: 'ok', message_token: 5 }],
  ['WeChat', { errcode: 0, errmsg: 'ok', msgid: 200 }],
  [
    'Huawei',
    { result: [{ originTo: ANN.to, smsMsgId: 'x', status: '000000' }], code: '000000', description: 'Success' },
  ],
  [
    'Tencent',
    { Response: { SendStatusSet: [{ SerialNo: '5', Code: 'Ok', Message: 'send success' }], RequestId: 'r' } },
  ],
  ['SMSAPI', { count: 1, list: [{ id: 'x', points: 0.16, number: '447700900101', status: 'QUEUE', error: null }] }],
  [
    'Pinpoint',
    { MessageResponse: { Result: { [ANN.to]: { DeliveryStatus: 'SUCCESSFUL', MessageId: 'm', StatusCode: 200 } } } },
  ],
  [
    'Mailjet',
    { Messages: [{ Status: 'success', Errors: [], To: [{ Email: 'a@example.com', MessageID: 9 }], Cc: [] }] },
  ],
  ['Expo', { data: { status: 'ok', id: 'e' } }],
  ['Clickatell', { messages: [{ apiMessageId: 'c', accepted: true, to: '447700900101', error: null }], error: null }],
  ['BulkSMS', [{ id: '1', type: 'SENT', to: '447700900101', status: { id: 'ACCEPTED.null', type: 'ACCEPTED' } }]],
  ['Bandwidth', { id: '1', owner: '+1', to: [ANN.to], from: '+1', text: 'x', segmentCount: 1, direction: 'out' }],
];

/** Answers that say no, to a request with one recipient. */
const BAD: readonly (readonly [label: string, answer: unknown, says: string])[] = [
  ['an error', { error: 'no credit' }, DENIED],
  ['an error beside an id', { id: 'm', error: 'no credit' }, DENIED],
  ['an error as an object', { success: false, error: { code: 1003, message: 'insufficient balance' } }, DENIED],
  ['errors', { errors: [{ message: 'x' }] }, DENIED],
  ['errors by field', { id: 'm', errors: { to: ['is not a number'] } }, DENIED],
  ['an error that is true', { error: true }, DENIED],
  ['an error that is true as text', { id: 'm', isError: 'true' }, DENIED],
  ['an error that is 1', { err: 1 }, DENIED],
  ['success that is false', { success: false }, DENIED],
  ['success that is false as text', { success: 'false', id: 'm' }, DENIED],
  ['success that is 0', { multicast_id: 1, success: 0, failure: 1 }, DENIED],
  ['not ok', { ok: false, id: 'm' }, DENIED],
  ['a status of false', { status: false }, DENIED],
  ['the status error', { status: 'error', message: 'no credit' }, DENIED],
  ['a refusal as a word', { id: 'a', status: 'REJECTED' }, REFUSED],
  ['a refusal in small letters', { state: 'undeliverable' }, REFUSED],
  ['a refusal in the envelope', { data: { status: 'failed' } }, REFUSED],
  ['a refusal in another envelope', { response: { data: { result: 'Blocked' } } }, REFUSED],
  ['a refusal in other languages', { id: 'm', status: 'RECHAZADO' }, REFUSED],
  ['a refusal with accents', { id: 'm', status: 'refusé' }, REFUSED],
  ['a refusal in Chinese', { id: 'm', status: '拒绝' }, REFUSED],
  ['failure in a longer word', { id: 'm', status: 'SEND_FAILED' }, DENIED],
  ['failure in camel case', { id: 'm', status: 'deliveryError' }, DENIED],
  ['failure in Russian', { id: 'm', status: 'Ошибка отправки' }, DENIED],
  ['failure in Japanese', { id: 'm', status: '送信エラー' }, DENIED],
  ['what is not so', { id: 'm', status: 'not accepted' }, REFUSED],
  ['what is not so, in a longer text', { id: 'm', status: 'Message could not be sent' }, DENIED],
  ['an unknown word without an id', { status: 'enfilado' }, DENIED],
  ['an unknown word beside the id of the request', { requestId: 'r', status: 'enfilado' }, DENIED],
  ['a number', { id: 'm', status: 4 }, DENIED],
  ['a number as text', { id: 'm', status: '4' }, DENIED],
  ['a code', { id: 'm', code: 'LIMIT_REACHED' }, DENIED],
  ['an unknown code beside an id', { id: 'm', code: 'isv.BUSINESS' }, DENIED],
  ['a negative code', { ret_code: -1 }, DENIED],
  ['a code that is a status of HTTP', { id: 'm', code: 500 }, DENIED],
  ['a problem with status 400', { type: 'about:blank', title: 'Bad Request', status: 400 }, DENIED],
  ['a type', { type: 'error', message: '3 tries' }, DENIED],
  ['nothing but a text that says no', { message: 'Insufficient balance' }, DENIED],
  ['nothing but such a text and its time', { timestamp: '2026-11-29T12:00:00Z', Message: 'Unauthorized' }, DENIED],
  ['a problem without a status', { title: 'Forbidden', detail: 'The key was revoked.', instance: '/a/1' }, DENIED],
  ['the same in an envelope', { data: { msg: 'Number is blocked', requestId: 'r-1' } }, DENIED],
  ['such a text in an entry', { messages: [{ description: 'No credit left' }] }, DENIED],
  ['such a text in French', { message: 'Crédit insuffisant' }, DENIED],
  ['a fault', { Envelope: { Body: { Fault: { faultcode: 'Client' } } } }, DENIED],
  ['a list of no messages', { bulkId: 'b1', messages: [] }, DENIED],
  ['a list of no recipients beside an id', { recipients: [], id: 'x' }, DENIED],
  ['an empty envelope', { status: 'ok', data: [] }, DENIED],
  ['an empty list inside', { id: 'm', response: { messages: [] } }, DENIED],
  ['an empty list at the top', [], DENIED],
  ['no messages, counted', { 'message-count': '0' }, DENIED],
  ['false', false, DENIED],
  ['a word alone', 'ERROR', DENIED],
  ['a refusal alone', 'rejected', REFUSED],
  ['an envelope beside null', { return: { status: 418, message: 'x' }, entries: null }, DENIED],
  ['a head beside an empty body', { header: { isSuccessful: false, resultCode: -1000 }, body: null }, DENIED],
  ['a head that says no, beside data', { meta: { status: 422 }, data: { batch: 'x' } }, DENIED],
  ['a head under another name', { kopf: { error: 'x' }, inhalt: null, rest: '' }, DENIED],
  ['Spanish', { estado: 'rechazado', motivo: 'saldo insuficiente', id: '1' }, REFUSED],
  ['Portuguese', { situacao: 'ERRO', descricao: 'Credenciais', id: '7' }, DENIED],
  ['French', { statut: '\u00e9chec', erreur: 'Cr\u00e9dit insuffisant' }, DENIED],
  ['German', { fehler: 'Kein Guthaben' }, DENIED],
  ['a text', 'ERR: 001, Authentication failed', DENIED],
  ['a negative number', -1, DENIED],
  ['the code 401', { code: 401, message: 'unauthorized' }, ACCOUNT],
  ['the code 402 as text', { error: { code: '402', message: 'no credit' } }, ACCOUNT],
  ['the status 403', { status: 403, title: 'Forbidden' }, ACCOUNT],
  ['the code 403 in an envelope', { response: { statusCode: 403 } }, ACCOUNT],
  ['the code 401 in a list of errors', { errors: [{ status: '401' }] }, ACCOUNT],
  ['the code 401 and no messages', { code: 401, messages: [] }, ACCOUNT],
  ['the code 401 beside an id', { id: 'm', code: 401 }, DENIED],
  ['the code 402 beside another id', { sid: 'SM1', code: 402 }, DENIED],
  ['the code 403 beside success', { success: true, code: 403 }, DENIED],
  ['the code 401 in an entry', { messages: [{ code: 401 }] }, DENIED],
  ['the code 401 beside an entry', { code: 401, messages: [{ to: ANN.to }] }, DENIED],
  ['an entry that names the recipient', { messages: [{ to: ANN.to, error: 'x' }] }, REFUSED],
  ['an entry in national form', { messages: [{ to: '07700 900101', status: '6' }] }, REFUSED],
  ['an entry that names no recipient', { results: [{ success: false, error: { code: 'x' } }] }, DENIED],
  ['an entry that names the reference', { data: [{ ref: ANN.reference, result: 'nope' }] }, REFUSED],
  ['an entry with a listed word', { messages: [{ status: 'Rejected' }] }, REFUSED],
  ['an entry of a list at the top', [{ email: 'x', status: 'rejected', reject_reason: 'hard-bounce' }], REFUSED],
  [
    'two entries that disagree',
    {
      items: [
        { to: ANN.to, error: 'x' },
        { to: ANN.to, id: '2' },
      ],
    },
    DENIED,
  ],
  ['an entry of a list with another name', { Messages: [{ Status: 'error', Errors: [{ ErrorCode: 'x' }] }] }, DENIED],
  ['a list of the refused', { rejected: [ANN.to] }, REFUSED],
  ['a list of invalid numbers', { message_uuid: [], invalid_number: ['447700900101'] }, REFUSED],
  ['a channel that cannot be received', { error: { code: 'channel-not-supported' } }, 'rejected unsupported-channel'],
  [
    'Vonage: credentials',
    { 'message-count': '1', messages: [{ status: '4', 'error-text': 'Bad Credentials' }] },
    DENIED,
  ],
  ['Infobip', { messages: [{ status: { groupName: 'REJECTED', name: 'REJECTED_NETWORK' } }] }, REFUSED],
  [
    "Africa's Talking",
    {
      SMSMessageData: {
        Message: 'x',
        Recipients: [{ statusCode: 403, number: '+447700900101', status: 'InvalidPhoneNumber' }],
      },
    },
    REFUSED,
  ],
  ['OneSignal', { id: '', recipients: 0, errors: ['All included players are not subscribed'] }, DENIED],
  ['Expo', { data: { status: 'error', message: 'x', details: { error: 'DeviceNotRegistered' } } }, DENIED],
  ['Slack', { ok: false, error: 'channel_not_found' }, DENIED],
  ['Viber', { status: 3, status_message: 'invalidAuthToken' }, DENIED],
  ['WhatsApp, paused', { messages: [{ id: 'w', message_status: 'paused' }] }, DENIED],
];

describe('the body of a 2xx (D1a)', () => {
  test.each(GOOD)('takes the message: %s', (_label, answer) => {
    expect(one(answer)).toMatch(/^accepted /);
  });

  test.each(BAD)('says no: %s', (_label, answer, says) => {
    expect(one(answer)).toBe(says);
  });

  test.each(BAD)('halts unless it refuses the recipient: %s', (_label, answer, says) => {
    const [verdict] = answered(answer, { recipients: [ANN] });
    const halt = says === DENIED ? 'refusals' : says === ACCOUNT ? 'not-authorised' : null;
    expect([verdict?.halt, verdict?.again]).toEqual([halt, false]);
  });

  it('says no in plain text too', () => {
    const wire = wireOf({ response: { accept: 'any' } });
    const read = (body: string) => told(judge({ body }, { wire, recipients: [ANN] }))[0];
    for (const body of ['ERROR:14', 'ERR 114 no route', 'Authentication failed', 'Ошибка'])
      expect(read(body)).toBe(DENIED);
    for (const body of ['OK', 'OK: 17', '17', 'queued', 'id=17']) expect(read(body)).toBe('accepted null');
  });

  it('means what the project says', () => {
    const wire = wireOf({ response: { recipientStatus: { accepted: ['1', 'Enfilado'], refused: ['nope'] } } });
    const read = (answer: unknown) => told(answered(answer, { wire, recipients: [ANN] }))[0];
    expect(read({ code: 1, status: 'ENFILADO' })).toBe('accepted null');
    expect(read({ code: '1', errors: 1 })).toBe('accepted null');
    expect(read({ id: 'm', status: 'Nope' })).toBe(REFUSED);
    expect(read({ id: 'm', status: 'rejected' })).toBe(REFUSED);
    expect(read({ id: 'm', code: 2 })).toBe(DENIED);
  });
});

describe('several recipients (D1a)', () => {
  const both = [ANN, BEN];
  const read = (answer: unknown) => told(answered(answer, { recipients: both }));
  it('are all in doubt where the answer as a whole says no', () => {
    for (const answer of [
      { success: false },
      { id: 'm', status: 'rejected' },
      { error: 'x', messages: both.map(({ to }) => ({ to })) },
      { id: 'm', messages: [] },
    ]) {
      expect(read(answer)).toEqual([DENIED, DENIED]);
    }
    expect(read({ code: 401 })).toEqual([ACCOUNT, ACCOUNT]);
    expect(read({ code: 401, messages: [{ to: ANN.to, id: '1' }] })).toEqual([DENIED, DENIED]);
  });

  it('are taken and refused each, where the whole answer says no because of the refused', () => {
    const messages = [
      { to: ANN.to, status: 'Accepted' },
      { to: BEN.to, status: 'Rejected', messageErrorCode: 304 },
    ];
    expect(read({ errorCode: 201, status: 'partially-accepted', messages })).toEqual(['accepted null', REFUSED]);
  });

  it('are in doubt where an entry that says no names no recipient', () => {
    expect(read([{ id: '1' }, { ErrorCode: 406, Message: 'inactive' }])).toEqual(['accepted 1', DENIED]);
  });
});

const no = fc.constantFrom<Readonly<Record<string, unknown>>>(
  { error: 'x' },
  { Errors: ['x'] },
  { success: false },
  { ok: 0 },
  { status: 'Failed' },
  { state: 'ERROR' },
  { result: 'NOK' },
  { code: 17 },
  { fault: {}, faultCode: 1 },
  { error_code: '30001' },
  { 'error-text': 'x' },
  { statusCode: 500 },
  { status: { name: 'REJECTED' } },
  { messages: [] },
);
const beside = fc.constantFrom<Readonly<Record<string, unknown>>>(
  {},
  { id: 'm' },
  { messageId: 'm', message: 'OK' },
  { requestId: 'r', warnings: [] },
  { meta: { page: 1 }, price: 0.1 },
);
const place = fc.constantFrom<(body: object) => unknown>(
  (body) => body,
  (body) => ({ data: body }),
  (body) => ({ id: 'm', response: body }),
  (body) => ({ result: body, success: true }),
  (body) => ({ messages: [body] }),
  (body) => ({ data: { recipients: [body] } }),
  (body) => [body],
);

it('no answer with a refusal in it is an acceptance, and only one about the account is sent again', () => {
  fc.assert(
    fc.property(no, beside, place, fc.integer({ min: 1, max: 3 }), fc.boolean(), (says, more, put, count, isAfter) => {
      const body = isAfter ? { ...more, ...says } : { ...says, ...more };
      const verdicts: readonly Verdict[] = answered(put(body), { recipients: THREE.slice(0, count) });
      for (const { outcome, halt, again, split } of verdicts) {
        expect(['rejected', 'in-doubt']).toContain(outcome);
        if (outcome === 'rejected') expect(halt).toBeNull();
        expect([again, split]).toEqual([false, false]);
      }
    }),
    { numRuns: 2_000 },
  );
});

it('a good answer stays one wherever it is, and however its names are written', () => {
  const spellings = fc.constantFrom<(name: string) => string>(
    (name) => name,
    (name) => name.toUpperCase(),
    (name) => name.charAt(0).toUpperCase() + name.slice(1),
    (name) => name.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase(),
  );
  const good = fc.constantFrom<Readonly<Record<string, unknown>>>(
    { error: null, status: 'Queued' },
    { errorCode: 0, success: true },
    { errors: [], state: 'PENDING' },
    { statusCode: 202, result: 'ok' },
  );
  fc.assert(
    fc.property(good, place, spellings, (says, put, spelt) => {
      const body = Object.fromEntries(Object.entries(says).map(([name, value]) => [spelt(name), value]));
      expect(one(put(body))).toMatch(/^accepted /);
    }),
    { numRuns: 500 },
  );
});
