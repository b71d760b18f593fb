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
  'C4: an API that closes each connection %i ms after its answer, concurrency %i: few doubts, and said once',
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
    expect([0, 4], sent.stderr).toContain(sent.status);
    expect(sent.stderr.match(/warning\[connection-limit\]/g)).toHaveLength(1);
    const doubts = scene.endings().filter(({ outcome }) => outcome === 'in-doubt');
    // Those that were on their way when it was seen.
    expect(doubts.length).toBeLessThanOrEqual(concurrency === 1 ? 2 : 6);
    expect(scene.endings().filter(({ outcome }) => outcome === 'accepted')).toHaveLength(400 - doubts.length);
  },
);
