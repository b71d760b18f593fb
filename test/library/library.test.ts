import process from 'node:process';
import { describe, expect, it } from 'vitest';
import {
  addSuppressions,
  approve,
  due,
  EXIT,
  listDoubts,
  listen,
  listRuns,
  listSuppressions,
  outcomes,
  preview,
  purge,
  report,
  resolveDoubts,
  schedule,
  send,
  startSandbox,
  validate,
} from '../../src/index.ts';
import { at, campaign, NOW, openIn, projectOf, refusal } from './project.ts';

describe('preview', () => {
  it('reads the list anew for each loop, and knows the result of the last whole one', async () => {
    using project = projectOf(campaign('hello', 5));
    const dry = preview('hello', at(project));
    expect(openIn(project.root)).toEqual([]);
    const lines: number[] = [];
    for await (const { line } of dry.decisions) lines.push(line);
    expect(lines).toEqual([2, 3, 4, 5, 6]);
    expect((await dry.result()).estimate.send).toBe(5);
    let again = 0;
    for await (const _ of dry.decisions) again += 1;
    expect(again).toBe(5);
  });

  it('has a result without a loop', async () => {
    using project = projectOf(campaign('hello', 5));
    expect(await preview('hello', at(project)).result()).toMatchObject({ campaign: 'hello', valid: true });
  });

  it('closes what it opened when the loop is left early', async () => {
    using project = projectOf(campaign('hello', 3));
    await send('hello', at(project));
    // Longer than what is read at once, so that the list is open still.
    const wide = Array.from(
      { length: 100 },
      (_, i) => `+44791120${String(i).padStart(4, '0')},P${i},${'x'.repeat(20_000)}`,
    );
    project.write('campaigns/hello/people.csv', `msisdn,name,note\n${wide.join('\n')}\n`);
    let during: readonly string[] = [];
    for await (const _ of preview('hello', at(project)).decisions) {
      during = openIn(project.root);
      break;
    }
    expect(during).toEqual(expect.arrayContaining(['campaigns/hello/people.csv', '.handbill/ledger.db']));
    expect(openIn(project.root)).toEqual([]);
  });

  it('closes what it opened when it is refused', async () => {
    using project = projectOf(campaign('hello', 3));
    await send('hello', at(project));
    await purge({ ...at(project), now: () => NOW + 1000, olderThanMs: 0, confirm: true });
    expect(await refusal(preview('hello', at(project)).result())).toEqual(['run-purged', EXIT.refused]);
    expect(openIn(project.root)).toEqual([]);
  });
});

describe('outcomes', () => {
  it('closes the ledger at the end, when the loop is left, and when it fails', async () => {
    using project = projectOf(campaign('hello', 3));
    await send('hello', at(project));
    const all = outcomes('hello', at(project));
    const found: unknown[] = [];
    for await (const one of all) found.push(one);
    expect(found).toHaveLength(3);
    expect(found[0]).toMatchObject({ line: 2, outcome: 'accepted', channel: 'sms', delivery: null, attempts: 1 });
    expect(openIn(project.root)).toEqual([]);
    for await (const _ of outcomes('hello', at(project))) {
      expect(openIn(project.root)).toContain('.handbill/ledger.db');
      break;
    }
    expect(openIn(project.root)).toEqual([]);
    expect(await refusal(outcomes('nobody', at(project)).next())).toEqual(['run-not-found', EXIT.refused]);
    expect(openIn(project.root)).toEqual([]);
  });

  it('lets others of the process have their turn, and keeps memory flat', { timeout: 30_000 }, async () => {
    using project = projectOf(campaign('hello', 4_000));
    await send('hello', { ...at(project), limit: 1 });
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    let rows = 0;
    for await (const _ of outcomes('hello', at(project))) rows += 1;
    clearInterval(timer);
    expect(rows).toBe(4_000);
    expect(turns).toBeGreaterThan(1);
  });
});

describe('due', () => {
  it('shows each campaign to the caller’s loop, and stops after the one at which the loop is left', async () => {
    const cron = 'schedule: { cron: "0 9 * * *", timeZone: UTC, missed: catch-up }\n';
    using project = projectOf(campaign('a', 3, cron), campaign('b', 3, cron), campaign('c', 3, cron));
    const going = due([], at(project));
    for await (const { campaign: name, result } of going) {
      expect([name, result?.report.totals.accepted]).toEqual(['a', 3]);
      break;
    }
    const { stopped, items } = await going;
    expect(stopped).toBe(true);
    expect(items.length).toBeLessThan(3);
    const { items: rest } = await due([], at(project));
    const sent = items.filter(({ result }) => result !== null).length;
    expect(rest.filter(({ result }) => result?.posted === 3).length).toBe(3 - sent);
    expect((await schedule([], { ...at(project), next: 1 })).campaigns.map(({ campaign: name }) => name)).toEqual([
      'a',
      'b',
      'c',
    ]);
  });
});

describe('what serves', () => {
  it('listen ends by its signal, by close and by its block, and lets go of port and ledger', async () => {
    using project = projectOf();
    const stopping = new AbortController();
    const recorded: number[] = [];
    const listening = await listen({
      ...at(project),
      port: 0,
      signal: stopping.signal,
      onRecorded: ({ unread }) => void recorded.push(unread),
    });
    expect((await fetch(listening.url, { method: 'POST', body: '{}' })).status).toBe(401);
    stopping.abort();
    await listening.closed;
    await listening.close();
    await expect(fetch(listening.url, { method: 'POST' })).rejects.toThrow();
    {
      await using second = await listen({ ...at(project), port: listening.port });
      expect(second.port).toBe(listening.port);
    }
    expect(openIn(project.root)).toEqual([]);
    expect(recorded).toEqual([]);
  });

  it.each(['before', 'after'])('the sandbox ends by a signal that comes %s it is there', async (when) => {
    const stopping = new AbortController();
    if (when === 'before') stopping.abort();
    const sandbox = await startSandbox({ signal: stopping.signal });
    stopping.abort();
    await sandbox.closed;
    await expect(fetch(sandbox.url)).rejects.toThrow();
  });
});

describe('what the library does not touch', () => {
  it('prints nothing, watches no signal, and keeps nothing', { timeout: 30_000 }, async () => {
    using project = projectOf(campaign('hello', 3));
    const events = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'exit', 'beforeExit', 'uncaughtException'] as const;
    const watched = () => events.map((name) => process.listenerCount(name));
    const before = watched();
    const env = { ...process.env };
    const written: string[] = [];
    const { stdout, stderr } = process;
    const writes = [stdout.write, stderr.write] as const;
    const note = (text: unknown): boolean => written.push(String(text)) > 0;
    stdout.write = note;
    stderr.write = note;
    try {
      const options = at(project);
      await validate(['hello', 'nobody'], options);
      await preview('hello', options).result();
      const during: number[][] = [];
      for await (const _ of send('hello', options)) during.push(watched());
      expect(during.every((counts) => String(counts) === String(before))).toBe(true);
      await addSuppressions(['+447700900555'], options);
      await listDoubts(options);
      await due([], options);
      await refusal(approve('nothing.json', options));
      await refusal(resolveDoubts('hello', { ...options, verdict: 'accepted', lines: [2], by: 'Jo' }));
      for await (const _ of listSuppressions(options));
    } finally {
      [stdout.write, stderr.write] = writes;
    }
    expect(written).toEqual([]);
    expect(watched()).toEqual(before);
    expect({ ...process.env }).toEqual(env);
    expect(process.exitCode ?? 0).toBe(0);
  });
});

describe('options', () => {
  it.each<[name: string, work: (options: ReturnType<typeof at>) => Promise<unknown>]>([
    ['limit: 0', (options) => send('hello', { ...options, limit: 0 })],
    ['limit: 1.5', (options) => send('hello', { ...options, limit: 1.5 })],
    ['concurrency: NaN', (options) => send('hello', { ...options, concurrency: Number.NaN })],
    ['listen.port: 70000', (options) => send('hello', { ...options, listen: { port: 70_000 } })],
    ['at: Infinity', (options) => preview('hello', { ...options, at: Number.POSITIVE_INFINITY }).result()],
    ['next: 0', (options) => schedule([], { ...options, next: 0 })],
    ['olderThanMs: -1', (options) => purge({ ...options, olderThanMs: -1 })],
  ])('%s is refused', async (_, work) => {
    using project = projectOf(campaign('hello', 3));
    // Some refuse at once, which a caller must not have to tell apart.
    expect(await refusal((async () => await work(at(project)))())).toEqual(['usage', EXIT.refused]);
  });

  it('that are undefined, as programs without strict types write them, are as good as absent', async () => {
    using project = projectOf(campaign('hello', 3));
    const loose = { occurrence: undefined, limit: undefined, signal: undefined, confirm: undefined, listen: undefined };
    const { report: made } = await send('hello', { ...at(project), ...(loose as object) });
    expect(made.totals.accepted).toBe(3);
  });

  it('the ledger is that of HANDBILL_LEDGER where none is named, for every function', async () => {
    using project = projectOf(campaign('hello', 3));
    const env = { ...at(project).env, HANDBILL_LEDGER: 'elsewhere/ledger.db' };
    const options = { ...at(project), env };
    await send('hello', options);
    // Without it, no run would be listed.
    expect(await refusal(listRuns(at(project)))).toEqual(['second-ledger', EXIT.refused]);
    expect((await listRuns(options)).map(({ campaign: name }) => name)).toEqual(['hello']);
    expect((await report('hello', options)).ledger).toBe(project.path('elsewhere/ledger.db'));
  });
});
