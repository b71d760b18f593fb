import { ACCEPTED_HEAD, type Behaviour, doubt } from './behaviour.ts';

const BAD = [doubt('bad-response')];
const TIMEOUT = [doubt('timeout')];
const ANSWER = `${ACCEPTED_HEAD}content-length: 17\r\n\r\n{"id":"{ID}"}`;

type Case = Pick<Behaviour, 'name' | 'rows' | 'plays' | 'expected'> & Partial<Behaviour>;

const request = (one: Case): Behaviour => ({ at: 'request', status: null, ...one });

/** No status line with headers ever came whole: it is unknown whether the API did anything. */
export const NO_ANSWER: readonly Behaviour[] = [
  request({
    name: 'reads half of the request, then resets',
    rows: ['C1'],
    at: 'half',
    plays: ['reset'],
    expected: [doubt('write'), doubt('no-response')],
  }),
  request({
    name: 'reads half of the request, then closes',
    rows: ['C1'],
    at: 'half',
    plays: ['stop reading', 'end', { waitMs: 20 }, 'reset'],
    expected: [doubt('write'), doubt('no-response')],
  }),
  request({
    name: 'stops reading',
    rows: ['C2'],
    at: 'half',
    plays: ['stop reading'],
    expected: TIMEOUT,
    silent: true,
  }),
  request({ name: 'reset after the request', rows: ['C3', 'C4'], plays: ['reset'], expected: [doubt('no-response')] }),
  request({ name: 'close after the request', rows: ['C3', 'C4'], plays: ['end'], expected: [doubt('no-response')] }),
  request({ name: 'silence', rows: ['C3'], plays: [], expected: TIMEOUT, silent: true }),
  request({
    name: 'half a status line, then reset',
    rows: ['C5'],
    plays: [{ write: 'HTTP/1.1 20' }, { waitMs: 30 }, 'reset'],
    expected: BAD,
  }),
  request({
    name: 'half a status line, then close',
    rows: ['C5'],
    plays: [{ write: 'HTTP/1.1 20' }, 'end'],
    expected: BAD,
  }),
  request({
    name: 'half a status line, then silence',
    rows: ['C5', 'C2'],
    plays: [{ write: 'HTTP/1.1 20' }],
    expected: TIMEOUT,
    silent: true,
  }),
  request({
    name: 'half of the headers, then reset',
    rows: ['C5'],
    plays: [{ write: 'HTTP/1.1 202 Accepted\r\ncontent-type: appl' }, { waitMs: 30 }, 'reset'],
    expected: BAD,
  }),
  request({
    name: 'half of the headers, then close',
    rows: ['C5'],
    plays: [{ write: 'HTTP/1.1 202 Accepted\r\ncontent-type: appl' }, 'end'],
    expected: BAD,
  }),
  request({ name: 'another protocol', rows: ['C5'], plays: [{ write: 'SSH-2.0-OpenSSH_9.6\r\n' }], expected: BAD }),
  request({
    name: 'bytes of nothing',
    rows: ['C5'],
    plays: [{ write: '\u0000\u00ff\u0001\u00fe\u0016\u0003\u0001\u0002' }],
    expected: BAD,
  }),
  request({
    name: 'a version of HTTP that does not exist',
    rows: ['C5'],
    plays: [{ write: `HTTP/9.9 202 Accepted\r\ncontent-length: 0\r\n\r\n` }],
    expected: BAD,
  }),
  request({
    name: 'HTTP/0.9: only the body',
    rows: ['C5'],
    plays: [{ write: '{"id":"{ID}"}' }, 'end'],
    expected: BAD,
  }),
  request({
    name: 'an HTTP/2 frame',
    rows: ['C5'],
    plays: [{ write: '\u0000\u0000\u0000\u0004\u0000\u0000\u0000\u0000\u0000' }],
    expected: BAD,
  }),
  request({
    name: 'status 099',
    rows: ['C5'],
    plays: [{ write: 'HTTP/1.1 099 Odd\r\ncontent-length: 0\r\n\r\n' }],
    expected: BAD,
  }),
  request({
    name: 'a status of four digits',
    rows: ['C5'],
    plays: [{ write: 'HTTP/1.1 2020 Accepted\r\ncontent-length: 0\r\n\r\n' }],
    expected: BAD,
  }),
  request({
    name: 'a status that is a word',
    rows: ['C5'],
    plays: [{ write: 'HTTP/1.1 OK\r\ncontent-length: 0\r\n\r\n' }],
    expected: BAD,
  }),
  request({
    name: '101 unasked',
    rows: ['C5'],
    plays: [{ write: 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n' }],
    expected: BAD,
  }),
  request({
    name: 'one header of 40 KiB',
    rows: ['C5'],
    plays: [{ write: `${ACCEPTED_HEAD}x-long: ${'a'.repeat(40_960)}\r\n\r\n` }],
    expected: BAD,
  }),
  request({
    name: 'headers without end',
    rows: ['C5'],
    plays: [{ write: ACCEPTED_HEAD }, { flood: `x-more: ${'a'.repeat(100)}\r\n`.repeat(20) }],
    expected: BAD,
  }),
  request({
    name: 'a header with a line break in its name',
    rows: ['C5'],
    plays: [{ write: `${ACCEPTED_HEAD}x-na\nme: 1\r\ncontent-length: 2\r\n\r\n{}` }],
    expected: BAD,
  }),
  request({
    name: 'two lengths',
    rows: ['C6'],
    plays: [{ write: `${ACCEPTED_HEAD}content-length: 2\r\ncontent-length: 5\r\n\r\n{}   ` }],
    expected: BAD,
  }),
  request({
    name: 'a length and chunks',
    rows: ['C6'],
    plays: [{ write: `${ACCEPTED_HEAD}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n` }],
    expected: BAD,
  }),
  request({
    name: 'a length below zero',
    rows: ['C6'],
    plays: [{ write: `${ACCEPTED_HEAD}content-length: -1\r\n\r\n{}` }],
    expected: BAD,
  }),
  request({
    name: 'a length that is not a number',
    rows: ['C6'],
    plays: [{ write: `${ACCEPTED_HEAD}content-length: two\r\n\r\n{}` }],
    expected: BAD,
  }),
  request({
    name: '100 Continue unasked, then the answer',
    rows: ['C7'],
    plays: [{ write: `HTTP/1.1 100 Continue\r\n\r\n${ANSWER}` }],
    status: 202,
    givesId: true,
    expected: BAD,
  }),
  request({
    name: '103 without end',
    rows: ['C8'],
    plays: [{ drip: 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n', everyMs: 20 }],
    expected: TIMEOUT,
    silent: true,
  }),
  request({
    name: 'headers one byte at a time',
    rows: ['C8'],
    plays: [{ bytes: ANSWER, everyMs: 200 }],
    expected: TIMEOUT,
    silent: true,
  }),
];
