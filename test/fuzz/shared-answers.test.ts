import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { RawRequest } from '../helpers/raw-server.ts';
import { rules } from '../http/wire.ts';
import { openArena } from './arena.ts';
import { damage, damaged } from './mutate.ts';
import { runs, TIMEOUT_MS } from './runs.ts';
import { statusOf } from './status-line.ts';
import { startTarget } from './target.ts';
import { yamlOf } from './trees.ts';
import { words } from './words.ts';

const ROWS = 7;
const CODE = 'unsupported';

/** What the API says of one recipient of a request. */
const SAYINGS: readonly ((to: string, reference: string) => object)[] = [
  (to) => ({ to, id: `m-${to}` }),
  (to) => ({ to, id: `m-${to}` }),
  (to) => ({ to, status: 'rejected', error: { message: 'not you' } }),
  (to) => ({ to, code: CODE }),
  (_to, reference) => ({ reference, id: 'm' }),
  () => ({ id: 'm-somebody' }),
  (to) => ({ to: to.slice(0, -1), id: 'm' }),
  (to) => ({ to, id: 'm', status: 'rejected', code: CODE }),
];

interface Answer {
  readonly status: number;
  /** The id of the whole answer; null: none. */
  readonly id: string | null;
  readonly place: 'results' | 'messages' | 'refused' | 'none';
  /** What is said of each, by turns. */
  readonly sayings: readonly number[];
  readonly code: string | null;
  /** Done to the JSON; null: none. */
  readonly hurt: ReturnType<typeof damage> extends fc.Arbitrary<infer T> ? T | null : never;
  /** The length that the head says is another one than that of the body. */
  readonly lies: number;
}

const answer: fc.Arbitrary<Answer> = fc.record({
  status: fc.constantFrom(200, 202, 202, 207, 400, 404, 413, 422, 429, 500, 503),
  id: fc.constantFrom('m', 'm', 'm', null),
  place: fc.constantFrom('results', 'results', 'messages', 'refused', 'none'),
  sayings: fc.array(fc.nat(SAYINGS.length - 1), { minLength: 1, maxLength: 4 }),
  code: fc.constantFrom(null, null, CODE, 'other'),
  hurt: fc.option(damage([...words('json'), CODE, 'rejected', 'results', '+44740010000']), { freq: 1 }),
  lies: fc.constantFrom(0, 0, 0, 0, 0, 0, -3, 5),
});

/** One request as the server saw it. */
interface Seen {
  readonly references: readonly string[];
  readonly channel: string;
  readonly status: number | null;
  readonly body: string;
}

class Scripted {
  answers: readonly Answer[] = [];
  seen: Seen[] = [];

  readonly reply = ({ body, socket }: RawRequest): void => {
    const given = this.answers[this.seen.length % this.answers.length];
    if (given === undefined) throw new Error('there is no answer');
    const recipients = [...body.matchAll(/"msisdn":"([^"]+)".*?"handbill":"([^"]+)"/g)];
    const said = recipients.map(([, to = '', reference = ''], i) =>
      SAYINGS[given.sayings[i % given.sayings.length] ?? 0]?.(to, reference),
    );
    const document = {
      ...(given.id === null ? {} : { id: given.id }),
      code: given.code,
      ...(given.place === 'none' ? {} : { [given.place]: said }),
    };
    const plain = JSON.stringify(document);
    const text = given.hurt === null ? Buffer.from(plain) : damaged(plain, given.hurt.edits, given.hurt.spelling);
    const head = `HTTP/1.1 ${given.status} Said\r\ncontent-type: application/json\r\nretry-after: 0\r\ncontent-length: ${text.length + given.lies}\r\n\r\n`;
    const bytes = Buffer.concat([Buffer.from(head), text]);
    this.seen.push({
      references: recipients.map(([, , reference = '']) => reference),
      channel: /"channel":"([^"]+)"/.exec(body)?.[1] ?? '?',
      status: statusOf(bytes),
      body: text.toString('latin1'),
    });
    socket.write(bytes);
    if (given.lies !== 0) socket.end();
  };
}

/** After these an answer says that nothing was done for any recipient, and the same may be sent again. */
const AGAIN: ReadonlySet<number> = new Set([413, 425, 429, 503]);

/** What speaks against the promise, seen from the server alone. */
function* violations(seen: readonly Seen[]): Generator<string> {
  const byReference = Map.groupBy(
    seen.flatMap((one) => one.references.map((reference) => ({ ...one, reference }))),
    ({ reference }) => reference,
  );
  for (const [reference, mine] of byReference) {
    const final = mine.filter(({ status, references }) => {
      // A request of several that is refused as a whole is taken apart: one of them may be the reason.
      const isRefused = status !== null && status >= 400 && status < 500 && references.length > 1;
      return status === null || !(isRefused || AGAIN.has(status));
    });
    if (final.length > 1) yield `${reference} was sent to ${final.length} times`;
  }
  for (const [at, one] of seen.entries()) {
    if (one.channel !== 'SMS') continue;
    // A fallback follows an answer that speaks of the channel, in its status or in a code.
    const before = seen.slice(0, at).filter(({ channel }) => channel !== 'SMS');
    if (!before.some(({ status, body }) => status === 404 || body.toLowerCase().includes(CODE)))
      yield 'a fallback for nothing';
  }
}

it(
  'whatever the API says of several recipients at once, no recipient is sent to twice and all have an outcome',
  async () => {
    const server = new Scripted();
    await using target = startTarget();
    const rows = Array.from({ length: ROWS }, (_, row) => `+44740010000${row},Name ${row}\n`).join('');
    await using arena = await openArena(target, server.reply, {
      'campaigns/shared/people.csv': `msisdn,name\n${rows}`,
      'campaigns/shared/campaign.yaml': yamlOf({
        name: 'shared',
        channel: 'rcs',
        template: { id: 'x' },
        fallback: { channel: 'sms', template: { text: 'Hi {{name}}' } },
        recipients: { csv: 'people.csv', to: 'msisdn' },
        send: { recipientsPerRequest: 3, attempts: 2 },
        limits: { stopAfter: { inDoubt: 50, rejected: '100%' } },
      }),
    });
    const wire = {
      response: { recipients: ['/results', '/messages'], refusedRecipients: ['/refused'] },
      ...rules(
        'status: 404, then: unsupported',
        `codeAt: /code, code: [${CODE}], then: unsupported`,
        'status: 503, then: retry',
      ),
    };
    const environment = { baseUrl: `http://127.0.0.1:${arena.server.port}`, apiKey: { env: 'HANDBILL_API_KEY' }, wire };
    arena.write(
      'handbill.yaml',
      yamlOf({ defaults: { from: 'Riverside', send: { timeout: '1s' } }, environments: { test: environment } }),
    );
    await arena.run(['preview', 'shared', '--env', 'test']);
    const outcomes = new Set<string>();
    interface Scene {
      readonly answers: readonly Answer[];
      readonly concurrency: '1' | '3';
      readonly starts: 1 | 2;
    }
    const input: fc.Arbitrary<Scene> = fc.record({
      answers: fc.array(answer, { minLength: 1, maxLength: 4 }),
      concurrency: fc.constantFrom<Scene['concurrency'][]>('1', '3'),
      starts: fc.constantFrom<Scene['starts'][]>(1, 2),
    });
    const property = fc.asyncProperty(input, async ({ answers, concurrency, starts }) => {
      server.answers = answers;
      server.seen = [];
      try {
        const send = ['send', 'shared', '--env', 'test', '--yes', '--format', 'json', '--concurrency', concurrency];
        for (let start = 0; start < starts; start++) expect([0, 3, 4, 5]).toContain((await arena.run(send)).status);
        const lines = (await arena.run(['report', '--format', 'jsonl'])).stdout.trimEnd().split('\n');
        const endings = lines.map(
          (line) => JSON.parse(line) as { line: number; outcome: string; reason: string | null },
        );
        expect(endings.map(({ line }) => line)).toEqual(Array.from({ length: ROWS }, (_, row) => row + 2));
        for (const { outcome, reason } of endings) outcomes.add(`${outcome} ${reason ?? ''}`.trim());
        expect([...violations(server.seen)]).toEqual([]);
      } finally {
        arena.remove('.handbill');
      }
    });
    // What comes of a random answer depends also on the order of the requests: each outcome has a scene that is sure of it.
    const plain: Answer = { status: 202, id: null, place: 'results', sayings: [0], code: null, hurt: null, lies: 0 };
    const sure: Record<string, Answer> = {
      accepted: plain,
      'in-doubt unrecognised': { ...plain, lies: -3 },
      'rejected refused': { ...plain, sayings: [2] },
      'rejected unsupported-channel': { ...plain, status: 404, place: 'none' },
    };
    const examples = Object.values(sure).map((one): [Scene] => [{ answers: [one], concurrency: '1', starts: 1 }]);
    await fc.assert(property, { ...runs(25, 300), examples });
    expect([...outcomes]).toEqual(expect.arrayContaining(Object.keys(sure)));
  },
  TIMEOUT_MS,
);
