import type { Edit, Mutant } from './mutant.ts';
import { server } from './proofs.ts';

const CLASSIFY = 'src/http/classify.ts';
const EXCHANGE = 'src/http/exchange.ts';
const LANE = 'src/http/lane.ts';
const OPTIONS = 'src/http/endpoint-options.ts';

const servers = (only: string) => ({ in: 'http/misbehaving-servers.test.ts', only });
const exchange = (only: string) => ({ in: 'http/exchange.test.ts', only });
const endpoint = (only: string) => ({ in: 'http/endpoint.test.ts', only });

const PARSER = 'src/http/answer-parser.ts';
const HEADERS = 'src/http/answer-headers.ts';

const parser = (only: string) => ({ in: 'http/answer-parser.test.ts', only });

const BEGUN = `    this.state = 'busy';\n    const own =`;
const HOOKS = '  // What its parser hears.\n';

/** The request again, by \`fetch\`, which follows what the API says. */
const FETCH = `
  #fetch(exchange: Exchange, to: string): Promise<Response> {
    const lines = this.#options.head.split('\\r\\n').filter((line) => /^(?:x-api-key|content-type): /.test(line));
    const headers = Object.fromEntries(lines.map((line) => line.split(': ')));
    return fetch(to, { method: 'POST', headers, body: exchange.body });
  }

`;

/** \`fetch\` in the place of the lane's own request, as well as one can. */
const FETCHED = `    if (body.length > 0) {
      this.state = 'busy';
      const read = async (response: Response): Promise<void> => {
        const { status, headers } = response;
        const retryAfter = headers.get('retry-after');
        exchange.head({ status, contentType: headers.get('content-type'), contentEncoding: null, retryAfter });
        const bytes = Buffer.from(await response.arrayBuffer());
        exchange.data(bytes, 0, bytes.length);
        this.answerEnd(0);
      };
      void this.#fetch(exchange, this.#options.url.href)
        .then(read)
        .catch((error: Error) => exchange.fail(error));
      return;
    }
`;

/** Follows these statuses to where they point, with key and body, before the answer counts. */
function following(statuses: readonly number[]): readonly Edit[] {
  return [
    { file: HEADERS, was: `'transfer-encoding'];`, is: `'transfer-encoding', 'location'];` },
    { file: HEADERS, was: '[null, null, null, null, null, null]', is: '[null, null, null, null, null, null, null]' },
    { file: HEADERS, was: '  get contentType(): ', is: `${PLACE}  get contentType(): ` },
    { file: PARSER, was: 'contentEncoding, retryAfter });', is: PLACED },
    { file: LANE, was: HOOKS, is: FETCH + HOOKS },
    {
      file: LANE,
      was: '    this.exchange?.head(head);\n',
      is: `    const { exchange } = this;
    if (exchange === null) return;
    exchange.head(head);
    const { location } = head as AnswerHead & { readonly location: string | null };
    if (location === null || !${JSON.stringify(statuses)}.includes(head.status)) return;
    const end = exchange.end.bind(exchange);
    exchange.end = () => {};
    void this.#fetch(exchange, location)
      .catch(() => {})
      .then(end);
`,
    },
  ];
}

const PLACE = `  get location(): string | null {
    return this.#values[6] ?? null;
  }

`;
const PLACED = 'contentEncoding, retryAfter, ...{ location: this.#headers.location } });';

/** How requests are made: FAILURES rules 2 to 7. */
export const REQUESTS: readonly Mutant[] = [
  {
    name: 'retry-by-error-code',
    planted: 'a reset or closed connection is taken for "not sent" and tried again',
    edits: [
      {
        file: CLASSIFY,
        was: 'function nobodyKnows(attempt: Attempt): Verdict {\n',
        is: `function nobodyKnows(attempt: Attempt): Verdict {
  if (/^(?:ECONNRESET|EPIPE|HANDBILL_CLOSED)$/.test(attempt.error?.code ?? '')) {
    return verdict('failed', 'connect', { again: true });
  }
`,
      },
    ],
    proof: server('reset after the request', 'close after the request'),
  },
  {
    name: 'retry-after-a-timeout',
    planted: 'a request without an answer in time is tried again',
    edits: [
      {
        file: CLASSIFY,
        was: `return verdict('in-doubt', 'timeout', { error }); // C2, C3, C8`,
        is: `return verdict('failed', 'timeout', { again: true, error });`,
      },
    ],
    proof: server('silence'),
  },
  {
    name: 'phase-ignored',
    planted: 'everything that ended in an error before a status is P1',
    edits: [
      {
        file: CLASSIFY,
        was: `if (attempt.phase === 'P1') return notSent(attempt, context);`,
        is: `if (attempt.status === null) return notSent(attempt, context);`,
      },
    ],
    proof: server('half a status line, then reset', 'half of the headers, then close'),
  },
  {
    name: 'http2-allowed',
    planted: 'allowH2: true',
    edits: [{ file: OPTIONS, was: '    allowH2: false,\n', is: '    allowH2: true,\n' }],
    proof: server('HTTP/2 on offer, which refuses every first stream'),
  },
  {
    name: 'fetch',
    planted: 'fetch instead of an own request: follows a 307, with key and body, and posts again on 421',
    edits: [
      { file: LANE, was: BEGUN, is: `${FETCHED}${BEGUN}` },
      { file: LANE, was: HOOKS, is: FETCH + HOOKS },
    ],
    proof: { in: 'security/key.test.ts', only: 'S1: 30' },
  },
  {
    name: 'redirects-followed',
    planted: 'a 307 or 308 is posted again to where it points',
    edits: following([307, 308]),
    proof: server('307 to another host', '308 to another host'),
  },
  {
    name: 'key-follows-a-redirect',
    planted: 'a 307 is posted to where it points, with the key, also to another host',
    edits: following([307]),
    proof: server('307 to another host'),
  },
  {
    name: 'no-start-guard',
    planted: 'a second start of one attempt is let through',
    edits: [
      {
        file: EXCHANGE,
        was: `if (this.#phase !== 'P1') return new Fault('HANDBILL_STARTED_TWICE'`,
        is: `if (this.#phase === 'P4') return new Fault('HANDBILL_STARTED_TWICE'`,
      },
    ],
    proof: exchange('a second time'),
  },
  {
    name: 'sent-after-its-end',
    planted: 'a request whose outcome is out is sent all the same when its connection comes',
    edits: [
      {
        file: EXCHANGE,
        was: `if (this.done) return new Fault('HANDBILL_STOPPED'`,
        is: `if (this.done && this.clean) return new Fault('HANDBILL_STOPPED'`,
      },
    ],
    proof: exchange('when it has ended'),
  },
  {
    name: 'outcome-before-the-body',
    planted: 'the outcome is settled when the headers are there, whatever comes of the body',
    edits: [
      {
        file: LANE,
        was: '    this.exchange?.head(head);\n',
        is: '    this.exchange?.head(head);\n    this.answerEnd(0);\n',
      },
    ],
    proof: server('a proper answer', 'a body that never comes', 'a bad chunk'),
  },
  {
    name: 'interim-answer-counts',
    planted: 'a 103 is taken for the answer',
    edits: [{ file: PARSER, was: '    if (status < 200) {\n', is: '    if (status < 102) {\n' }],
    proof: server('103 without end'),
  },
  {
    name: 'cut-body-accepted',
    planted: 'a connection that breaks counts as the end of a body without a length',
    edits: [
      {
        file: LANE,
        was: '    if (this.#parser?.endsWithConnection !== true) this.#broke(error);\n',
        is: `    if (this.#parser?.endsWithConnection === true) this.#ended();
    else if (this.#parser !== undefined) this.#broke(error);\n`,
      },
    ],
    proof: server('no length, whole JSON, then reset'),
  },
  {
    name: 'compressed-accepted',
    planted: 'a compressed answer is read as if it were none',
    edits: [
      {
        file: EXCHANGE,
        was: `if (encoding === '' || encoding.toLowerCase() === 'identity') this.#settle(null);`,
        is: `if (encoding.length < 100) this.#settle(null);`,
      },
    ],
    proof: servers('is not read'),
  },
  {
    name: 'answers-without-bound',
    planted: 'no limit on the size of an answer',
    edits: [{ file: EXCHANGE, was: 'if (this.#length > this.#mostBytes) {', is: 'if (this.#length > 2 ** 40) {' }],
    proof: server('a huge body with its length'),
  },
  {
    name: 'answers-to-nobody',
    planted: 'bytes that came unasked do not end the connection: the next request takes them for its answer',
    edits: [
      {
        file: LANE,
        was: '      return unasked();\n    }\n    this.exchange.answerBegan();\n',
        is: '    }\n    this.exchange?.answerBegan();\n',
      },
    ],
    proof: servers('came unasked'),
  },
  {
    name: 'names-cut-in-two',
    planted: 'the name of a header is looked at as if it had come whole',
    edits: [{ file: HEADERS, was: '    if (isCut || this.#name', is: '    if (this.#name' }],
    proof: parser('read alike'),
  },
  {
    name: 'upgrade-taken',
    planted: 'interim answers that nothing asks for are passed over',
    edits: [
      { file: PARSER, was: '      if (status > 101) return NO_BODY;\n', is: '      if (status > 0) return NO_BODY;\n' },
    ],
    proof: parser('own client'),
  },
  {
    name: 'connection-kept-against-its-word',
    planted: 'a connection is used again although its answer says that it ends',
    edits: [
      {
        file: PARSER,
        was: 'const keptMs = this.#keepAlive ? this.',
        is: 'const keptMs = this.#status > 0 ? this.',
      },
    ],
    proof: parser('ends the connection'),
  },
  {
    name: 'connection-kept-half-written',
    planted: 'a connection carries the next request behind one that was answered before all of it was written',
    edits: [{ file: LANE, was: '(this.#socket?.writableLength ?? 0) > 0', is: 'this.#socket === null' }],
    proof: endpoint('before the whole request'),
  },
  {
    name: 'characters-cut-in-two',
    planted: 'each piece of a body is turned into text by itself',
    edits: [{ file: EXCHANGE, was: 'const isCut = (chunk[end - 1] ?? 0) >= 0x80;', is: 'const isCut = end < 0;' }],
    proof: exchange('however the body was cut'),
  },
  {
    name: 'release-wakes-nobody',
    planted: 'a connection that is given back is not handed on',
    edits: [
      {
        file: 'src/http/connect.ts',
        was: '    release() {\n      promised.shift();\n      serve();\n',
        is: '    release() {\n      promised.shift();\n',
      },
    ],
    proof: endpoint('given back are handed on at once'),
  },
  {
    name: 'certificates-not-verified',
    planted: 'rejectUnauthorized: false',
    edits: [{ file: OPTIONS, was: 'rejectUnauthorized: true,', is: 'rejectUnauthorized: false,' }],
    proof: server('a certificate with another name', 'a certificate that nobody signed'),
  },
  {
    name: 'proxy-sees-plain-http',
    planted: 'plain HTTP, and the key with it, through a proxy on another machine',
    edits: [
      {
        file: OPTIONS,
        was: `if (url.protocol === 'http:' && !isLoopback(proxy.hostname)) {`,
        is: `if (url.protocol === 'ftp:') {`,
      },
    ],
    proof: endpoint('on another machine'),
  },
];
