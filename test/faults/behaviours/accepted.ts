import { ACCEPTED_HEAD, accepted, type Behaviour, doubtOf, pending, rejected } from './behaviour.ts';

/** Ids have eight characters, so that lengths can be written down. */
const ID = '{"id":"{ID}"}';
const ANSWER = `${ACCEPTED_HEAD}content-length: 17\r\n\r\n${ID}`;
const PLANTED = `${ACCEPTED_HEAD}content-length: 17\r\n\r\n{"id":"{PLANTED}"}`;

type Case = Pick<Behaviour, 'name' | 'rows' | 'plays'> & Partial<Behaviour>;

const request = (one: Case): Behaviour => ({
  at: 'request',
  status: 202,
  givesId: true,
  expected: [accepted()],
  ...one,
});

/** Answers that are the API's, however odd: the recipient is accepted, with the id that was given out or with none. */
export const ACCEPTED: readonly Behaviour[] = [
  request({ name: 'a proper answer', rows: ['D1'], plays: [{ answer: [202, ID] }] }),
  request({
    name: 'an empty 200',
    rows: ['D1'],
    plays: [{ answer: [200] }],
    status: 200,
    givesId: false,
    expected: [accepted(200)],
  }),
  request({
    name: '204 without a body',
    rows: ['D1'],
    plays: [{ write: 'HTTP/1.1 204 No Content\r\n\r\n' }],
    status: 204,
    givesId: false,
    expected: [accepted(204)],
  }),
  request({
    name: 'an answer in chunks, with an extension and a trailer',
    rows: ['D1'],
    plays: [
      { write: `${ACCEPTED_HEAD}transfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n7\r\n{"id":"\r\n` },
      { waitMs: 5 },
      { write: '8;name=value\r\n{ID}\r\n2\r\n"}\r\n0\r\nx-sum: 1\r\n\r\n' },
    ],
  }),
  request({
    name: 'an answer that ends with its connection',
    rows: ['D1'],
    plays: [{ write: `${ACCEPTED_HEAD}connection: close\r\n\r\n${ID}` }, 'end'],
  }),
  request({ name: 'an answer in single bytes, in time', rows: ['D1'], plays: [{ bytes: ANSWER, everyMs: 1 }] }),
  request({
    name: '103 Early Hints, then the answer',
    rows: ['C7'],
    plays: [{ write: `HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n${ANSWER}` }],
  }),
  request({
    name: 'fifty times 102 Processing, then the answer',
    rows: ['C7'],
    plays: [{ write: 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(50) }, { waitMs: 5 }, { write: ANSWER }],
  }),
  request({
    name: 'the answer before the body is read',
    rows: ['D3'],
    at: 'half',
    // What such a server has not read is with the kernel: more would be cut off by the end of the run.
    copies: 2,
    plays: ['stop reading', { write: ANSWER }, { waitMs: 20 }, 'read on'],
  }),
  request({ name: 'two answers in one packet', rows: ['S37'], plays: [{ write: ANSWER + PLANTED }] }),
  request({
    name: 'a second answer, a moment later',
    rows: ['S37'],
    plays: [{ write: ANSWER }, { waitMs: 1 }, { write: PLANTED }],
    // Slowly, so that no other request is under way by then: its answer it would be, as far as a client can tell.
    rate: 10,
  }),
  request({
    name: 'a second answer behind an interim one',
    rows: ['S37', 'C7'],
    plays: [{ write: `${ANSWER}HTTP/1.1 103 Early Hints\r\n\r\n${PLANTED}` }],
  }),
  request({
    name: 'another answer in the body behind the end of its length',
    rows: ['S37'],
    plays: [{ write: `${ACCEPTED_HEAD}content-length: 2\r\n\r\n{}${PLANTED}` }],
    givesId: false,
  }),
  request({
    name: 'JSON that reaches for the prototype',
    rows: ['D1', 'S12'],
    plays: [{ answer: [202, '{"__proto__":{"polluted":1,"id":"{PLANTED}"},"constructor":{"id":1},"id":"{ID}"}'] }],
  }),
  request({
    name: 'HTTP/2 on offer, which refuses every first stream',
    rows: ['B10'],
    secure: 'h2',
    plays: [{ answer: [202, ID] }],
  }),
  request({
    name: 'a refusal inside a 200, where the project says so',
    rows: ['F1'],
    plays: [{ answer: [200, '{"id":"{ID}","error":{"message":"no such subscriber"}}'] }],
    status: 200,
    environment: '    wire: { response: { failed: [/error] } }',
    said: 'refused',
    expected: [rejected(200, 'refused')],
  }),
  request({
    name: 'a word for a refusal inside a 200, beside an id',
    rows: ['D1a'],
    plays: [{ answer: [200, '{"id":"{ID}","status":"REJECTED"}'] }],
    status: 200,
    said: 'refused',
    expected: [rejected(200, 'refused')],
  }),
  request({
    name: 'an error inside a 200',
    rows: ['D1a'],
    plays: [{ answer: [200, '{"success":false,"error":{"code":1003,"message":"insufficient balance"}}'] }],
    status: 200,
    givesId: false,
    said: 'unclear',
    expected: [doubtOf(200, 'refused', 'refusals')],
  }),
  request({
    name: 'no messages in the list of a 200, beside an id',
    rows: ['D1a'],
    plays: [{ answer: [200, '{"id":"{ID}","messages":[]}'] }],
    status: 200,
    said: 'unclear',
    expected: [doubtOf(200, 'refused', 'refusals')],
  }),
  request({
    name: 'a refused key inside a 200',
    rows: ['D1a'],
    plays: [{ answer: [200, '{"code":401,"message":"unauthorized"}'] }],
    status: 200,
    givesId: false,
    said: 'account',
    expected: [pending(200, 'not-authorised', 'not-authorised')],
  }),
];
