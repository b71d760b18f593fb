import { ACCEPTED_HEAD, type Behaviour, doubtOf, type Ending, rejected } from './behaviour.ts';

const CHUNKED = `${ACCEPTED_HEAD}transfer-encoding: chunked\r\n\r\n`;
const UNTIL_CLOSED = `${ACCEPTED_HEAD}connection: close\r\n\r\n`;

const unrecognised = (halt: Ending['halt'], httpStatus = 202): readonly Ending[] => [
  doubtOf(httpStatus, 'unrecognised', halt),
];

type Case = Pick<Behaviour, 'name' | 'plays'> & Partial<Behaviour>;

/** A 2xx whose body is not what the API says: in doubt, and nothing but the API as the first answer of a start. */
const success = (one: Case): Behaviour => ({
  rows: ['D2'],
  at: 'request',
  status: 202,
  expected: unrecognised(null, one.status ?? 202),
  asFirstAnswer: unrecognised('not-the-api', one.status ?? 202),
  ...one,
});

/** The status came, the body did not, or not as the API gives it. */
export const BROKEN_BODY: readonly Behaviour[] = [
  success({
    name: 'reset in the body',
    plays: [{ write: `${ACCEPTED_HEAD}content-length: 100\r\n\r\n{"id":` }, { waitMs: 30 }, 'reset'],
  }),
  success({
    name: 'a length that is too long, then close',
    plays: [{ write: `${ACCEPTED_HEAD}content-length: 100\r\n\r\n{"id":"{ID}"}` }, 'end'],
    givesId: true,
  }),
  success({
    name: 'a length that is too short',
    plays: [{ write: `${ACCEPTED_HEAD}content-length: 5\r\n\r\n{"id":"{ID}"}` }],
    givesId: true,
  }),
  success({
    name: 'a body that never comes',
    plays: [{ write: `${ACCEPTED_HEAD}content-length: 100\r\n\r\n` }],
    silent: true,
  }),
  success({
    name: 'a body of one byte per 200 ms',
    plays: [{ write: `${ACCEPTED_HEAD}content-length: 100\r\n\r\n` }, { drip: ' ', everyMs: 200 }],
    silent: true,
  }),
  success({ name: 'a bad chunk', plays: [{ write: `${CHUNKED}zz\r\n{}\r\n0\r\n\r\n` }] }),
  success({
    name: 'a chunk of more bytes than can be counted',
    plays: [{ write: `${CHUNKED}ffffffffffffffffff\r\n{}\r\n0\r\n\r\n` }],
  }),
  success({
    name: 'chunks without the last one, then close',
    plays: [{ write: `${CHUNKED}11\r\n{"id":"{ID}"}\r\n` }, 'end'],
    givesId: true,
  }),
  success({
    name: 'a chunk without end',
    plays: [{ write: `${CHUNKED}7fffffff\r\n` }, { flood: ' '.repeat(16_384) }],
  }),
  success({
    name: 'a huge body with its length',
    plays: [{ answer: [202, `{"id":"{ID}","more":"${'x'.repeat(10_000_000)}"}`] }],
    givesId: true,
  }),
  success({ name: 'a body without end', plays: [{ write: UNTIL_CLOSED }, { flood: ' '.repeat(16_384) }] }),
  success({
    name: 'no length, empty, then reset',
    plays: [{ write: UNTIL_CLOSED }, { waitMs: 30 }, 'reset'],
  }),
  success({
    name: 'no length, whole JSON, then reset',
    plays: [{ write: `${UNTIL_CLOSED}{"id":"{ID}"}` }, { waitMs: 30 }, 'reset'],
    givesId: true,
  }),
  success({
    name: 'no length, cut JSON, then close',
    plays: [{ write: `${UNTIL_CLOSED}{"id":"m-` }, 'end'],
  }),
  success({
    name: 'a compressed answer',
    rows: ['D2', 'S38'],
    plays: [{ gzip: '{"id":"{ID}"}' }],
    givesId: true,
  }),
  success({
    name: 'a compressed answer of 200 MB',
    rows: ['D2', 'S38'],
    plays: [{ gzip: ' '.repeat(1_000_000), times: 200 }],
  }),
  success({
    name: 'a login page in HTML',
    plays: [{ answer: [200, '<!DOCTYPE html><title>Log in</title><form>{KEY}</form>', 'content-type: text/html'] }],
    status: 200,
    expected: unrecognised('not-the-api', 200),
    hostile: true,
  }),
  success({
    name: 'HTML that says it is JSON',
    plays: [{ answer: [200, '<html><body>Welcome</body></html>'] }],
    status: 200,
    expected: unrecognised('not-the-api', 200),
  }),
  success({ name: 'plain text', plays: [{ answer: [200, 'OK', 'content-type: text/plain'] }], status: 200 }),
  success({ name: 'half of a JSON document with its length', plays: [{ answer: [202, '{"id":"m-1"'] }] }),
  success({
    name: 'JSON without an id, where the project names its place',
    plays: [{ answer: [202, '{"ok":true,"key":"{KEY}"}'] }],
    environment: '    wire: { response: { messageId: [/id] } }',
    hostile: true,
  }),
  success({
    name: 'an empty answer, where the project names the place of an id',
    plays: [{ answer: [202] }],
    environment: '    wire: { response: { messageId: [/id] } }',
  }),
  {
    name: '400, then reset in the body',
    rows: ['F1'],
    at: 'request',
    status: 400,
    plays: [
      { write: 'HTTP/1.1 400 Bad Request\r\ncontent-length: 100\r\n\r\n{"message":"no' },
      { waitMs: 30 },
      'reset',
    ],
    expected: [rejected(400)],
  },
  {
    name: '400 with a body without end',
    rows: ['F1'],
    at: 'request',
    status: 400,
    plays: [{ write: 'HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n' }, { flood: 'no '.repeat(4096) }],
    expected: [rejected(400)],
  },
];
