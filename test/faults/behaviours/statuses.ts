import { accepted, type Behaviour, doubtOf, type Ending, pending, rejected } from './behaviour.ts';

const SAYS = '{"message":"not today"}';

type Case = Partial<Behaviour>;

const status = (row: string, number: number, expected: Ending, more: Case = {}): Behaviour => ({
  name: `status ${number}`,
  rows: [row],
  at: 'request',
  plays: [{ answer: [number, SAYS] }],
  status: number,
  expected: [expected],
  plain: Object.keys(more).every((name) => name === 'asFirstAnswer'),
  ...more,
});

/** 307 and 308 promise that nothing was done; the others may have done it. */
const redirect = (number: number): Behaviour =>
  status(
    number >= 307 ? 'E1' : 'E2',
    number,
    number >= 307 ? pending(number, 'wrong-address', 'wrong-address') : doubtOf(number, 'redirect', 'wrong-address'),
    {
      name: `${number} to another host`,
      rows: [number >= 307 ? 'E1' : 'E2', 'S1'],
      plays: [{ answer: [number, '', 'location: {ELSEWHERE}/v2/messages'] }],
    },
  );

const account = (number: number, more: Case = {}): Behaviour =>
  status('F2', number, pending(number, 'not-authorised', 'not-authorised'), more);

const notHere = (number: number): Behaviour =>
  status('F1', number, rejected(number), { asFirstAnswer: [pending(number, 'wrong-address', 'wrong-address')] });

/** 429 to every attempt, with what the header `Retry-After` says. */
const tooMany = (row: string, says: string, value: string | null, expected: Ending): Behaviour =>
  status(row, 429, expected, {
    name: `429 ${says}`,
    plays: [{ answer: value === null ? [429, SAYS] : [429, SAYS, `retry-after: ${value}`] }],
  });

const LIMITED = pending(429, 'rate-limited');

/** Whole answers that are no 2xx: the status decides. */
export const STATUSES: readonly Behaviour[] = [
  ...[301, 302, 303, 307, 308].map(redirect),
  status('E2', 300, doubtOf(300, 'redirect', 'wrong-address')),
  status('E2', 304, doubtOf(304, 'redirect', 'wrong-address'), { plays: [{ answer: [304] }] }),
  status('E2', 305, doubtOf(305, 'redirect', 'wrong-address'), {
    name: '305 to a proxy',
    plays: [{ answer: [305, '', 'location: {ELSEWHERE}'] }],
  }),

  status('F1', 400, rejected(400)),
  status('F1', 400, rejected(400), {
    name: '400 that repeats the key',
    rows: ['F1', 'S7'],
    plays: [{ answer: [400, '{"message":"bad key {KEY}, {KEY_URL}, {KEY_BASE64}"}'] }],
    hostile: true,
  }),
  status('F1', 400, rejected(400), {
    name: '400 with escapes for terminals and scripts for pages',
    rows: ['F1', 'S21', 'S22', 'S23'],
    plays: [
      {
        answer: [
          400,
          '{"message":"\\u001b]52;c;aGk=\\u0007\\u001b[2J\\r\\u202eevil\\u009b1m\\n{\\"level\\":\\"error\\"}<script>alert(1)</script>"}',
        ],
      },
    ],
    hostile: true,
  }),
  ...[404, 405, 410].map(notHere),
  ...[413, 421, 422, 451].map((number) => status('F1', number, rejected(number))),
  account(401),
  account(402),
  account(403, {
    name: '403 with a page',
    plays: [{ answer: [403, '<html>Forbidden {KEY}</html>', 'content-type: text/html'] }],
    hostile: true,
  }),
  account(407),
  status('F3', 408, doubtOf(408)),
  status('F3', 408, doubtOf(408), {
    name: '408 and the connection closed',
    plays: [{ answer: [408, '', 'connection: close'] }, 'end'],
  }),
  status('F3', 499, doubtOf(499)),
  status('F4', 425, pending(425, 'rate-limited')),
  tooMany('F5', 'with Retry-After: 0', '0', LIMITED),
  tooMany('F5', 'with a date that has just passed', 'Sun, 06 Nov 1994 08:49:37 GMT', LIMITED),
  tooMany('F5', 'with more than 15 minutes', '3600', pending(429, 'rate-limited', 'throttled')),
  tooMany('F5', 'with a date that is far away', '{IN_A_DAY}', pending(429, 'rate-limited', 'throttled')),
  tooMany('F6', 'without Retry-After', null, LIMITED),
  tooMany('F6', 'with Retry-After below zero', '-5', LIMITED),
  tooMany('F6', 'with Retry-After of 300 years', '9999999999', LIMITED),
  tooMany('F6', 'with Retry-After in words', 'soon', LIMITED),
  status('F5', 429, accepted(), {
    name: '429 once, with one second, then the answer',
    plays: [{ answer: [429, SAYS, 'retry-after: 1'] }],
    times: 1,
  }),

  ...[500, 502, 504, 507, 520].map((number) => status('G1', number, doubtOf(number))),
  status('G2', 503, doubtOf(503)),
  status('G2', 503, doubtOf(503), {
    name: '503 with Retry-After: 1',
    plays: [{ answer: [503, SAYS, 'retry-after: 1'] }],
  }),
  status('G2', 503, doubtOf(503, 'status', 'throttled'), {
    name: '503 with Retry-After of an hour',
    rows: ['G2', 'F5'],
    plays: [{ answer: [503, SAYS, 'retry-after: 3600'] }],
  }),
  status('G2', 503, pending(503, 'rate-limited'), {
    name: '503 where the project says that it may be sent again',
    environment: '    wire: { answers: [{ status: 503, then: retry }] }',
    retryStatuses: [503],
  }),
  ...[501, 505].map((number) => status('G3', number, pending(number, 'wrong-address', 'wrong-address'))),
  status('G4', 511, doubtOf(511, 'status', 'not-the-api'), {
    plays: [{ answer: [511, '<html>Hotel</html>', 'content-type: text/html'] }],
  }),
  ...[600, 999].map((number) => status('G5', number, doubtOf(number))),
];
