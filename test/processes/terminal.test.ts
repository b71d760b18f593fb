import { existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it, vi } from 'vitest';
import { type OnTerminal, onTerminal, type TerminalOptions } from '../cli/on-terminal.ts';
import { CLI, until } from '../helpers/cli.ts';
import { CANARY_KEY, createScene, type Scene } from '../oracle/scene.ts';
import { type Api, createGate, startApi } from './api.ts';

// Each test starts several processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 240_000 });

const FULL = process.env['HANDBILL_FULL'] === '1';
const SEND = ['send', 'campaign.yaml', '--env', 'test'];

function sceneOf(api: Api): Scene {
  return createScene({ rows: 20, baseUrl: api.url, receipts: api.receipts, campaign: 'send: { concurrency: 4 }' });
}

/** Sends on a terminal, with a user at the keyboard. */
async function sendOnTerminal(
  scene: Scene,
  args: readonly string[] = [],
  { script = CLI, ...options }: TerminalOptions & { readonly script?: string } = {},
): Promise<OnTerminal> {
  const env = { HANDBILL_API_KEY: CANARY_KEY };
  return await onTerminal(script, [...SEND, ...args], { cwd: scene.root, env, ...options });
}

describe.runIf(FULL)('on a terminal, while the question waits (I2)', () => {
  it.each<[label: string, act: 'type' | NodeJS.Signals, keys: string, status: number]>([
    ['Ctrl-C', 'type', '\u0003', 130],
    ['Ctrl-D', 'type', '\u0004', 2],
    ['no', 'type', 'no\r', 2],
    ['SIGTERM', 'SIGTERM', '', 143],
    ['SIGINT', 'SIGINT', '', 130],
    ['SIGHUP', 'SIGHUP', '', 129],
    ['SIGQUIT', 'SIGQUIT', '', 130],
  ])('%s: nothing is posted, nothing is left', async (_label, act, keys, status) => {
    await using api = await startApi();
    using scene = sceneOf(api);
    const asked = await sendOnTerminal(scene);
    await until('the question', () => asked.screen().includes('Type "yes"'));
    if (act === 'type') asked.type(keys);
    else asked.kill(act);
    const ended = await asked.done;
    expect(ended, ended.screen).toMatchObject({ status });
    expect(ended.screen).toContain('Nothing was sent');
    expect(api.received()).toBe(0);
    expect(scene.endings()).toEqual([]);
    expect(await scene.send()).toMatchObject({ status: 0 });
    expect(scene.violations()).toEqual([]);
  });

  it.each(['yes', 'y'])('%s: it is sent', async (word) => {
    await using api = await startApi();
    using scene = sceneOf(api);
    const asked = await sendOnTerminal(scene);
    await until('the question', () => asked.screen().includes('Type "yes"'));
    asked.type(`${word}\r`);
    const ended = await asked.done;
    expect(ended, ended.screen).toMatchObject({ status: 0 });
    expect(scene.violations()).toEqual([]);
  });

  it('the terminal is gone: nothing is posted', async () => {
    await using api = await startApi();
    using scene = sceneOf(api);
    const asked = await sendOnTerminal(scene);
    await until('the question', () => asked.screen().includes('Type "yes"'));
    asked.hangUp();
    await until('the end', () => asked.ended());
    expect(api.received()).toBe(0);
    expect(await scene.send()).toMatchObject({ status: 0 });
    expect(scene.violations()).toEqual([]);
  });
});

describe.runIf(FULL)('on a terminal, while the run goes on (I2, I4)', () => {
  it('Ctrl-C twice: what is in flight is in doubt', async () => {
    await using api = await startApi((number) => (number > 6 ? { after: new Promise(() => undefined) } : {}));
    using scene = sceneOf(api);
    const sender = await sendOnTerminal(scene, ['--yes']);
    await until('four in flight', () => api.received() === 10);
    sender.type('\u0003');
    await until('the word of it', () => sender.screen().includes('once more'));
    sender.type('\u0003');
    expect((await sender.done).status).toBe(130);
    expect(scene.violations()).toEqual([]);
    expect(scene.endings().filter(({ reason }) => reason === 'stopped')).toHaveLength(4);
  });

  it('the terminal is gone (SIGHUP, and EIO for all that is written): what is in flight is finished', async () => {
    const gate = createGate();
    await using api = await startApi((number) => (number > 6 ? { after: gate.opened } : {}));
    using scene = sceneOf(api);
    const sender = await sendOnTerminal(scene, ['--yes']);
    await until(
      'four in flight and the progress line',
      () => api.received() === 10 && sender.screen().includes(' of '),
    );
    sender.hangUp();
    // More than one line of progress, each with its error.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(sender.ended()).toBe(false);
    gate.open();
    await until('the end', () => sender.ended());
    expect(scene.violations()).toEqual([]);
    const counts = Map.groupBy(scene.endings(), ({ outcome }) => outcome);
    expect({ accepted: counts.get('accepted')?.length, pending: counts.get('pending')?.length }).toEqual({
      accepted: 10,
      pending: 10,
    });
    const report = await scene.run(['report', '--format', 'json']);
    expect(JSON.parse(report.stdout)).toMatchObject({ state: 'interrupted' });
    expect(await scene.send()).toMatchObject({ status: 0 });
    expect(scene.violations()).toEqual([]);
  });
});

const OLD_NODE = '/usr/bin/node';

describe.runIf(existsSync(OLD_NODE))('under an older Node, which starts the right one', () => {
  it('Ctrl-C reaches the send once, so that what is in flight is finished', async () => {
    const gate = createGate();
    await using api = await startApi((number) => (number > 6 ? { after: gate.opened } : {}));
    using scene = sceneOf(api);
    const built = join(import.meta.dirname, '..', '..', 'dist', 'cli.js');
    const sender = await sendOnTerminal(scene, ['--yes'], { script: built, node: OLD_NODE });
    await until('four in flight', () => api.received() === 10);
    sender.type('\u0003');
    await until('the word of it', () => sender.screen().includes('once more'));
    gate.open();
    expect((await sender.done).status).toBe(130);
    expect(scene.violations()).toEqual([]);
    expect(scene.endings().filter(({ reason }) => reason === 'stopped')).toEqual([]);
  });
});
