import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { COMMANDS } from '../../src/cli/table.ts';
import { handbillHere } from '../cli/in-process.ts';
import { HELLO } from '../cli/run-handbill.ts';
import { type RunningCli, startCli, until } from '../helpers/cli.ts';
import { ask, freshDatabase } from '../helpers/postgres.ts';
import { type PostgresServer, removePostgres, startPostgres } from '../helpers/postgres-server.ts';
import { createProject } from '../helpers/project.ts';
import { startSandboxApi } from '../kills/api.ts';
import { CANARY_KEY, createScene, numberOf, type Scene } from '../oracle/scene.ts';
import { expectAgreed } from '../send/reported-money.ts';
import { post, SECRET, signed } from '../webhook/sender.ts';

/*
 * Whole commands on a shared ledger: what a user does with --ledger postgres://..., in processes of their own.
 */

const FULL = process.env['HANDBILL_FULL'] === '1';

interface Place extends AsyncDisposable {
  /** A project that sends to this API; several have the same campaign and list, and nothing else in common. */
  scene(ledger: string, rows: number, campaign?: string): Scene;
}

/** An API of its own for each test: references name a recipient in a run, and the run is always the same one. */
async function somewhere(latencyMs = 20): Promise<Place> {
  const api = await startSandboxApi(latencyMs);
  const scenes: Scene[] = [];
  return {
    scene(ledger, rows, campaign = '') {
      const { baseUrl, receipts } = api;
      const scene = createScene({ rows, baseUrl, receipts, ledger, campaign });
      scenes.push(scene);
      return scene;
    },
    async [Symbol.asyncDispose]() {
      for (const scene of scenes) scene[Symbol.dispose]();
      await api.close();
    },
  };
}

/** Each start was counted by the scene that made it. */
function violationsOf(...[first, ...others]: [Scene, ...Scene[]]): readonly string[] {
  const starts = [first, ...others].flatMap((scene) => [...(scene.evidence().starts ?? [])]).toSorted((a, b) => a - b);
  return first.violations({ starts });
}

test('a campaign is sent, reported and found finished, from two folders that share nothing else', async () => {
  const ledger = await freshDatabase();
  await using place = await somewhere();
  const [one, other] = [place.scene(ledger, 12), place.scene(ledger, 12)];
  const sent = await one.send(['--limit', '5', '--format', 'json']);
  expect({ status: sent.status, stderr: sent.stderr }).toMatchObject({ status: 0 });
  expect(JSON.parse(sent.stdout)).toMatchObject({ state: 'partial', totals: { accepted: 5, pending: 7 } });
  // The other machine has the same files, and nothing of the first one but the address of the ledger.
  const rest = await other.send(['--format', 'json']);
  expect({ status: rest.status, stderr: rest.stderr }).toMatchObject({ status: 0 });
  expect(JSON.parse(rest.stdout)).toMatchObject({ state: 'finished', totals: { accepted: 12 } });
  expect(violationsOf(one, other)).toEqual([]);
  const again = await one.send([]);
  expect(again).toMatchObject({
    status: 0,
    stderr: expect.stringContaining('This occurrence is finished: nothing was posted.'),
  });
});

test('a project that has sent before does not begin again where the schema is gone (H4)', async () => {
  const ledger = await freshDatabase();
  await using place = await somewhere();
  const scene = place.scene(ledger, 3);
  expect((await scene.send([])).status).toBe(0);
  await ask(ledger, 'DROP SCHEMA handbill CASCADE');
  const refused = await scene.send([]);
  expect(refused).toMatchObject({ status: 7, stderr: expect.stringContaining('its ledger is gone or empty') });
  // From a folder that has never sent it is a new ledger, as `--allow ledger-missing` says it is here.
  expect((await scene.send(['--allow', 'ledger-missing', '--limit', '1'])).status).toBe(0);
});

test('a project that has sent with a file, or with another shared ledger, does not begin an empty one unasked', async () => {
  const [first, second] = [await freshDatabase(), await freshDatabase()];
  using project = createProject(HELLO);
  const handbill = (line: string, ledger: string | null) =>
    handbillHere(project.root, line.split(' '), { env: ledger === null ? {} : { HANDBILL_LEDGER: ledger } });
  const posted = async (line: string, ledger: string | null): Promise<number> => {
    const { out, err } = await handbill(`${line} --format json`, ledger);
    expect(out, err).not.toBe('');
    return JSON.parse(out).requests.posted;
  };
  const refused = async (ledger: string, other: string): Promise<void> => {
    for (const line of ['send hello --yes', `send hello --yes --ledger ${ledger}`]) {
      const { status, err } = await handbill(line, ledger);
      expect({ status, err }).toMatchObject({ status: 2, err: expect.stringContaining('error[second-ledger]') });
      expect(err).toContain(other);
    }
  };
  expect(await posted('send hello', null)).toBe(2);
  await refused(first, project.path('.handbill/ledger.db'));
  // Its tables are there now, and it still knows no recipient.
  expect((await handbill('suppress add +447700900009', first)).status).toBe(0);
  await refused(first, project.path('.handbill/ledger.db'));
  expect((await handbill('send hello --yes', null)).err).not.toContain('second-ledger');
  expect(await posted('send hello --allow second-ledger', first)).toBe(2);
  expect((await handbill('send hello --yes', first)).err).not.toContain('second-ledger');
  for (const name of ['ledger.db', '.ledger.db.marker']) rmSync(project.path(`.handbill/${name}`));
  await refused(second, 'another shared ledger');
  expect(await posted('send hello --allow second-ledger', second)).toBe(2);
  expect((await handbill('send hello --yes', second)).err).not.toContain('second-ledger');
});

test('a fallback by report has its variant, and both of its messages cost what the budget counted', async () => {
  await expectAgreed(await freshDatabase());
});

test('a time that is none is refused before anything is sent', async () => {
  await using place = await somewhere();
  const scene = place.scene(await freshDatabase(), 3);
  const refused = await scene.send([], { env: { HANDBILL_LEDGER_WAIT: 'soon' } });
  expect(refused).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('HANDBILL_LEDGER_WAIT is no time: soon'),
  });
  expect(scene.endings()).toEqual([]);
});

test('two starts at once, of which one sends (J3)', async () => {
  const ledger = await freshDatabase();
  await using place = await somewhere(150);
  const [one, other] = [1, 2].map(() => place.scene(ledger, 100, 'send: { concurrency: 2 }')) as [Scene, Scene];
  const first = one.start();
  await until('the first has begun', () => one.endings().some(({ outcome }) => outcome === 'accepted'));
  const second = await other.send();
  expect(second.status).toBe(6);
  expect(second.stderr).toContain('Another process is sending this run (process ');
  expect((await first.done).status).toBe(0);
  expect(violationsOf(one, other)).toEqual([]);
});

test('two campaigns that go out at once keep the rate of their environment together', async () => {
  const ledger = await freshDatabase();
  await using place = await somewhere(1);
  const scenes = ['one', 'two'].map((name) => {
    const scene = place.scene(ledger, 40);
    scene.write(
      'campaign.yaml',
      readFileSync(scene.path('campaign.yaml'), 'utf8').replace('name: proof', `name: ${name}`),
    );
    scene.write('handbill.yaml', `${readFileSync(scene.path('handbill.yaml'), 'utf8').trimEnd()}\n    rate: 20/s\n`);
    return scene;
  });
  const began = performance.now();
  for (const { status } of await Promise.all(scenes.map((scene) => scene.send([])))) expect(status).toBe(0);
  // 79 intervals of 50 ms; each alone would take half of it. Above that only the machine decides.
  expect(performance.now() - began).toBeGreaterThan(3900);
});

const WEBHOOK = '    webhook: { secrets: [{ env: HANDBILL_WEBHOOK_SECRET }] }\ndefaultCountry: GB\n';

async function reported(url: string, body: string): Promise<number> {
  return (await post(url, body, signed(body))).status;
}

async function listening(scene: Scene, ledger: string): Promise<{ cli: RunningCli; url: string }> {
  const env = { HANDBILL_WEBHOOK_SECRET: SECRET, HANDBILL_LEDGER: ledger };
  const cli = startCli(['listen', '--port', '0'], { cwd: scene.root, env });
  await until('the process listens', () => cli.stdout().includes('Ctrl-C'), 20_000);
  return { cli, url: /http:\S+/.exec(cli.stdout())?.[0] ?? '' };
}

describe('the database', () => {
  let server: PostgresServer;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(process.env['TMPDIR'] ?? tmpdir(), 'handbill-own-server-'));
    server = await startPostgres(folder);
  });
  afterAll(async () => {
    await removePostgres(server, folder);
  });

  const ends: [string, (address: string) => Promise<unknown>][] = [
    ['crashes, and comes back', async () => await server.stop('SIGQUIT')],
    ['is shut down, and comes back', async () => await server.stop('SIGINT')],
    [
      'cuts the connection',
      async (address) =>
        await ask(address, 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()'),
    ],
  ];
  it.each(FULL ? ends : ends.slice(0, 1))(
    '%s: a start that does not wait ends with status 7, and the next one goes on',
    async (name, end) => {
      const address = new URL(server.address);
      address.pathname = `/${name.replaceAll(/\W+/g, '_')}`;
      await ask(server.address, `CREATE DATABASE ${address.pathname.slice(1)}`);
      // Long enough that it is still going on when its end has come, on any machine.
      await using place = await somewhere(100);
      const scene = place.scene(address.href, 120, 'send: { concurrency: 4 }');
      const cut = scene.start([], { env: { HANDBILL_LEDGER_WAIT: '0' } });
      await until('some are sent', () => scene.endings().filter(({ outcome }) => outcome === 'accepted').length > 8);
      await end(address.href);
      const { status, stderr } = await cut.done;
      expect({ status, stderr }).toMatchObject({ status: 7 });
      expect(stderr).not.toMatch(/^\s+at .*:\d+:\d+\)?$/m);
      if (server.process.exitCode !== null || server.process.signalCode !== null) await server.start();
      const next = await scene.send();
      expect([0, 4]).toContain(next.status);
      const doubts = scene.endings().filter(({ outcome }) => outcome === 'in-doubt');
      expect(doubts.length).toBeLessThanOrEqual(4);
      expect(scene.violations({ mostCrashes: 4 })).toEqual([]);
    },
  );

  it('crashes, and is back while the start waits for it: it goes on (J6)', async () => {
    const address = new URL(server.address);
    address.pathname = '/goes_on';
    await ask(server.address, `CREATE DATABASE ${address.pathname.slice(1)}`);
    // Long enough that it is still going on when the server is gone, on any machine.
    await using place = await somewhere(100);
    const scene = place.scene(address.href, 160, 'send: { concurrency: 4 }');
    const start = scene.start(['--format', 'json', '--limit', '150']);
    await until('some are sent', () => scene.endings().filter(({ outcome }) => outcome === 'accepted').length > 8);
    await server.stop('SIGQUIT');
    await until('it waits', () => start.stderr().includes('it is waited for'));
    await server.start();
    const { status, stderr, stdout } = await start.done;
    // A server that dies between a commit and the word of it leaves those claims: no process posts for them or knows of them.
    const { inDoubt } = JSON.parse(stdout).totals as { inDoubt: number };
    expect(inDoubt).toBeLessThanOrEqual(4);
    const ended = inDoubt === 0 ? 0 : 4;
    expect({ status, stderr }).toMatchObject({ status: ended, stderr: expect.stringContaining('The ledger is back') });
    // What was answered while the ledger was gone is recorded, and the limit is that of the whole start.
    expect(JSON.parse(stdout)).toMatchObject({
      requests: { posted: 150 },
      totals: { recipients: 160, accepted: 150, inDoubt, pending: 10 - inDoubt },
    });
    expect(scene.violations({ mostCrashes: inDoubt })).toEqual([]);
  });

  it('restarts while events are received: senders come again, and nothing is received twice (J6)', async () => {
    const address = new URL(server.address);
    address.pathname = '/receives';
    await ask(server.address, `CREATE DATABASE ${address.pathname.slice(1)}`);
    await using place = await somewhere();
    const scene = place.scene(address.href, 2);
    scene.write('handbill.yaml', `${readFileSync(scene.path('handbill.yaml'), 'utf8').trimEnd()}\n${WEBHOOK}`);
    expect((await scene.send([])).status).toBe(0);
    const { cli, url } = await listening(scene, address.href);
    expect(cli.stdout()).toContain('Events go to postgres://');
    const bodies = [0, 1].map((row) =>
      JSON.stringify({ messageId: `m-${row}`, status: 'delivered', to: numberOf(row) }),
    );
    const [before = '', meanwhile = ''] = bodies;
    expect(await reported(url, before)).toBe(200);
    await server.stop('SIGINT');
    expect(await reported(url, meanwhile)).toBe(503);
    await until('it is said', () => cli.stderr().includes('the ledger is lost'));
    await server.start();
    await until('it is back', () => cli.stderr().includes('the ledger is back'));
    for (const body of bodies) expect(await reported(url, body)).toBe(200);
    const held = await ask(address.href, 'SELECT count(*)::int AS n FROM handbill.delivery_reports');
    expect(held).toEqual([{ n: 2 }]);
    cli.kill('SIGTERM');
    expect((await cli.done).status).toBe(143);
  });
});

test('two receivers behind a balancer hold each event once, and a STOP counts for the next claim', async () => {
  const ledger = await freshDatabase();
  await using place = await somewhere();
  const scene = place.scene(ledger, 6);
  scene.write('handbill.yaml', `${readFileSync(scene.path('handbill.yaml'), 'utf8').trimEnd()}\n${WEBHOOK}`);
  expect((await scene.send(['--limit', '3'])).status).toBe(0);
  const receivers = await Promise.all([listening(scene, ledger), listening(scene, ledger)]);
  const atMs = new Date().toISOString();
  const [sent, next] = [numberOf(0), numberOf(5)];
  const [first] = await ask(ledger, 'SELECT message_id FROM handbill.recipients WHERE row = 0');
  const messageId = first?.['message_id'];
  const body = JSON.stringify({
    results: [
      { messageId, status: 'delivered', to: sent, timestamp: atMs },
      { from: next, to: 'Riverside', text: 'STOP', timestamp: atMs },
    ],
  });
  for (const { url } of [...receivers, ...receivers]) {
    expect(await reported(url, body)).toBe(200);
  }
  const count = async (table: string) =>
    (await ask(ledger, `SELECT count(*)::int AS n FROM handbill.${table}`))[0]?.['n'];
  expect([await count('delivery_reports'), await count('replies'), await count('suppressions')]).toEqual([1, 1, 1]);
  expect((await scene.send([])).status).toBe(0);
  expect(scene.endings().map(({ outcome, reason }) => (reason === null ? outcome : `${outcome}(${reason})`))).toEqual([
    ...Array.from({ length: 5 }, () => 'accepted'),
    'skipped(suppressed)',
  ]);
  for (const { cli } of receivers) cli.kill('SIGTERM');
  expect((await Promise.all(receivers.map(({ cli }) => cli.done))).map(({ status }) => status)).toEqual([143, 143]);
});

test('pages are served from it, and follow what is sent', async () => {
  const ledger = await freshDatabase();
  await using place = await somewhere();
  const scene = place.scene(ledger, 4);
  expect((await scene.send(['--limit', '2'])).status).toBe(0);
  const cli = startCli(['serve', '--port', '0', '--open'], { cwd: scene.root, env: { HANDBILL_LEDGER: ledger } });
  await until('pages are served', () => cli.stdout().includes('Ctrl-C'), 20_000);
  const url = /http:\S+/.exec(cli.stdout())?.[0] ?? '';
  const page = async (path: string) => await (await fetch(new URL(path, url))).text();
  const id = /proof-[0-9a-f]{8}/.exec(await page('/'))?.[0] ?? '';
  expect(id).not.toBe('');
  for (const path of [`/runs/${id}`, `/runs/${id}/recipients`, '/doubts', '/replies', '/suppressions']) {
    expect(await page(path)).toContain('</html>');
  }
  expect(await page(`/runs/${id}/recipients`)).toContain('accepted');
  expect((await scene.send([])).status).toBe(0);
  expect(await page(`/runs/${id}`)).toContain('finished');
  cli.kill('SIGTERM');
  expect((await cli.done).status).toBe(143);
});

describe('the password in the address', () => {
  const used = new Set<string>();
  let place: Place;
  let scene: Scene;
  let ledger: string;
  beforeAll(async () => {
    ledger = await freshDatabase();
    place = await somewhere();
    scene = place.scene(ledger, 3);
  });
  afterAll(async () => await place[Symbol.asyncDispose]());

  const LINES: readonly (readonly string[])[] = [
    ['validate'],
    ['plan', '.', '--env', 'test', '-o', 'plan.json'],
    ['preview', '.', '--env', 'test'],
    ['send', '.', '--env', 'test', '--yes'],
    ['send', '.', '--env', 'test', '--yes', '--format', 'json'],
    ['report'],
    ['report', '--format', 'json'],
    ['report', '--format', 'html', '-o', 'report.html'],
    ['report', '--format', 'markdown'],
    ['runs'],
    ['worker', '--idle', '1s'],
    ['worker', 'list'],
    ['worker', 'list', '--format', 'json'],
    ['doubt', 'list'],
    ['listen', '--port', 'none'],
    ['listen', '--from', 'none.csv'],
    ['replies'],
    ['replies', 'review'],
    ['suppress', 'add', numberOf(0)],
    ['suppress', 'list'],
    ['suppress', 'check'],
    ['suppress', 'export'],
    ['due', '--dry-run'],
    ['schedule'],
    ['rehearse'],
    ['schedule', '--format', 'kubernetes'],
    ['diff', 'HEAD'],
    ['approve', 'plan.json'],
    ['pause', '--env', 'test', '--reason', 'a test', '--by', 'ann'],
    ['resume', '--env', 'test'],
    ['person', '+447700900123'],
    ['person', '+447700900123', '--format', 'json'],
    ['purge', '--older-than', '1d', '--dry-run', '--format', 'json'],
    ['purge', '--older-than', '1d', '--yes'],
    ['help', 'windows'],
    ['completion', 'bash'],
    ['sandbox', '--port', 'none'],
    ['init', 'made', '--yes'],
    ['serve', '--port', 'none'],
    ['doctor'],
    ['doctor', '--format', 'json'],
  ];

  it.each(LINES.map((args) => [args.join(' '), args] as const))('is not shown: %s', async (_, args) => {
    used.add(args[0] ?? '');
    const password = new URL(ledger).password;
    for (const address of [ledger, ledger.replace('/handbill_test_', '/none_')]) {
      const env = { HANDBILL_API_KEY: CANARY_KEY, HANDBILL_LEDGER: address };
      const { out, err } = await handbillHere(scene.root, args, { env, width: 200 });
      for (const hidden of [password, decodeURIComponent(password)]) expect(out + err).not.toContain(hidden);
    }
  });

  test('nor is it written anywhere', () => {
    const password = new URL(ledger).password;
    for (const [file, bytes] of scene.contents()) {
      for (const hidden of [password, decodeURIComponent(password)]) {
        expect({ file, found: bytes.includes(hidden) }).toEqual({ file, found: false });
      }
    }
  });

  test('no command was left out', () => {
    expect(COMMANDS.map(({ name }) => name).filter((name) => !used.has(name))).toEqual([]);
  });
});
