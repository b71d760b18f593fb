import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openLedger } from '../../src/ledger/open.ts';
import { startCli, until } from '../helpers/cli.ts';
import { runHere } from '../helpers/here.ts';
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
  staging:
    baseUrl: "${staging}"
    apiKey: { env: KEY }
    webhook: { secrets: [{ env: STAGING_SECRET }] }
  production:
    baseUrl: "${production}"
    apiKey: { env: KEY }
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
  const { status, err } = await run(atMs, 'listen', '--env', environment, '--quiet', '--from', 'reports.csv');
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
      'Unmatched delivery reports\n  environment  4  came in for another environment\n',
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
    const { status, err } = await run(NINE, 'listen', '--from', 'reports.csv');
    expect(status).toBe(2);
    expect(err).toContain('unclear-environment');
    expect(err).toContain('known here: sandbox, staging, production');
    const other = await run(NINE, 'listen', '--env', 'prod', '--from', 'reports.csv');
    expect([other.status, other.err]).toEqual([2, expect.stringContaining('There is no environment "prod".')]);
  });
});

describe('handbill listen, in a project of several environments', () => {
  const STAGING = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
  const ENV: Readonly<Record<string, string>> = { HANDBILL_WEBHOOK_SECRET: SECRET, STAGING_SECRET: STAGING };

  async function listening<T>(
    args: readonly string[],
    use: (url: string, said: () => string) => Promise<T>,
    env = ENV,
  ): Promise<T> {
    const cli = startCli(['listen', '--port', '0', ...args], { cwd: project.root, env });
    try {
      await until('the process listens', () => cli.stdout().includes('Ctrl-C'), 20_000);
      const at = /http:\/\/[^/]+/.exec(cli.stdout())?.[0] ?? '';
      return await use(`${at}/webhooks`, () => cli.stdout() + cli.stderr());
    } finally {
      cli.kill('SIGTERM');
      await cli.done;
    }
  }

  const told = async (url: string, body: string, secret = SECRET) =>
    (await post(url, body, signed(body, { id: 'msg-1', secret }))).status;
  const said = (text: string) => `{"messageId":"M1","status":"${text}","to":"${ANN}"}`;

  function held() {
    const ledger = openLedger(project.path('.handbill/ledger.db'), { mode: 'read', nowMs: Date.now() });
    const reports = ledger.events.reportsNaming({ reference: null, messageId: 'M1' });
    const { replies } = ledger.events.counts();
    ledger.close();
    return { reports: reports.map(({ environment, state }) => `${environment} ${state}`), replies };
  }

  /** Both environments have one secret, and a scheme. */
  function share(webhook = '{ secrets: [{ env: HANDBILL_WEBHOOK_SECRET }] }'): void {
    const [staging, production] = accounts.map(({ url }) => new URL(url).origin);
    project.write(
      'handbill.yaml',
      `defaultCountry: GB
environments:
  sandbox: { webhook: ${webhook} }
  staging: { baseUrl: "${staging}", apiKey: { env: KEY }, webhook: ${webhook} }
  production: { baseUrl: "${production}", apiKey: { env: KEY }, webhook: ${webhook} }
`,
    );
  }

  it('receives for each at a path of its own, with its own secret; their ids of requests are their own too', async () => {
    await listening(['--env', 'production'], async (url, output) => {
      expect(output()).toContain(`Receiving on ${url} for production\n`);
      expect(output()).toContain(`Also, each for one environment: ${url}/staging\n`);
      expect(await told(url, said('delivered'))).toBe(200);
      expect(await told(`${url}/staging`, said('failed'), STAGING)).toBe(200);
      expect(await told(`${url}/production`, said('read'))).toBe(401);
      // The sandbox has no secret, and `prod` is no environment.
      expect(await told(`${url}/sandbox`, said('read'))).toBe(404);
      expect(await told(`${url}/prod`, said('read'))).toBe(404);
    });
    expect(held().reports).toEqual(['production delivered', 'staging failed']);
  });

  it('the secret of one is none of another', async () => {
    await listening([], async (url, output) => {
      const body = said('delivered');
      expect(await told(`${url}/production`, body, STAGING)).toBe(401);
      expect(await told(`${url}/staging`, body, SECRET)).toBe(401);
      expect(await told(`${url}/staging`, body, STAGING)).toBe(200);
      // The same words of two accounts are two events.
      expect(await told(`${url}/production`, body, SECRET)).toBe(200);
      expect(output()).not.toContain('weak-webhook');
    });
    expect(held().reports).toEqual(['staging delivered', 'production delivered']);
  });

  it('receives nothing at the path itself where none is named, and a STOP at any other counts', async () => {
    await listening([], async (url, output) => {
      expect(output()).toContain(`Receiving, each for one environment: ${url}/staging, ${url}/production\n`);
      expect(await told(url, said('delivered'))).toBe(404);
      expect(await told(url, said('delivered'), STAGING)).toBe(404);
      const stop = `{"from":"${BOB}","text":"STOP"}`;
      expect(await told(`${url}/staging`, stop, STAGING)).toBe(200);
    });
    expect(held()).toEqual({ reports: [], replies: 1 });
    const listed = await run(NINE, 'suppress', 'list', '--format', 'json');
    expect(listed.out).toContain(BOB);
  });

  it.each([
    ['with an id of its own', '{ secrets: [{ env: HANDBILL_WEBHOOK_SECRET }] }'],
    ['without one', '{ scheme: hmac, hmac: { header: X-Sign }, secrets: [{ env: HANDBILL_WEBHOOK_SECRET }] }'],
  ])('holds a signed request once, whichever environments it is posted to (K1): %s', async (_label, webhook) => {
    share(webhook);
    const body = `[${said('delivered')},{"from":"${BOB}","to":"${ANN}","text":"Yes"}]`;
    const headers = {
      ...signed(body, { id: 'msg-1' }),
      'x-sign': createHmac('sha256', SECRET).update(body).digest('hex'),
    };
    for (const names of [
      ['production', 'staging', 'sandbox', 'production'],
      ['sandbox', 'staging'],
    ]) {
      await listening([], async (url, output) => {
        expect(output()).toContain('staging has the same secret of webhooks as sandbox');
        for (const name of names) expect((await post(`${url}/${name}`, body, headers)).status).toBe(200);
      });
    }
    expect(held()).toEqual({ reports: ['production delivered'], replies: 1 });
  });

  it('refuses an id that came with another body before, whichever environment it came to', async () => {
    share();
    await listening([], async (url) => {
      expect(await told(`${url}/staging`, said('delivered'))).toBe(200);
      expect(await told(`${url}/production`, said('failed'))).toBe(401);
    });
    expect(held().reports).toEqual(['staging delivered']);
  });

  it('needs every secret, but for --env: then those of others may be elsewhere', async () => {
    const { HANDBILL_WEBHOOK_SECRET = '' } = ENV;
    const { status, stderr } = await runHere(['listen', '--port', '0'], {
      cwd: project.root,
      env: { HANDBILL_WEBHOOK_SECRET },
    });
    expect([status, stderr]).toEqual([2, expect.stringContaining('error[missing-webhook-secret]')]);
    const use = async (url: string, output: () => string): Promise<void> => {
      expect(output()).toContain('warning[missing-webhook-secret]');
      expect(output()).toContain('Nothing is received for staging: its secret');
      expect(await told(url, said('delivered'))).toBe(200);
      expect(await told(`${url}/staging`, said('read'))).toBe(404);
    };
    await listening(['--env', 'production'], use, { HANDBILL_WEBHOOK_SECRET });
    expect(held().reports).toEqual(['production delivered']);
  });

  it.each([
    ['prod', 'There is no environment "prod".'],
    ['sandbox', 'how webhooks of sandbox are received'],
  ])('refuses --env %s', async (name, message) => {
    const { status, stderr } = await runHere(['listen', '--port', '0', '--env', name], { cwd: project.root, env: ENV });
    expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});
