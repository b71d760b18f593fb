import {
  ACCEPTED_HEAD,
  accepted,
  type BadConnection,
  type Behaviour,
  doubt,
  doubtOf,
  type Ending,
  failed,
} from './behaviour.ts';

/** Where a connection dies before or in the instant of its request, only the phase says which it was. */
const LOST: readonly Ending[] = [accepted(), doubt('no-response'), doubt('write'), failed('connect')];
const UNTRUSTED: readonly Ending[] = [failed('tls', 'tls')];

type Case = Pick<Behaviour, 'name' | 'rows' | 'expected'> & { readonly bad: BadConnection } & Partial<Behaviour>;

const connection = ({ bad, ...one }: Case): Behaviour => ({
  at: 'connection',
  plays: [],
  connection: bad,
  status: null,
  ...one,
});

/** What is wrong with the connection itself, before any request. */
export const CONNECTIONS: readonly Behaviour[] = [
  connection({ name: 'accepts and resets', rows: ['B5'], bad: { plays: ['reset'], times: 2 }, expected: LOST }),
  connection({ name: 'accepts and closes', rows: ['B5'], bad: { plays: ['end'], times: 2 }, expected: LOST }),
  connection({
    name: 'accepts and resets a moment later',
    rows: ['B5', 'C4'],
    bad: { plays: [{ waitMs: 4 }, 'reset'], times: 2 },
    expected: LOST,
  }),
  connection({
    name: 'closes a kept connection behind an answer',
    rows: ['C4'],
    bad: { leaves: 'end' },
    expected: LOST,
  }),
  connection({
    name: 'resets a kept connection behind an answer',
    rows: ['C4'],
    bad: { leaves: 'reset' },
    // The reset may overtake the answer.
    expected: [
      ...LOST,
      doubt('bad-response'),
      doubtOf(202, 'unrecognised', null),
      doubtOf(202, 'unrecognised', 'not-the-api'),
    ],
  }),
  connection({
    name: 'answers before it is asked',
    rows: ['S37', 'D3'],
    bad: {
      plays: [{ write: `${ACCEPTED_HEAD}content-length: 17\r\n\r\n{"id":"{ID}"}` }],
      // What comes in the instant of the request cannot be told from an answer before the body was read.
      answersEarly: true,
    },
    expected: LOST,
  }),
  connection({
    name: 'greets before it is asked',
    rows: ['C5'],
    bad: { plays: [{ write: '220 mail.example ESMTP\r\n' }] },
    expected: [...LOST, doubt('bad-response')],
  }),
  connection({
    name: 'resets in the handshake',
    rows: ['B5'],
    secure: true,
    bad: { plays: [{ waitMs: 5 }, 'reset'] },
    expected: [accepted()],
  }),
  connection({
    name: 'closes in the handshake',
    rows: ['B5'],
    secure: true,
    bad: { plays: [{ waitMs: 5 }, 'end'] },
    expected: [accepted()],
  }),
  connection({
    name: 'a handshake that stalls',
    rows: ['B4'],
    secure: true,
    silent: true,
    bad: { plays: [] },
    expected: [accepted()],
  }),
  connection({
    name: 'a certificate with another name',
    rows: ['B6'],
    secure: true,
    bad: { certificate: 'elsewhere' },
    expected: UNTRUSTED,
  }),
  connection({
    name: 'a self-signed certificate',
    rows: ['B6'],
    secure: true,
    bad: { certificate: 'untrusted' },
    expected: UNTRUSTED,
  }),
  connection({
    name: 'a certificate that has expired',
    rows: ['B6'],
    secure: true,
    bad: { certificate: 'expired' },
    expected: UNTRUSTED,
  }),
  connection({
    name: 'plain HTTP on the port of TLS',
    rows: ['B6'],
    secure: true,
    bad: { plays: [{ write: 'HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n' }, { waitMs: 5 }, 'end'] },
    expected: UNTRUSTED,
  }),
  connection({
    name: 'a version of TLS that is too old',
    rows: ['B6'],
    secure: true,
    bad: { tls: 'TLSv1.1' },
    expected: UNTRUSTED,
  }),
  connection({
    name: 'asks for a client certificate, TLS 1.3',
    rows: ['C9'],
    secure: true,
    bad: { clientCertificate: true, tls: 'TLSv1.3' },
    // The client is through with its handshake before the server refuses it.
    expected: [...LOST, failed('tls', 'tls')],
  }),
  connection({
    name: 'asks for a client certificate, TLS 1.2',
    rows: ['C9'],
    secure: true,
    bad: { clientCertificate: true, tls: 'TLSv1.2' },
    expected: [...LOST, failed('tls', 'tls')],
  }),
];
