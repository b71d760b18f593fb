import { type Edit, edit, type Mutant, mutant } from './mutant.ts';
import { server } from './proofs.ts';

const CLASSIFY = 'src/http/classify.ts';
const EXCHANGE = 'src/http/connection.ts';
const CONNECTION = 'src/http/connection.ts';
const CONNECT = 'src/http/connect.ts';
const OPTIONS = 'src/http/endpoint-options.ts';

const servers = (only: string) => ({ in: 'http/misbehaving-servers.test.ts', only });
const exchange = (only: string) => ({ in: 'http/exchange.test.ts', only });
const endpoint = (only: string) => ({ in: 'http/endpoint.test.ts', only });

const DISPATCHED = '    this.#client.dispatch({ path: target.path,';
const HANDLER = '  // The connection is itself the handler of its probes.\n';

/** The request again, by \`fetch\`, which follows what the API says. */
const FETCH = `
  #fetch(exchange: Exchange, to: string): Promise<Response> {
    const { headers } = this.#options;
    const pairs: [string, string][] = [['content-type', exchange.target.contentType]];
    for (let i = 0; i < headers.length; i += 2) pairs.push([headers[i] ?? '', headers[i + 1] ?? '']);
    return fetch(to, { method: 'POST', headers: pairs, body: exchange.body });
  }

`;

/** \`fetch\` instead of undici's dispatch, as closely as possible. */
const FETCHED = `    if (exchange.body.length > 0) {
      const read = async (): Promise<void> => {
        exchange.onRequestStart();
        const response = await this.#fetch(exchange, this.#options.origin + target.path);
        exchange.onResponseStart(null, response.status, Object.fromEntries(response.headers));
        exchange.onResponseData(null, Buffer.from(await response.arrayBuffer()));
        exchange.onResponseEnd();
        this.retire();
      };
      void read().catch((error: Error) => exchange.onResponseError(null, error));
      return;
    }
`;

/** Follows these statuses to where they point, with key and body, before the response counts. */
function following(statuses: readonly number[]): readonly Edit[] {
  return [
    { file: CONNECTION, was: HANDLER, is: FETCH + HANDLER },
    {
      file: CONNECTION,
      was: DISPATCHED,
      is: `    const [began, ended] = [exchange.onResponseStart.bind(exchange), exchange.onResponseEnd.bind(exchange)];
    let followed: Promise<unknown> = Promise.resolve();
    exchange.onResponseStart = (controller, status, all) => {
      const to = String(all['location'] ?? '');
      if (${JSON.stringify(statuses)}.includes(status)) followed = this.#fetch(exchange, to).catch(() => {});
      began(controller, status, all);
    };
    exchange.onResponseEnd = () => void followed.then(ended);
${DISPATCHED}`,
    },
  ];
}

/** How requests are made: FAILURES rules 2 to 7. */
export const REQUESTS: readonly Mutant[] = [
  {
    name: 'retry-by-error-code',
    planted: 'a reset or closed connection is taken for "not sent" and tried again',
    file: CLASSIFY,
    was: 'function perhapsSent(attempt: Attempt): Verdict {\n',
    is: `function perhapsSent(attempt: Attempt): Verdict {
  if (/^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(attempt.error?.code ?? '')) {
    return verdict('failed', 'connect', { again: true });
  }
`,
    proof: server('reset after the request', 'close after the request'),
  },
  mutant('retry-after-a-timeout', {
    planted: 'a request without an answer in time is tried again',
    file: CLASSIFY,
    was: `return verdict('in-doubt', 'timeout', { error }); // C2, C3, C8`,
    is: `return verdict('failed', 'timeout', { again: true, error });`,
    proof: server('silence'),
  }),
  mutant('phase-ignored', {
    planted: 'everything that ended in an error before a status is P1',
    file: CLASSIFY,
    was: `if (attempt.phase === 'P1') return notSent(attempt, context);`,
    is: `if (attempt.status === null) return notSent(attempt, context);`,
    proof: server('half a status line, then reset', 'half of the headers, then close'),
  }),
  mutant('http2-allowed', {
    planted: 'allowH2: true',
    edits: [
      { file: CONNECTION, was: '      allowH2: false,\n', is: '      allowH2: true,\n' },
      { file: OPTIONS, was: '    allowH2: false,\n    timeout', is: '    allowH2: true,\n    timeout' },
    ],
    proof: server('HTTP/2 on offer, which refuses every first stream'),
  }),
  mutant('fetch', {
    planted: 'fetch instead of dispatch: follows a 307, with key and body, and posts again on 421',
    edits: [
      { file: CONNECTION, was: DISPATCHED, is: `${FETCHED}${DISPATCHED}` },
      { file: CONNECTION, was: HANDLER, is: FETCH + HANDLER },
    ],
    proof: { in: 'security/key.test.ts', only: '30. to another host' },
  }),
  mutant('redirects-followed', {
    planted: 'a 307 or 308 is posted again to where it points',
    edits: following([307, 308]),
    proof: server('307 to another host', '308 to another host'),
  }),
  mutant('key-follows-a-redirect', {
    planted: 'a 307 is posted to where it points, with the key, also to another host',
    edits: following([307]),
    proof: server('307 to another host'),
  }),
  mutant('no-start-guard', {
    planted: 'a second start of one attempt is let through',
    file: EXCHANGE,
    was: `if (this.#phase !== 'P1') throw new Fault('HANDBILL_STARTED_TWICE'`,
    is: `if (this.#phase === 'P4') throw new Fault('HANDBILL_STARTED_TWICE'`,
    proof: exchange('a second time'),
  }),
  mutant('sent-after-its-end', {
    planted: 'a request whose outcome is out is sent all the same when its connection comes',
    file: EXCHANGE,
    was: `if (this.done) throw new Fault('HANDBILL_STOPPED'`,
    is: `if (this.done && this.clean) throw new Fault('HANDBILL_STOPPED'`,
    proof: exchange('when it has ended'),
  }),
  mutant('outcome-before-the-body', {
    planted: 'the outcome is final when the headers are there, whatever comes of the body',
    ...edit(EXCHANGE, '    this.#answered = headers;\n', '    this.#answered = headers;\n    this.#finish(null);\n'),
    proof: server('a proper answer', 'a body that never comes', 'a bad chunk'),
  }),
  mutant('interim-answer-counts', {
    planted: 'a 103 is taken for the answer',
    ...edit(EXCHANGE, '    if (status < 200) return;\n', ''),
    proof: server('103 without end'),
  }),
  mutant('cut-body-accepted', {
    planted: 'a connection that breaks counts as the end of a body without a length',
    ...edit(EXCHANGE, '    if (broken !== null) {\n', '    if (broken !== null && this.done) {\n'),
    proof: server('no length, whole JSON, then reset'),
  }),
  mutant('compressed-accepted', {
    planted: 'a compressed answer is read as if it were none',
    file: EXCHANGE,
    was: `if (encoding === '' || encoding.toLowerCase() === 'identity') this.#finish(null);`,
    is: `if (encoding.length < 100) this.#finish(null);`,
    proof: servers('is not read'),
  }),
  mutant('answers-without-bound', {
    planted: 'no limit on the size of an answer',
    ...edit(CONNECTION, 'maxResponseSize: options.mostBytes,', 'maxResponseSize: -1,'),
    proof: server('a huge body with its length'),
  }),
  mutant('connection-kept-half-written', {
    planted: 'a connection carries the next request behind one that was answered before all of it was written',
    ...edit(CONNECTION, '(this.#socket?.writableLength ?? 0) > 0', 'this.#socket === null'),
    proof: endpoint('before the whole request'),
  }),
  mutant('no-probe-behind-a-request', {
    planted: 'a request waits a turn of the event loop for its connection, while its claim is on the disk',
    ...edit(CONNECTION, '    this.#client.dispatch(this.#probe, this);\n  }\n\n  /** Called', '  }\n\n  /** Called'),
    proof: { in: 'http/killed.test.ts', only: 'by the time that post returns' },
  }),
  mutant('characters-cut-in-two', {
    planted: 'each piece of a body is turned into text by itself',
    file: EXCHANGE,
    was: "Buffer.concat(this.#chunks)).toString('utf8');",
    is: "Buffer.from(this.#chunks.map((chunk) => chunk.toString('utf8')).join(''))).toString('utf8');",
    proof: exchange('however the body was cut'),
  }),
  mutant('release-wakes-nobody', {
    planted: 'a connection that is given back is not handed on',
    ...edit(CONNECT, '    release() {\n      unkeep();\n      serve();\n', '    release() {\n      unkeep();\n'),
    proof: endpoint('given back are handed on at once'),
  }),
  mutant('certificates-not-verified', {
    planted: 'rejectUnauthorized: false',
    ...edit(OPTIONS, 'rejectUnauthorized: true,', 'rejectUnauthorized: false,'),
    proof: server('a certificate with another name', 'a self-signed certificate'),
  }),
  mutant('proxy-sees-plain-http', {
    planted: 'plain HTTP, and the key with it, through a proxy on another machine',
    file: OPTIONS,
    was: `if (url.protocol === 'http:' && !isLoopback(proxy.hostname)) {`,
    is: `if (url.protocol === 'ftp:') {`,
    proof: endpoint('on another machine'),
  }),
];
