import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openLedger } from '../../src/ledger/open.ts';
import { runCli, startCli, until } from '../helpers/cli.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { answer, type RawServer, startRawServer } from '../helpers/raw-server.ts';
import { post, SECRET, signed } from '../webhook/sender.ts';
import { handbillHere } from './in-process.ts';

/*
 * Two accounts, staging and production, that number their messages alike: M1, M2 ...
 */

const NINE = Date.UTC(2026, 10, 21, 9);
const HOUR = 3_600_000;
const PEOPLE = ['+447700900001', '+447700900002', '+447700900003', '+447700900004'];
const [ANN = '', BOB = ''] = PEOPLE;

let accounts: readonly RawServer[] = [];
let project: TestProject;

async function account(): Promise<RawServer> {
  let given = 0;
  return await startRawServer({
    behaviour: (request) => {
      given += 1;
      answer(202, JSON.stringify({ id: `M${given}` }))(request);
    },
  });
}

const CAMPAIGN = 'channel: rcs\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: people.csv\n';
const FALLBACK = 'fallback: { channel: sms, template: { text: "Hi, by SMS" } }\n';

beforeEach(async () => {
  accounts = [await account(), await account()];
  const [staging, production] = accounts.map(({ url }) => new URL(url).origin);
  project = createProject({
    'handbill.yaml': `defaultCountry: GB
environments:
  staging: { baseUrl: "${staging}", apiKey: { env: KEY } }
  production: { baseUrl: "${production}", apiKey: { env: KEY } }
webhook: { secrets: [{ env: HANDBILL_WEBHOOK_SECRET }] }
`,
    'hello/campaign.yaml': `name: hello\n${CAMPAIGN}${FALLBACK}`,
    'careful/campaign.yaml': `name: careful\n${CAMPAIGN}send: { canary: { steps: 2, pause: 1h, gate: { delivered: 100%, wait: 1m } } }\n`,
    'hello/people.csv': `msisdn\n${PEOPLE.join('\n')}\n`,
    'careful/people.csv': `msisdn\n${PEOPLE.join('\n')}\n`,
  });
});

afterEach(async () => {
  project[Symbol.dispose]();
  for (const server of accounts) await server.close();
});

const run = (atMs: number, ...args: readonly string[]) =>
  handbillHere(project.root, args, { env: { KEY: 'key-of-a-test' }, now: () => atMs });

async function sendTo(environment: string, atMs: number, campaign = 'hello') {
  const sent = await run(atMs, 'send', campaign, '--env', environment, '--yes', '--concurrency', '1', '--quiet');
  return sent.status;
}

async function reconciled(environment: string, atMs: number, reports: string) {
  project.write('reports.csv', reports);
  const { status, err } = await run(atMs, 'reconcile', '--env', environment, '--quiet', 'reports.csv');
  expect([status, err]).toEqual([0, '']);
}

async function reported(environment: string) {
  const { out } = await run(NINE + 9 * HOUR, 'runs', '--format', 'json');
  const runs: readonly { readonly run: string; readonly environment: string }[] =
    JSON.parse(out).runs ?? JSON.parse(out);
  const found = runs.find((one) => one.environment === environment);
  const json = await run(NINE + 9 * HOUR, 'report', found?.run ?? '', '--format', 'json');
  const text = await run(NINE + 9 * HOUR, 'report', found?.run ?? '');
  return { ...JSON.parse(json.out), text: text.out };
}

const csv = (rows: readonly string[]) => `messageId,status,timestamp,to\n${rows.join('\n')}\n`;
const everybody = (status: string, at: string) => csv(PEOPLE.map((to, i) => `M${i + 1},${status},${at},${to}`));

describe('reports of another account, whose messages have the same ids', () => {
  it('are shown as unmatched, and say nothing about ours', async () => {
    expect(await sendTo('staging', NINE)).toBe(0);
    expect(await sendTo('production', NINE + HOUR)).toBe(0);
    await reconciled('staging', NINE + 2 * HOUR, everybody('delivered', '2026-11-21T09:00:05Z'));
    const production = await reported('production');
    expect(production).toMatchObject({ deliveries: {}, unmatchedReports: { environment: 4 } });
    expect(production.text).toContain(
      'Unmatched delivery reports\n  environment  4  came in for another environment, or for none that is known\n',
    );
    const staging = await reported('staging');
    expect([staging.deliveries, staging.unmatchedReports]).toEqual([{ delivered: 4 }, undefined]);
  });

  it('nor do our own that are older than the message, or name another recipient', async () => {
    expect(await sendTo('production', NINE + HOUR)).toBe(0);
    await reconciled('production', NINE + 2 * HOUR, everybody('delivered', '2026-11-21T09:00:05Z'));
    await reconciled('production', NINE + 2 * HOUR, csv([`M1,undeliverable,2026-11-21T10:00:05Z,${BOB}`]));
    const { deliveries, unmatchedReports } = await reported('production');
    expect([deliveries, unmatchedReports]).toEqual([{}, { address: 1, time: 4 }]);
    // No recipient gets the fallback: neither the one that the report names, nor the one whose message has the id.
    const before = accounts[1]?.requests.length;
    expect(await sendTo('production', NINE + 2 * HOUR)).toBe(0);
    expect(accounts[1]?.requests.length).toBe(before);
    await reconciled('production', NINE + 2 * HOUR, csv([`M1,undeliverable,2026-11-21T10:00:05Z,${ANN}`]));
    expect(await sendTo('production', NINE + 2 * HOUR)).toBe(0);
    expect(accounts[1]?.requests.slice(before).map(({ body }) => JSON.parse(body).recipients[0].msisdn)).toEqual([ANN]);
  });

  it('do not open the gate of a canary', async () => {
    const posted = () => accounts[1]?.requests.length;
    expect([await sendTo('production', NINE + HOUR, 'careful'), posted()]).toEqual([0, 2]);
    await reconciled('staging', NINE + 2 * HOUR, everybody('delivered', '2026-11-21T10:00:05Z'));
    expect([await sendTo('production', NINE + 3 * HOUR, 'careful'), posted()]).toEqual([5, 2]);
    await reconciled('production', NINE + 3 * HOUR, everybody('delivered', '2026-11-21T10:00:05Z'));
    expect([await sendTo('production', NINE + 3 * HOUR, 'careful'), posted()]).toEqual([0, 4]);
  });

  it('are not read until an environment is named', async () => {
    project.write('reports.csv', everybody('delivered', '2026-11-21T09:00:05Z'));
    const { status, err } = await run(NINE, 'reconcile', 'reports.csv');
    expect(status).toBe(2);
    expect(err).toContain('unclear-environment');
    expect(err).toContain('known here: sandbox, staging, production');
    const other = await run(NINE, 'reconcile', '--env', 'prod', 'reports.csv');
    expect([other.status, other.err]).toEqual([2, expect.stringContaining('There is no environment "prod".')]);
  });
});

describe('handbill listen, in a project of several environments', () => {
  const ENV = { HANDBILL_WEBHOOK_SECRET: SECRET };

  async function listening<T>(
    args: readonly string[],
    use: (url: string, said: () => string) => Promise<T>,
  ): Promise<T> {
    const cli = startCli(['listen', '--port', '0', ...args], { cwd: project.root, env: ENV });
    try {
      await until('the process listens', () => cli.stdout().includes('Ctrl-C'), 20_000);
      return await use(/http:\S+/.exec(cli.stdout())?.[0] ?? '', () => cli.stdout() + cli.stderr());
    } finally {
      cli.kill('SIGTERM');
      await cli.done;
    }
  }

  const told = async (url: string, body: string) => (await post(url, body, signed(body, { id: 'msg-1' }))).status;
  const said = (text: string) => `{"messageId":"M1","status":"${text}","to":"${ANN}"}`;

  function held(): readonly string[] {
    const ledger = openLedger(project.path('.handbill/ledger.db'), { mode: 'read', nowMs: Date.now() });
    const reports = ledger.events.reportsNaming({ reference: null, messageId: 'M1' });
    ledger.close();
    return reports.map(({ environment, state }) => `${environment} ${state}`);
  }

  it('receives for each at a path of its own; their ids of requests are their own too', async () => {
    await listening(['--env', 'production'], async (url, output) => {
      expect(output()).toContain(`Receiving on ${url} for production\n`);
      expect(output()).toContain(`${url}/sandbox, ${url}/staging\n`);
      expect(output()).not.toContain('unclear-environment');
      expect(await told(url, said('delivered'))).toBe(200);
      expect(await told(`${url}/staging`, said('failed'))).toBe(200);
      expect(await told(`${url}/production`, said('read'))).toBe(401);
      expect(await told(`${url}/prod`, said('read'))).toBe(404);
    });
    expect(held()).toEqual(['production delivered', 'staging failed']);
  });

  it('warns where the path itself belongs to none, holds what comes there, and loses no opt-out', async () => {
    await listening([], async (url, output) => {
      expect(output()).toContain('unclear-environment');
      expect(await told(url, said('delivered'))).toBe(200);
      const stop = `{"from":"${BOB}","text":"STOP"}`;
      expect((await post(url, stop, signed(stop))).status).toBe(200);
      await until('it is said', () => output().includes('and their environment is unknown'), 10_000);
    });
    expect(held()).toEqual([' delivered']);
    const listed = await run(NINE, 'suppress', 'list', '--format', 'json');
    expect(listed.out).toContain(BOB);
  });

  it('refuses an environment that there is none of', async () => {
    const { status, stderr } = await runCli(['listen', '--port', '0', '--env', 'prod'], {
      cwd: project.root,
      env: ENV,
    });
    expect([status, stderr]).toEqual([2, expect.stringContaining('There is no environment "prod".')]);
  });
});
