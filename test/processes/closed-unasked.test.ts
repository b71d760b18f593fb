import { afterEach, expect, it, vi } from 'vitest';
import { answer, type RawServer, startRawServer } from '../helpers/raw-server.ts';
import { createScene, type Scene } from '../oracle/scene.ts';

// Each test starts processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 });

const open: (RawServer | Scene)[] = [];

afterEach(async () => {
  for (const thing of open.splice(0)) await ('behaviour' in thing ? thing.close() : thing[Symbol.dispose]());
});

it.each([
  // Not even the same turn of the event loop; long enough that the next request is on its way.
  [0, 1],
  [3, 1],
  [0, 16],
  [3, 16],
])(
  'an API that closes each connection %i ms after its answer, concurrency %i: few doubts, and said once (C4)',
  async (afterMs, concurrency) => {
    let number = 0;
    const server = await startRawServer({
      behaviour(request) {
        number += 1;
        answer(202, `{"id":"m-${number}"}`)(request);
        setTimeout(() => request.socket.end(), afterMs);
      },
    });
    const scene = createScene({
      rows: 400,
      baseUrl: `http://127.0.0.1:${server.port}`,
      receipts: '/nowhere',
      campaign: `send: { concurrency: ${concurrency}, timeout: 10s }`,
    });
    open.push(server, scene);
    const sent = await scene.send();
    expect(sent.stderr.match(/warning\[connection-limit\]/g)).toHaveLength(1);
    const inDoubt = () => scene.endings().filter(({ outcome }) => outcome === 'in-doubt');
    // Those that were on their way when it was seen, and those that took their place before that.
    const most = 2 * concurrency;
    expect(inDoubt().length).toBeLessThanOrEqual(most);
    // On a busy machine five of them may have no answer in between, which halts the start (rule `doubt`): the next one
    // sends to the others, and finds out again.
    let { status } = sent;
    for (let starts = 1; status === 5; starts += 1) {
      expect(inDoubt().length, sent.stdout).toBeGreaterThanOrEqual(5 * starts);
      ({ status } = await scene.send());
      expect(inDoubt().length).toBeLessThanOrEqual(most * (starts + 1));
    }
    expect([0, 4], sent.stderr).toContain(status);
    const doubts = inDoubt();
    expect(scene.endings().filter(({ outcome }) => outcome === 'accepted')).toHaveLength(400 - doubts.length);
  },
);
