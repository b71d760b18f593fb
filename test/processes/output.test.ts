import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import process from 'node:process';
import { describe, expect, it, vi } from 'vitest';
import { until } from '../helpers/cli.ts';
import { createScene, type Scene } from '../oracle/scene.ts';
import { type Api, createGate, pause, startApi } from './api.ts';

// Each test starts several processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 240_000 });

const FULL = process.env['HANDBILL_FULL'] === '1';
const ROWS = 20;

function sceneOf(api: Api): Scene {
  return createScene({ rows: ROWS, baseUrl: api.url, receipts: api.receipts, campaign: 'send: { concurrency: 4 }' });
}

function expectAllAccepted(scene: Scene): void {
  expect(scene.violations()).toEqual([]);
  expect(scene.endings().filter(({ outcome }) => outcome === 'accepted')).toHaveLength(ROWS);
}

const shell = (script: string): readonly string[] => ['bash', '-c', script, 'shell'];

describe('the sending goes on, whatever becomes of the output (I4)', () => {
  const outputs: (readonly [label: string, script: string])[] = [
    ['| head -1', 'set -o pipefail; "$@" | head -1'],
    ['stdin, stdout and stderr closed', 'exec "$@" <&- >&- 2>&-'],
    ['both on a full disk', 'exec "$@" >/dev/full 2>/dev/full'],
  ];
  if (FULL) {
    outputs.push(
      ['a reader that is gone before anything is printed', 'set -o pipefail; "$@" | true'],
      ['stdout closed', 'exec "$@" >&-'],
      ['stderr closed', 'exec "$@" 2>&-'],
    );
  }
  it.each(outputs)('%s', async (_label, script) => {
    await using api = await startApi();
    using scene = sceneOf(api);
    const sent = await scene.send([], { via: shell(script) });
    expect(sent, sent.stderr).toMatchObject({ status: 0, signal: null, stderr: '' });
    expectAllAccepted(scene);
  });

  it('stdout on a full disk: it is said, and the exit status is that of the run', async () => {
    await using api = await startApi();
    using scene = sceneOf(api);
    const sent = await scene.send(['--format', 'json'], { via: shell('exec "$@" >/dev/full') });
    expect(sent, sent.stderr).toMatchObject({ status: 0 });
    expect(sent.stderr).toMatch(/could not be written: ENOSPC.*handbill report/);
    expectAllAccepted(scene);
    // Where the output is all that a command does, it is an error.
    const report = await scene.run(['report'], { via: shell('exec "$@" >/dev/full') });
    expect(report, report.stderr).toMatchObject({ status: 2 });
    expect(report.stderr).toContain('error[output-exists]');
  });

  it('stderr on a full disk, and there is something to say: a signal, and doubts of an earlier start', async () => {
    const gate = createGate();
    await using api = await startApi((number) => {
      if (number > 6 && number <= 10) return { after: new Promise(() => undefined) };
      return number === 11 ? { after: gate.opened } : {};
    });
    using scene = sceneOf(api);
    const killed = scene.start();
    await until('four in flight', () => api.received() === 10);
    killed.kill('SIGKILL');
    await killed.done;
    const interrupted = scene.start([], { via: shell('exec "$@" 2>/dev/full') });
    await until('it to go on', () => api.received() === 11);
    interrupted.kill('SIGTERM');
    await pause(200);
    gate.open();
    // 4: on a machine so busy that the signal came after the end.
    expect(await interrupted.done).toMatchObject({ status: expect.toBeOneOf([143, 4]), signal: null });
    expect(await scene.send([], { via: shell('exec "$@" 2>/dev/full') })).toMatchObject({ status: 4 });
    expect(scene.violations({ mostCrashes: 4 })).toEqual([]);
    expect(scene.endings().filter(({ outcome }) => outcome === 'in-doubt')).toHaveLength(4);
  });

  it('a full pipe without a reader: everything is sent and recorded, and the run is unlocked', async () => {
    await using api = await startApi();
    using scene = sceneOf(api);
    const fifo = scene.path('fifo');
    execFileSync('mkfifo', [fifo]);
    const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
    const filler = openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK);
    const writer = openSync(fifo, constants.O_WRONLY);
    let filled = 0;
    try {
      for (;;) filled += writeSync(filler, Buffer.alloc(4096));
    } catch {
      // Full.
    }
    expect(filled).toBeGreaterThan(0);
    const sender = scene.start([], { stdout: writer });
    closeSync(writer);
    closeSync(filler);
    await until('all of them', () => scene.endings().filter(({ outcome }) => outcome === 'accepted').length === ROWS);
    // It still waits to print, which does not block the run.
    const again = await scene.send();
    expect(again, again.stderr).toMatchObject({ status: 0 });
    expect(again.stderr).toContain('nothing was posted');
    const text = await drain(reader, sender.done);
    expect(await sender.done).toMatchObject({ status: 0, stderr: '' });
    expect(text).toContain(`${ROWS} of ${ROWS} sent`);
    expectAllAccepted(scene);
  });
});

/** Reads until the writer has ended. */
async function drain(reader: number, ended: Promise<unknown>): Promise<string> {
  const chunk = Buffer.alloc(65_536);
  let text = '';
  let open = true;
  void ended.then(() => {
    open = false;
  });
  for (;;) {
    const last = !open;
    try {
      const length = readSync(reader, chunk);
      text += chunk.toString('utf8', 0, length);
      if (length === 0 && last) break;
    } catch {
      // Nothing there yet.
      if (last) break;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  closeSync(reader);
  return text.replaceAll('\0', '');
}
