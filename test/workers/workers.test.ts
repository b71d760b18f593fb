import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, test } from 'vitest';
import { openExistingLedger } from '../../src/ledger/open.ts';
import type { Report } from '../../src/model.ts';
import { openKeyring } from '../approval/keys.ts';
import { type RunningCli, startCli, until } from '../helpers/cli.ts';
import { ask, freshDatabase } from '../helpers/postgres.ts';
import { CANARY_KEY, createScene, numberOf, type Scene } from '../oracle/scene.ts';

const FULL = process.env['HANDBILL_FULL'] === '1';

/*
 * Runs that several processes share: `send --workers` and `handbill worker`, as a user starts them.
 */

interface Api extends AsyncDisposable {
  readonly baseUrl: string;
  /** When each request came, in ms, with the key that it was for. */
  readonly requests: { readonly atMs: number; readonly status: number; readonly reference: string }[];
  /** Answers wait for it, and then so long. */
  gate: Promise<unknown>;
  latencyMs: number;
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

async function api(
  answer: (number: number, text: string) => Answer = () => ({ status: 202 }),
  latencyMs = 40,
): Promise<Api> {
  const requests: Api['requests'] = [];
  const made: Pick<Api, 'gate' | 'latencyMs'> = { gate: Promise.resolve(), latencyMs };
  const server = createServer(async (incoming, outgoing) => {
    const text = await textOf(incoming);
    const { status, headers } = answer(requests.length + 1, text);
    const [, reference = ''] = /"handbill":"([^"]+)"/.exec(text) ?? [];
    requests.push({ atMs: performance.now(), status, reference });
    await made.gate;
    await sleep(made.latencyMs);
    outgoing.writeHead(status, { 'content-type': 'application/json', ...headers });
    outgoing.end(status === 202 ? JSON.stringify({ id: `id-${reference}` }) : '{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const at = server.address();
  if (typeof at !== 'object' || at === null) throw new Error('no port');
  return Object.assign(made, {
    baseUrl: `http://127.0.0.1:${at.port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  });
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

interface Stage extends AsyncDisposable {
  readonly ledger: string;
  readonly scene: Scene;
  readonly at: Api;
  /** Starts a worker in the folder of the scene, or of another one, and waits until it waits. */
  worker(in_?: Scene): Promise<RunningCli>;
  send(args?: readonly string[]): RunningCli;
  other(campaign?: string): Scene;
}

async function stage(at: Api, rows: number, campaign = ''): Promise<Stage> {
  const ledger = await freshDatabase();
  const scenes: Scene[] = [];
  const make = (lines: string): Scene => {
    const scene = createScene({ rows, baseUrl: at.baseUrl, receipts: '/dev/null', ledger, campaign: lines });
    scenes.push(scene);
    return scene;
  };
  const scene = make(campaign);
  const workers: RunningCli[] = [];
  return {
    ledger,
    scene,
    at,
    other: (lines = campaign) => make(lines),
    async worker(from = scene) {
      const env = { HANDBILL_API_KEY: CANARY_KEY, HANDBILL_LEDGER: ledger, HANDBILL_LEASE: '2s' };
      const running = startCli(['worker', '--env', 'test'], { cwd: from.root, env });
      workers.push(running);
      await until('the worker waits', () => running.stderr().includes('waits for runs'));
      return running;
    },
    send: (args = []) => scene.start(['--workers', '--format', 'json', ...args]),
    async [Symbol.asyncDispose]() {
      for (const running of workers) running.kill('SIGKILL');
      for (const running of workers) await running.done;
      for (const one of scenes) one[Symbol.dispose]();
      await at[Symbol.asyncDispose]();
    },
  };
}

/** Every recipient got one request, or none. */
function once({ requests }: Api): boolean {
  return new Set(requests.map(({ reference }) => reference)).size === requests.length;
}

async function shared(running: RunningCli): Promise<Report> {
  const { status, stdout, stderr } = await running.done;
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.not.stringContaining('error') });
  return JSON.parse(stdout) as Report;
}

test('workers on a ledger that is a file are refused, and told what to name', async () => {
  await using at = await api();
  using scene = createScene({ rows: 3, baseUrl: at.baseUrl, receipts: '/dev/null' });
  for (const args of [['worker'], ['worker', 'list'], ['send', '.', '--env', 'test', '--yes', '--workers']]) {
    const { status, stderr } = await scene.run(args);
    // Nothing was ever sent: there is no ledger to look into.
    const said = args[1] === 'list' ? 'Nothing was sent from this project yet' : 'docs/shared-ledger.md';
    expect({ args, status, stderr }).toMatchObject({ status: 2, stderr: expect.stringContaining(said) });
  }
  expect(at.requests).toEqual([]);
});

test('a worker that never reached its ledger does not end as if there had been nothing to do', async () => {
  await using at = await api();
  using scene = createScene({ rows: 3, baseUrl: at.baseUrl, receipts: '/dev/null' });
  const { status, stderr } = await scene.run(['worker', '--idle', '1s', '--ledger', 'postgres://127.0.0.1:1/none']);
  expect({ status, stderr }).toMatchObject({ status: 7, stderr: expect.stringContaining('ECONNREFUSED') });
});

it.runIf(FULL)('shares a run with the workers that are there, and with one that joins while it goes on', async () => {
  await using here = await stage(await api(), 400, 'send: { concurrency: 4 }');
  const first = await here.worker();
  const sending = here.send();
  await until('it is going on', () => here.at.requests.length > 40);
  // However long the other one needs to begin.
  here.at.latencyMs = 1500;
  const second = await here.worker(here.other());
  await until('the other one is at it as well', () => second.stderr().includes('begins'));
  const { workers } = JSON.parse((await here.scene.run(['worker', 'list', '--format', 'json'])).stdout) as {
    workers: { alive: boolean; run: { occurrence: string } | null; shards: number[] }[];
  };
  expect(workers.length).toBe(3);
  expect(workers.filter(({ alive, run }) => alive && run?.occurrence === 'once').length).toBeGreaterThan(1);
  here.at.latencyMs = 10;
  const report = await shared(sending);
  expect(report).toMatchObject({ state: 'finished', totals: { accepted: 400 }, requests: { posted: 400 } });
  await until('both have ended', () => [first, second].every((one) => one.stderr().includes(': ends, with')));
  const made = [first, second].map((one) => Number(/with ([0-9,]+) requests/.exec(one.stderr())?.[1] ?? 0));
  for (const count of made) expect(count).toBeGreaterThan(0);
  expect(once(here.at)).toBe(true);
  // Told to leave while they wait.
  for (const one of [first, second]) one.kill('SIGTERM');
  for (const one of [first, second]) expect((await one.done).status).toBe(143);
  const [left] = await ask(here.ledger, 'SELECT (SELECT count(*) FROM handbill.shards)::int AS shards');
  expect(left).toEqual({ shards: 0 });
  const said = await here.scene.run(['worker', 'list']);
  expect(said.stdout).toBe('No worker is there. `handbill worker` makes this machine one.\n');
});

it.runIf(FULL)(
  'shares a run under an approval until a day, which each worker finds in the run and checks by itself',
  async () => {
    const ring = await openKeyring();
    try {
      await using here = await stage(await api(undefined, 40), 240, 'send: { concurrency: 2 }');
      const [ana, ben] = [await ring.make('ana'), await ring.make('ben')];
      const people = [ana, ben].map(({ text }, i) => `{ name: p${i}, key: "${text}" }`).join(', ');
      const rule = `    approvers: [${people}]\n    standingApprovals: { longest: 30d }\n`;
      const { root } = here.scene;
      writeFileSync(`${root}/handbill.yaml`, `${readFileSync(`${root}/handbill.yaml`, 'utf8').trimEnd()}\n${rule}`);
      const day = new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10);
      for (const { path } of [ana, ben]) {
        const args = ['approve', '.', '--env', 'test', '--standing', '--until', day, '--sign', path, '--yes'];
        expect(await here.scene.run(args)).toMatchObject({ status: 0 });
      }
      const worker = await here.worker();
      expect(await shared(here.send())).toMatchObject({ state: 'finished', totals: { accepted: 240 } });
      await until('the worker has ended', () => worker.stderr().includes(': ends, with'));
      expect(worker.stderr()).not.toContain('error');
      expect(once(here.at)).toBe(true);
      worker.kill('SIGTERM');
      await worker.done;
      // A machine whose handbill.yaml does not allow it takes no part.
      const stranger = await here.worker(here.other());
      const gate = Promise.withResolvers<void>();
      here.at.gate = gate.promise;
      const named = here.send(['--occurrence', 'next']);
      await until('it takes none', () => stranger.stderr().includes('test takes no standing approvals'));
      gate.resolve();
      expect(await shared(named)).toMatchObject({ state: 'finished', totals: { accepted: 240 } });
    } finally {
      await ring.remove();
    }
  },
);

it('leaves a run to others where the files of this machine are not those that it began with', async () => {
  await using here = await stage(await api(), 60, 'send: { concurrency: 2 }');
  const worker = await here.worker(here.other('send: { concurrency: 3 }'));
  expect(await shared(here.send())).toMatchObject({ state: 'finished', totals: { accepted: 60 } });
  expect(worker.stderr()).toContain('error[input-changed]');
  expect(worker.stderr()).toContain('Give this machine the files that proof-');
  expect(worker.stderr()).toContain('is left to others');
  expect(worker.stderr()).not.toContain('begins');
  expect(once(here.at)).toBe(true);
});

it('stops everywhere at once, whichever worker the API refuses', async () => {
  const at = await api((number) => ({ status: number > 60 ? 401 : 202 }), 60);
  await using here = await stage(at, 600, 'send: { concurrency: 4 }');
  const workers = [await here.worker(), await here.worker()];
  const { status, stdout } = await here.send().done;
  const report = JSON.parse(stdout) as Report;
  expect({ status, state: report.state, rule: report.halt?.rule }).toEqual({
    status: 5,
    state: 'halted',
    rule: 'not-authorised',
  });
  const refused = at.requests.findIndex((one) => one.status === 401);
  // What was in flight when the first refusal arrived, and what a busy machine claims before it is written down.
  const most = 8 * 3 * 4;
  expect(at.requests.length - refused).toBeLessThanOrEqual(most);
  expect(report.totals.inDoubt).toBe(0);
  expect(report.totals.accepted).toBe(60);
  // The workers wait for the next run; and the halted one is not continued by them.
  await sleep(1200);
  expect(at.requests.length - refused).toBeLessThanOrEqual(most);
  for (const one of workers) one.kill('SIGTERM');
  for (const one of workers) expect((await one.done).status).toBe(143);
});

it.runIf(FULL)('holds all workers back while the API asks one to wait', async () => {
  const at = await api((number) =>
    number === 50 ? { status: 429, headers: { 'retry-after': '3' } } : { status: 202 },
  );
  await using here = await stage(at, 300, 'send: { concurrency: 3 }');
  await here.worker();
  await here.worker();
  expect(await shared(here.send())).toMatchObject({ state: 'finished', totals: { accepted: 300 } });
  const asked = at.requests.find(({ status }) => status === 429)?.atMs ?? 0;
  // The others hear of it with their next pulse.
  const meanwhile = at.requests.filter(({ atMs }) => atMs > asked + 700 && atMs < asked + 2800);
  expect(meanwhile).toEqual([]);
});

it.each([{}, { 'retry-after': '900' }])(
  'posts once to a recipient who was limited, and not again before the reported time: %o',
  async (headers) => {
    const at = await api((number) => (number === 12 ? { status: 429, headers } : { status: 202 }));
    const instant = `${new Date(Date.now() - 60_000).toISOString().slice(0, 16)}:00Z`;
    await using here = await stage(at, 12, `send: { attempts: 1 }\nschedule: { at: "${instant}" }`);
    const args = ['--occurrence', instant];
    const began = Date.now();
    const first = await waiting(here.send(args));
    expect(first).toMatchObject({ totals: { accepted: 11, pending: 1 }, requests: { posted: 12 } });
    expect(Date.parse(first.opensAt ?? '')).toBeGreaterThanOrEqual(began + 900_000);
    const { opensAt } = first;
    const due = await here.scene.run(['due', '.', '--env', 'test', '--yes', '--format', 'json']);
    expect(JSON.parse(due.stdout)).toMatchObject({ campaigns: [{ occurrence: instant, why: 'waiting' }] });
    expect(await waiting(here.scene.start(['--format', 'json', ...args]))).toMatchObject({ opensAt });
    expect(await waiting(here.send(args))).toMatchObject({ opensAt });
    expect(at.requests.length).toBe(12);
    await timePasses(here.ledger);
    expect(await shared(here.send(args))).toMatchObject({ state: 'finished', totals: { accepted: 12 } });
    expect(at.requests.length).toBe(13);
  },
);

it('posts once to recipients who were limited in a canary or by any worker, and reports the last of their times', async () => {
  const limited = [3, 70, 110].map(numberOf);
  const at = await api((_number, text) => ({ status: limited.some((to) => text.includes(to.slice(1))) ? 429 : 202 }));
  const canary = 'canary: { steps: [20], gate: { accepted: 90% } }';
  await using here = await stage(at, 160, `send: { attempts: 1, concurrency: 2, ${canary} }`);
  await here.worker();
  const first = await waiting(here.send());
  expect(first).toMatchObject({ totals: { accepted: 157, pending: 3 }, opensAt: expect.any(String) });
  expect(await waiting(here.send())).toMatchObject({ opensAt: first.opensAt });
  expect(at.requests.length).toBe(160);
  await timePasses(here.ledger);
  limited.length = 0;
  expect(await shared(here.send())).toMatchObject({ state: 'finished', totals: { accepted: 160 } });
  expect(at.requests.length).toBe(163);
});

/** The report of a start that left recipients waiting. */
async function waiting(running: RunningCli): Promise<Report> {
  const { status, stdout, stderr } = await running.done;
  const report = JSON.parse(stdout) as Report;
  expect({ status, state: report.state, stderr }).toMatchObject({ status: 3, state: 'partial' });
  return report;
}

/** The time that limited recipients wait for has come. */
async function timePasses(ledger: string): Promise<void> {
  await ask(ledger, 'UPDATE handbill.turns SET held_until = 0');
  await ask(ledger, `UPDATE handbill.runs SET figures = jsonb_set(figures::jsonb, '{limitedUntilMs}', '1')::text`);
}

it.runIf(FULL)('stops at a signal to the process that began it, and goes on with the next start', async () => {
  await using here = await stage(await api(), 400, 'send: { concurrency: 3 }');
  await here.worker();
  const sending = here.send();
  await until('it is going on', () => here.at.requests.length > 80);
  sending.kill('SIGTERM');
  const { status, stdout } = await sending.done;
  const report = JSON.parse(stdout) as Report;
  expect({ status, state: report.state, inDoubt: report.totals.inDoubt }).toEqual({
    status: 143,
    state: 'interrupted',
    inDoubt: 0,
  });
  const sent = here.at.requests.length;
  await sleep(800);
  expect(here.at.requests.length).toBe(sent);
  expect(await shared(here.send())).toMatchObject({ state: 'finished', totals: { accepted: 400 } });
  expect(once(here.at)).toBe(true);
});

it.runIf(FULL)('is not taken from those who go on with it, but by a start, which calls them back', async () => {
  await using here = await stage(await api(undefined, 250), 160, 'send: { concurrency: 2 }');
  await here.worker();
  const first = here.send();
  await until('it is going on', () => here.at.requests.length > 40);
  first.kill('SIGKILL');
  await first.done;
  const open = openExistingLedger(here.ledger, { nowMs: Date.now() });
  const [run] = open?.runs() ?? [];
  expect(run === undefined ? null : open?.isHeld(run)).toBe(true);
  open?.close();
  const resolved = await here.scene.run(['doubt', 'resolve', 'proof', '--all', '--as', 'accepted', '--yes']);
  expect(resolved.status).toBe(6);
  here.at.latencyMs = 40;
  // Without --workers: it sends alone what is left.
  const report = JSON.parse((await here.scene.send(['--format', 'json'])).stdout) as Report;
  expect(report).toMatchObject({ state: 'finished' });
  // What the killed process had claimed, and nothing of the worker's.
  expect(report.totals.inDoubt).toBeLessThanOrEqual(2);
  expect(report.totals.accepted + report.totals.inDoubt).toBe(160);
  expect(once(here.at)).toBe(true);
});

it.runIf(FULL)('sends the steps of a canary by itself, and shares the rest', async () => {
  await using here = await stage(
    await api(),
    200,
    'send: { concurrency: 2, canary: { steps: [20], pause: 2s, gate: { accepted: 90% } } }',
  );
  const worker = await here.worker();
  const sending = here.send();
  await until('the step is sent', () => here.at.requests.length >= 20);
  await sleep(700);
  expect({ requests: here.at.requests.length, begun: worker.stderr().includes('begins') }).toEqual({
    requests: 20,
    begun: false,
  });
  expect(await shared(sending)).toMatchObject({ state: 'finished', totals: { accepted: 200 } });
  expect(worker.stderr()).toContain('begins');
  expect(once(here.at)).toBe(true);
});

it.runIf(FULL)('makes no more requests than --limit says, all workers together', async () => {
  await using here = await stage(await api(), 300, 'send: { concurrency: 3 }');
  await here.worker();
  const report = await shared(here.send(['--limit', '130']));
  expect(report).toMatchObject({ state: 'partial', totals: { accepted: 130, pending: 170 } });
  expect(here.at.requests.length).toBe(130);
});

it.runIf(FULL)('keeps the rate of the run together', async () => {
  await using here = await stage(await api(), 150, 'send: { concurrency: 4, rate: 50/s }');
  await here.worker();
  await here.worker();
  await shared(here.send());
  const [first, last] = [here.at.requests[0]?.atMs ?? 0, here.at.requests.at(-1)?.atMs ?? 0];
  // 149 intervals of 20 ms; three without a common rate would take a third of it, and begin 150 in the first second.
  expect(last - first).toBeGreaterThan(149 * 20 * 0.6);
  const most = Math.max(
    ...here.at.requests.map(
      ({ atMs }) => here.at.requests.filter((one) => one.atMs >= atMs && one.atMs < atMs + 1000).length,
    ),
  );
  expect(most).toBeLessThan(100);
});

it('shows no key and no password in what workers say', async () => {
  await using here = await stage(await api(), 40);
  const worker = await here.worker();
  await shared(here.send());
  worker.kill('SIGTERM');
  const { stdout, stderr } = await worker.done;
  const password = new URL(here.ledger).password;
  for (const hidden of [CANARY_KEY, password, decodeURIComponent(password)]) {
    expect(stdout + stderr).not.toContain(hidden);
    for (const [file, bytes] of here.scene.contents()) {
      expect({ file, found: bytes.includes(hidden) }).toEqual({ file, found: false });
    }
  }
  expect(readFileSync(here.scene.path('people.csv'), 'utf8')).toContain('Name 39');
});

it('a pause halts them all before the last recipient, and a later send continues: each recipient once', async () => {
  await using staged = await stage(await api(), 480, 'send: { rate: 80/s }\n');
  await staged.worker();
  const sending = staged.send();
  await until('both send', () => staged.at.requests.length > 60);
  const env = { HANDBILL_API_KEY: CANARY_KEY, HANDBILL_LEDGER: staged.ledger };
  const pausing = startCli(['pause', '--env', 'test', '--reason', 'wrong prices'], { cwd: staged.scene.root, env });
  expect((await pausing.done).status).toBe(0);
  const { status, stdout } = await sending.done;
  expect([status, (JSON.parse(stdout) as Report).halt?.rule]).toEqual([5, 'paused']);
  expect(staged.at.requests.length).toBeLessThan(480);
  const resuming = startCli(['resume', '--env', 'test'], { cwd: staged.scene.root, env });
  expect((await resuming.done).status).toBe(0);
  expect((await staged.send().done).status).toBe(0);
  const references = staged.at.requests.map(({ reference }) => reference);
  expect([references.length, new Set(references).size]).toEqual([480, 480]);
});
