import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { outcomes } from '../../src/operations/report.ts';
import { handbillHere } from '../cli/in-process.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { placeOf } from './scratch.ts';

/*
 * An environment that stands in for another one (`standsInFor`): whole commands, on both databases. Each provider has ids of
 * its own, and both begin with m-1.
 */

const DAY_MS = 86_400_000;
const NINE = Date.parse('2026-11-23T09:00:05Z');

type Answer = (response: ServerResponse, id: string) => void;

const accept: Answer = (response, id) => {
  response.writeHead(202, { 'content-type': 'application/json' }).end(JSON.stringify({ id }));
};
const hangUp: Answer = (response) => {
  response.destroy();
};

interface Post {
  readonly to: string;
  readonly reference: string;
}

/** A provider that notes what was posted, and answers each request as it is told. */
function provider() {
  const posts: Post[] = [];
  const answers: Answer[] = [];
  let ids = 0;
  const server: Server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const [{ msisdn: to, metaData }] = JSON.parse(body).recipients;
      posts.push({ to, reference: metaData.handbill });
      const answer = answers.shift() ?? accept;
      if (answer === accept) ids += 1;
      answer(response, `m-${ids}`);
    });
  });
  return {
    posts,
    answers,
    server,
    /** Begins again, with the first id. */
    reset() {
      posts.length = 0;
      answers.length = 0;
      ids = 0;
    },
    url: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  };
}

const [one, two, three] = [provider(), provider(), provider()];
const all = [one, two, three];
beforeAll(async () => {
  for (const { server } of all) await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
});
afterAll(() => {
  for (const { server } of all) {
    server.closeAllConnections();
    server.close();
  }
});
beforeEach(() => {
  for (const each of all) each.reset();
});

const PEOPLE = [0, 1, 2, 3, 4, 5].map((i) => `+44770090020${i}`);
const listOf = (people: readonly string[]): string => `msisdn,name\n${people.map((to) => `${to},Name\n`).join('')}`;

const CAMPAIGN =
  'name: urgent\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{name}}" }\nrecipients: people.csv\nsend: { concurrency: 1 }\n';

const environment = (name: string, url: string, more = ''): string =>
  `  ${name}:\n    baseUrl: ${url}\n    apiKey: { env: KEY }\n${more}`;
const STANDS_IN = '    standsInFor: production\n';

interface Given {
  readonly production?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly more?: string;
}

function project({ production = '', files = {}, more = '' }: Given = {}): TestProject {
  const here = createProject({ 'urgent.yaml': CAMPAIGN, 'people.csv': listOf(PEOPLE), ...files });
  const environments = [
    environment('production', one.url(), production),
    environment('backup', two.url(), STANDS_IN),
    environment('spare', three.url(), STANDS_IN),
  ];
  here.write('handbill.yaml', `${more}environments:\n${environments.join('')}`);
  return here;
}

const envOf = (here: TestProject) => {
  const ledger = placeOf(here.path('.handbill/ledger.db'));
  return { KEY: 'secret', ...(ledger.startsWith('postgres') ? { HANDBILL_LEDGER: ledger } : {}) };
};

const handbill = (here: TestProject, line: string, nowMs = NINE) =>
  handbillHere(here.root, line.split(' '), { env: envOf(here), now: () => nowMs, width: 400 });

const SEND = 'send urgent --env';

const rowsOf = async (here: TestProject): Promise<readonly Record<string, unknown>[]> => {
  const { out } = await handbill(here, 'report urgent --format jsonl');
  return jsonLines(out);
};

/** Production accepts two and leaves one in doubt: it halts with three that are left. */
async function halted(here: TestProject): Promise<void> {
  one.answers.push(accept, accept, hangUp);
  const { out, err } = await handbill(here, `${SEND} production --yes`);
  expect({ posts: one.posts.length, said: out + err }).toMatchObject({
    posts: 3,
    said: expect.stringContaining('Halted: '),
  });
}

describe('a run that halted', () => {
  it('goes on from the stand-in: each recipient once, and each accounted for', async () => {
    using here = project();
    await halted(here);
    const refused = await handbill(here, `${SEND} backup --yes`);
    expect(refused).toMatchObject({ status: 2, err: expect.stringContaining('was last sent from production') });
    expect(refused.err).toContain('--allow other-provider');
    expect(refused.err).not.toMatch(/input-changed|sent-elsewhere/);
    expect((await handbill(here, 'preview urgent --env backup')).err).toContain('warning[other-provider]');
    expect(two.posts).toEqual([]);

    const taken = await handbill(here, `${SEND} backup --yes --limit 1 --allow other-provider`);
    expect(taken.err).toContain('warning[other-provider]');
    expect(two.posts.map(({ to }) => to)).toEqual([PEOPLE[3]]);
    expect((await handbill(here, 'report urgent')).out).toContain('handbill send urgent --env backup');
    // It is asked once: the next starts from here are not.
    const rest = await handbill(here, `${SEND} backup --yes`);
    expect(rest.err).not.toContain('other-provider');
    expect(two.posts.map(({ to }) => to)).toEqual(PEOPLE.slice(3));

    // The references are those of production: no recipient has two.
    const references = [...one.posts, ...two.posts].map(({ reference }) => reference);
    expect(new Set(references).size).toBe(PEOPLE.length);
    const rows = await rowsOf(here);
    expect(rows.map(({ outcome, postedFrom = null }) => [outcome, postedFrom])).toEqual([
      ['accepted', null],
      ['accepted', null],
      ['in-doubt', null],
      ['accepted', 'backup'],
      ['accepted', 'backup'],
      ['accepted', 'backup'],
    ]);
    const posters = rows.map(({ postedFrom = '' }) => postedFrom);
    for (const more of ['', ' --with-columns', ' --for excel', ' --with-columns --for excel']) {
      const { out } = await handbill(here, `report urgent --format csv${more}`);
      const name = more.includes('columns') ? 'handbill_postedFrom' : 'postedFrom';
      const cells: Record<string, string>[] = parse(out, { columns: true, bom: true });
      expect(
        cells.map((row) => row[name]),
        more,
      ).toEqual(posters);
    }
    const listed: (string | undefined)[] = [];
    for await (const { postedFrom } of outcomes('urgent', { cwd: here.root, env: envOf(here) }))
      listed.push(postedFrom);
    expect(listed.map((name = '') => name)).toEqual(posters);
    const { out } = await handbill(here, 'runs --format json');
    expect(JSON.parse(out)).toMatchObject({
      runs: [{ environment: 'production', totals: { accepted: 5, inDoubt: 1 } }],
    });
  });

  it('goes back with a question of its own, also where the list changed', async () => {
    using here = project();
    await halted(here);
    await handbill(here, `${SEND} backup --yes --limit 1 --allow other-provider`);
    here.write('people.csv', listOf([...PEOPLE, '+447700900299']));
    const asked = await handbill(here, `${SEND} production --yes --allow input-changed`);
    expect(asked).toMatchObject({ status: 2, err: expect.stringContaining('was last sent from backup') });
    expect(one.posts).toHaveLength(3);
    const back = await handbill(here, `${SEND} production --yes --allow input-changed,other-provider`);
    expect(back.err).toContain('warning[other-provider]');
    expect(one.posts.slice(3).map(({ to }) => to)).toEqual([PEOPLE[4], PEOPLE[5], '+447700900299']);
    expect((await rowsOf(here)).map(({ postedFrom = null }) => postedFrom)).toEqual([
      ...[null, null, null, 'backup', null, null],
      null,
    ]);
  });

  it('goes on from a second stand-in, which is another provider too', async () => {
    using here = project();
    await halted(here);
    await handbill(here, `${SEND} backup --yes --limit 1 --allow other-provider`);
    expect(await handbill(here, `${SEND} spare --yes`)).toMatchObject({
      status: 2,
      err: expect.stringContaining('was last sent from backup. spare'),
    });
    expect((await handbill(here, `${SEND} spare --yes --allow other-provider`)).err).not.toContain('input-changed');
    expect(three.posts.map(({ to }) => to)).toEqual(PEOPLE.slice(4));
  });

  it('is sealed by a plan of the stand-in', async () => {
    using here = project();
    await halted(here);
    expect(await handbill(here, 'plan urgent --env backup')).toMatchObject({
      status: 2,
      err: expect.stringContaining('other-provider'),
    });
    await handbill(here, 'plan urgent --env backup --allow other-provider -o plan.json');
    expect(await handbill(here, 'send --plan plan.json --yes')).toMatchObject({ status: 4 });
    expect(two.posts.map(({ to }) => to)).toEqual(PEOPLE.slice(3));
  });

  it('is not taken over by due, which goes on once a person has taken it over', async () => {
    using here = project({ files: { 'urgent.yaml': `${CAMPAIGN}schedule: { cron: "0 9 * * *" }\n` } });
    const due = (of: string, nowMs: number) => handbill(here, `due urgent.yaml --yes --env ${of}`, nowMs);
    // The schedule is seen, and what is due today was before that.
    await due('production', NINE - DAY_MS);
    const occurrence = '--occurrence 2026-11-23T09:00Z';
    await handbill(here, `${SEND} production --yes --limit 2 ${occurrence}`);
    for (const line of ['due urgent.yaml --yes --env backup', 'due urgent.yaml --env backup --dry-run']) {
      const { status, err } = await handbill(here, line);
      expect({ line, status, err }).toMatchObject({ status: 2, err: expect.stringContaining('error[other-provider]') });
    }
    expect(two.posts).toEqual([]);
    await handbill(here, `${SEND} backup --yes --limit 1 ${occurrence} --allow other-provider`);
    expect(await due('backup', NINE + 60_000)).toMatchObject({ status: 0 });
    expect(two.posts.map(({ to }) => to)).toEqual(PEOPLE.slice(2));
    // The next occurrence is begun from the stand-in, and is finished for both.
    expect(await due('backup', NINE + DAY_MS)).toMatchObject({ status: 0 });
    expect(await due('production', NINE + DAY_MS + 60_000)).toMatchObject({ status: 0 });
    expect([one.posts.length, two.posts.length]).toEqual([2, 4 + PEOPLE.length]);
  });
});

describe('a stand-in has the identity of the environment', () => {
  it('in caps, exclusions, pauses and the budget', async () => {
    using here = project({
      production: '    budget: { max: 0.12, per: month }\n',
      more: 'prices: prices.csv\n',
      files: {
        'prices.csv': 'country,channel,price,currency\nGB,sms,0.02,EUR\n',
        'capped.yaml': `${CAMPAIGN.replace('urgent', 'capped')}frequency: { max: 1, per: 7d }\n`,
        'others.yaml': `${CAMPAIGN.replace('urgent', 'others')}exclude: [urgent]\n`,
        'plain.yaml': CAMPAIGN.replace('urgent', 'plain'),
      },
    });
    await handbill(here, `${SEND} production --yes --limit 4`);
    for (const [name, reason] of [
      ['capped', 'frequency-cap'],
      ['others', 'excluded'],
    ] as const) {
      const { out } = await handbill(here, `preview ${name} --env backup --format json`);
      expect(out.split(`"${reason}"`).length - 1, name).toBeGreaterThanOrEqual(4);
    }
    // Six messages cost as much as the budget allows, and four were sent from production.
    const spent = await handbill(here, 'send plain --env backup --yes');
    expect(spent).toMatchObject({
      status: 2,
      err: expect.stringContaining('the budget of production has 0.04 EUR left'),
    });
    await handbill(here, 'pause --env backup --reason storm');
    expect(await handbill(here, `${SEND} production --yes`)).toMatchObject({ status: 5 });
    expect((await handbill(here, 'resume --env production')).status).toBe(0);
    expect(two.posts).toEqual([]);
  });

  it('in follow-ups: who answered the stand-in gets none', async () => {
    using here = project({
      files: {
        'after.yaml': `${CAMPAIGN.replace('urgent', 'after')}after: { campaign: urgent, wait: 1h, unless: [replied] }\n`,
      },
    });
    await handbill(here, `${SEND} production --yes --limit 2`);
    await handbill(here, `${SEND} backup --yes --allow other-provider`);
    // From another phone: m-1 is the id of a message of each provider.
    here.write(
      'replies.jsonl',
      `${JSON.stringify({ messageId: 'r-1', inReplyTo: 'm-1', from: '+447700900777', text: 'yes' })}\n`,
    );
    expect(await handbill(here, 'listen --from replies.jsonl --env backup', NINE + 60_000)).toMatchObject({
      status: 0,
    });
    const sent = await handbill(here, 'send after --env backup --yes', NINE + 2 * 3_600_000);
    expect({ sent, to: two.posts.slice(4).map(({ to }) => to) }).toMatchObject({
      to: PEOPLE.filter((to) => to !== PEOPLE[2]),
    });
  });
});

it('a report is joined to the message of the environment that it came in for', async () => {
  using here = project();
  await handbill(here, `${SEND} production --yes --limit 3`);
  await handbill(here, `${SEND} backup --yes --allow other-provider`);
  const report = (state: string) => `${JSON.stringify({ messageId: 'm-1', status: state })}\n`;
  here.write('two.jsonl', report('undelivered'));
  here.write('one.jsonl', report('delivered'));
  const deliveries = async () => (await rowsOf(here)).map(({ messageId, delivery }) => [messageId, delivery]);
  const imported = await handbill(here, 'listen --from two.jsonl --env backup --format json', NINE + 60_000);
  expect(JSON.parse(imported.out)).toMatchObject({ unmatched: 0 });
  const [first, , , fourth] = await deliveries();
  expect([first, fourth]).toEqual([
    ['m-1', null],
    ['m-1', 'undeliverable'],
  ]);
  await handbill(here, 'listen --from one.jsonl --env production', NINE + 60_000);
  expect((await deliveries()).flatMap(([id, delivery]) => (id === 'm-1' ? [delivery] : []))).toEqual([
    'delivered',
    'undeliverable',
  ]);
});

it('another environment is another sender, and is asked about', async () => {
  using here = project();
  await handbill(here, `${SEND} production --yes --limit 3`);
  const yaml = (url: string) =>
    `environments:\n${environment('production', url)}${environment('other', 'https://api.example.invalid')}`;
  here.write('handbill.yaml', yaml('https://one.example.invalid'));
  expect(await handbill(here, `${SEND} other --yes`)).toMatchObject({
    status: 2,
    err: expect.stringContaining('was sent already to 3 recipients from production'),
  });
});
