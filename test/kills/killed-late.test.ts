import { expect, it } from 'vitest';
import { startKillsApi } from './api.ts';
import { createKillsScene } from './campaign.ts';
import { hasFinished, SEND } from './finish.ts';
import { tripEnv } from './trip.ts';

it('a run that was killed after its last outcome is finished by the next start, which posts nothing', async () => {
  await using api = await startKillsApi();
  const address = await api.addressOf('late', { latencyMs: 0, faults: 0, busyNumber: 0 });
  using scene = createKillsScene({ address, rows: 3, concurrency: 2, timeout: '5s' });
  const killed = await scene.send(SEND, { env: tripEnv({ count: 1, only: 'UPDATE runs SET state = ?' }) });
  expect(killed.signal).toBe('SIGKILL');
  expect(scene.endings().map(({ outcome }) => outcome)).toEqual(['accepted', 'accepted', 'accepted']);
  const again = await scene.send(SEND);
  expect(again).toMatchObject({
    status: 0,
    stderr: expect.stringContaining('This occurrence is finished: nothing was posted.'),
  });
  expect(hasFinished(again)).toBe(true);
  expect(scene.violations()).toEqual([]);
});
