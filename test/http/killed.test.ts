import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { afterMs, answer, startRawServer } from '../helpers/raw-server.ts';

const SCRIPT = fileURLToPath(new URL('deliver-until-killed.ts', import.meta.url));

/** Runs the script, kills it after `ms`, and returns the claims without an answer and those of them that were received. */
async function kill(ms: number): Promise<{ readonly doubts: number; readonly received: number }> {
  const server = await startRawServer({ behaviour: afterMs(15, answer(202, '{"id":"m"}')) });
  const child = spawn(process.execPath, [SCRIPT, server.url], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += String(chunk);
  });
  await once(child.stdout, 'data');
  await new Promise((done) => setTimeout(done, ms));
  child.kill('SIGKILL');
  await once(child, 'close');
  await new Promise((done) => setTimeout(done, 30));
  const received = new Set(server.requests.map(({ body }) => body));
  await server.close();
  const numbers = (word: string) =>
    new Set([...said.matchAll(new RegExp(`^${word} ([0-9]+)$`, 'gm'))].map(([, n]) => n));
  const done = numbers('done');
  const doubts = [...numbers('claim')].filter((number) => !done.has(number));
  return { doubts: doubts.length, received: doubts.filter((n) => received.has(`{"number":${n}}`)).length };
}

it('leaves claims that were received, nearly all, when it is killed (rule 9)', async () => {
  const kills = await Promise.all(Array.from({ length: 5 }, (_, i) => kill(100 + i * 23)));
  const doubts = kills.reduce((sum, one) => sum + one.doubts, 0);
  const received = kills.reduce((sum, one) => sum + one.received, 0);
  expect(doubts).toBeGreaterThan(20);
  expect(Math.max(...kills.map((one) => one.doubts))).toBeLessThanOrEqual(16);
  expect(received / doubts).toBeGreaterThanOrEqual(0.95);
});

it('has sent its request by the time that post returns', async () => {
  const server = await startRawServer();
  const child = spawn(process.execPath, [SCRIPT, server.url, 'at-once'], { stdio: 'ignore' });
  await once(child, 'close');
  await new Promise((done) => setTimeout(done, 50));
  expect(server.requests.map(({ body }) => body)).toEqual(['{"number":0}', '{"number":1}']);
  expect(server.connections).toBe(1);
  await server.close();
});
