import { describe, expect, it, vi } from 'vitest';
import { until } from '../helpers/cli.ts';
import { createScene, type Scene } from '../oracle/scene.ts';
import { type Api, startApi } from './api.ts';

// Each test starts several processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 });

function sceneOf(api: Api, canary: string): Scene {
  const campaign = `send: { concurrency: 4, canary: ${canary} }`;
  return createScene({ rows: 40, baseUrl: api.url, receipts: api.receipts, campaign });
}

function countOf(scene: Scene, outcome: string): number {
  return scene.endings().filter((ending) => ending.outcome === outcome).length;
}

const NEVER = new Promise<never>(() => undefined);

describe('a canary whose process is killed', () => {
  it('in the pause has sent to no recipient beyond the step, and waits for the rest of the pause', async () => {
    await using api = await startApi();
    using scene = sceneOf(api, '{ steps: 10, pause: 4s }');
    const sender = scene.start();
    await until('the end of the step', () => api.received() === 10 && countOf(scene, 'accepted') === 10);
    const paused = Date.now();
    sender.kill('SIGKILL');
    expect((await sender.done).signal).toBe('SIGKILL');
    expect(api.received()).toBe(10);

    const next = scene.start();
    await until('the rest', () => api.received() > 10);
    expect(Date.now() - paused).toBeGreaterThan(3000);
    expect(await next.done).toMatchObject({ status: 0 });
    expect(countOf(scene, 'accepted')).toBe(40);
    expect(scene.violations()).toEqual([]);
  });

  it('at the gate is there again, and doubts count against it until they are resolved', async () => {
    await using api = await startApi((number) => (number === 10 ? { after: NEVER } : {}));
    using scene = sceneOf(api, '{ steps: 10, gate: { accepted: 95% } }');
    const sender = scene.start();
    await until('the last of the step', () => api.received() === 10 && countOf(scene, 'accepted') === 9);
    sender.kill('SIGKILL');
    await sender.done;

    for (const _ of [1, 2]) {
      const shut = await scene.send();
      expect(shut.status).toBe(5);
      expect(shut.stdout).toMatch(
        /90%\s+of\s+the\s+first\s+10\s+recipients\s+were\s+accepted\s+\(9,\s+1\s+in\s+doubt\)/,
      );
      expect(api.received()).toBe(10);
      expect(countOf(scene, 'pending')).toBe(30);
    }
    expect(await scene.look(['doubt', 'resolve', 'proof', '--all', '--as', 'accepted', '--yes'])).toMatchObject({
      status: 0,
    });
    expect(await scene.goOn()).toMatchObject({ status: 0 });
    expect(api.received()).toBe(40);
  });

  it.each([1, 4, 9])('after request %d, whatever was lost: the step is not gone beyond', async (last) => {
    await using api = await startApi((number) => {
      if (number === last) return { after: NEVER };
      return { status: number === 2 ? 400 : 202 };
    });
    using scene = sceneOf(api, '10');
    const sender = scene.start();
    await until('the request', () => api.received() >= last);
    sender.kill('SIGKILL');
    await sender.done;
    expect((await scene.send()).status).toBe(5);
    // A claim that was killed before its request had left is in doubt like any other.
    expect(api.received()).toBeLessThanOrEqual(10);
    expect(countOf(scene, 'pending')).toBe(30);
    expect(scene.violations()).toEqual([]);
  });
});
