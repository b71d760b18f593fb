import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  EXIT,
  HandbillError,
  listRuns,
  outcomes,
  plan,
  report,
  type SendOptions,
  type SendProgress,
  send,
  startSandbox,
} from '../../src/index.ts';
import { runCli } from '../helpers/cli.ts';
import { at, campaign, list, openIn, PROJECT, projectOf, refusal } from './project.ts';

function reversed(text: string): string {
  const [header = '', ...rows] = text.trimEnd().split('\n');
  return `${[header, ...rows.reverse()].join('\n')}\n`;
}

describe('send', () => {
  it('shows its progress to the caller’s loop, and the end last', async () => {
    using project = projectOf(campaign('hello', 40));
    const sending = send('hello', { ...at(project), progressEveryMs: 1 });
    const seen: SendProgress[] = [];
    for await (const progress of sending) seen.push(progress);
    expect(seen.at(-1)).toMatchObject({ round: 1, toDo: 40, posted: 40, outcomes: { accepted: 40 }, waits: null });
    const posted = seen.map((progress) => progress.posted);
    expect(posted).toEqual(posted.toSorted((a, b) => a - b));
    expect(await sending).toMatchObject({ exit: EXIT.done, started: true, posted: 40, diagnostics: [] });
    expect(() => sending[Symbol.asyncIterator]()).toThrow(TypeError);
  });

  it.each<[name: string, stop: (stopping: AbortController, options: SendOptions) => Promise<unknown>]>([
    [
      'the signal comes',
      async (stopping, options) => {
        const sending = send('hello', options);
        for await (const { posted } of sending) if (posted > 0) stopping.abort();
        const { report: made, exit } = await sending;
        expect([made.state, exit]).toEqual(['interrupted', EXIT.interrupted]);
      },
    ],
    [
      'the loop is left',
      async (_, options) => {
        for await (const { posted } of send('hello', options)) if (posted > 0) break;
      },
    ],
  ])('awaits and records what is in flight when %s', async (_, stop) => {
    using project = projectOf(campaign('hello', 2000));
    const stopping = new AbortController();
    await stop(stopping, { ...at(project), signal: stopping.signal, progressEveryMs: 1 });
    expect(openIn(project.root)).toEqual([]);
    const made = await report('hello', at(project));
    const { accepted, pending, inDoubt } = made.totals;
    expect(made).toMatchObject({ state: 'interrupted', requests: { posted: accepted } });
    expect([accepted > 0, pending > 0, inDoubt, accepted + pending]).toEqual([true, true, 0, 2000]);
  });

  it('is refused before the first request when it is told to stop by then', async () => {
    using project = projectOf(campaign('hello', 3));
    const options = { ...at(project), signal: AbortSignal.abort() };
    expect(await refusal(send('hello', options))).toEqual(['interrupted', EXIT.interrupted]);
    expect(openIn(project.root)).toEqual([]);
  });

  it('throws in the loop what it throws to an await, and only once', async () => {
    using project = projectOf();
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    try {
      const looped = async (): Promise<void> => {
        for await (const _ of send('nobody', at(project)));
      };
      expect(await refusal(looped())).toEqual(['campaign-not-found', EXIT.refused]);
      await sleep(10);
      expect(unhandled).toEqual([]);
    } finally {
      process.off('unhandledRejection', note);
    }
  });

  it('refuses any environment but the sandbox unless it is confirmed', async () => {
    await using sandbox = await startSandbox();
    const production = `  production: { baseUrl: ${sandbox.url}, apiKey: { env: KEY } }\n`;
    using project = projectOf(campaign('hello', 3), { 'handbill.yaml': PROJECT + production });
    const options = { ...at(project), env: { KEY: 'sandbox' }, environment: 'production' };
    expect(await refusal(send('hello', options))).toEqual(['not-confirmed', EXIT.refused]);
    expect(await refusal(send('hello', { ...options, confirm: () => false }))).toEqual(['not-confirmed', EXIT.refused]);
    expect(sandbox.received).toBe(0);
    const { report: made } = await send('hello', { ...options, confirm: ({ recipients }) => recipients === 3 });
    expect([made.totals.accepted, sandbox.received]).toEqual([3, 3]);
  });

  it('asks about as many recipients as it sends to, also where the whole list is decided again', async () => {
    await using sandbox = await startSandbox();
    const production = `  production: { baseUrl: ${sandbox.url}, apiKey: { env: KEY } }\n`;
    using project = projectOf(campaign('hello', 6), { 'handbill.yaml': PROJECT + production });
    const options = { ...at(project), env: { KEY: 'sandbox' }, environment: 'production' };
    const posted = async (more: Partial<SendOptions> = {}) => {
      const before = sandbox.received;
      let asked = 0;
      const confirm = ({ recipients }: { readonly recipients: number }): boolean => {
        asked = recipients;
        return true;
      };
      await send('hello', { ...options, allow: ['input-changed'], ...more, confirm });
      return [asked, sandbox.received - before];
    };
    expect(await posted({ limit: 4 })).toEqual([4, 4]);
    // Two are new, and the order is another.
    project.write('campaigns/hello/people.csv', reversed(list(8)));
    expect(await posted({ limit: 3 })).toEqual([3, 3]);
    expect(await posted()).toEqual([1, 1]);
    project.write('campaigns/hello/people.csv', list(9));
    expect(await posted()).toEqual([1, 1]);
    project.write('campaigns/hello/people.csv', list(5));
    const none = await posted().catch((error: Error) => error.message);
    expect([none, sandbox.received]).toEqual([[0, 0], 9]);
  });

  it('takes a plan file, and nothing that was said otherwise', async () => {
    using project = projectOf(campaign('hello', 3));
    const planFile = await plan('hello', { ...at(project), occurrence: 'spring' });
    const other = { ...at(project), occurrence: 'summer' };
    expect(await refusal(send(planFile, other))).toEqual(['usage', EXIT.refused]);
    expect((await send(JSON.parse(JSON.stringify(planFile)), at(project))).report.occurrence).toBe('spring');
    project.write('campaigns/hello/people.csv', list(4));
    expect(await refusal(send(planFile, at(project)))).toEqual(['input-changed', EXIT.refused]);
  });

  it('sends several campaigns at once, into one ledger and several, while others read', async () => {
    const names = ['one', 'two', 'three', 'four'];
    using project = projectOf(...names.map((name) => campaign(name, 60)));
    const options = at(project);
    const own = (name: string): SendOptions => (name === 'four' ? { ...options, ledger: 'other/ledger.db' } : options);
    let reading = true;
    let reads = 0;
    const reader = (async () => {
      while (reading) {
        reads += (await listRuns(options)).length;
        for await (const { line } of listed(outcomes('one', options))) reads += line;
        await sleep(50);
      }
    })();
    const results = await Promise.all(names.map((name) => send(name, own(name))));
    reading = false;
    await reader;
    expect(results.map(({ report: made }) => made.totals.accepted)).toEqual([60, 60, 60, 60]);
    expect(reads).toBeGreaterThan(0);
    expect((await listRuns(options)).length).toBe(3);
    expect(openIn(project.root)).toEqual([]);
  });

  it('holds its run against this process and others, also while it is read here', async () => {
    using project = projectOf(campaign('hello', 500));
    const here = { ...at(project), now: Date.now };
    const first = send('hello', { ...here, ratePerSecond: 20 });
    for await (const { posted } of first) {
      if (posted === 0) continue;
      // Whatever opens and closes files of the ledger in this process would drop its locks, if it did it wrongly.
      await listRuns(here);
      await report('hello', here);
      expect(await refusal(send('hello', here))).toEqual(['locked', EXIT.locked]);
      const other = await runCli(['send', 'hello'], { cwd: project.root, env: { HOOK: 'x' } });
      expect([other.status, other.stderr]).toEqual([EXIT.locked, expect.stringContaining('locked')]);
      break;
    }
    expect((await first).report).toMatchObject({ state: 'interrupted', totals: { inDoubt: 0 } });
  });
});

/** What a run holds, or nothing where there is none yet. */
async function* listed<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* items;
  } catch (error) {
    if (!(error instanceof HandbillError)) throw error;
  }
}
