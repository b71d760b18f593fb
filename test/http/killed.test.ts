import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { afterMs, answer, startRawServer } from '../helpers/raw-server.ts';

const SCRIPT = fileURLToPath(new URL('deliver-until-killed.ts', import.meta.url));

/** Runs the script, kills it after so many claims, and returns the claims without an answer and those of them that were received. */
async function kill(claims: number): Promise<{ readonly doubts: number; readonly received: number }> {
  const server = await startRawServer({ behaviour: afterMs(50, answer(202, '{"id":"m"}')) });
  const child = spawn(process.execPath, [SCRIPT, server.url], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  const numbers = (word: string) =>
    new Set([...said.matchAll(new RegExp(`^${word} ([0-9]+)$`, 'gm'))].map(([, n]) => n));
  child.stdout.on('data', (chunk) => {
    said += String(chunk);
    if (numbers('claim').size >= claims) child.kill('SIGKILL');
  });
  await once(child, 'close');
  // What the killed process had sent is read to its end, however busy the machine is.
  await expect.poll(() => server.openConnections, { timeout: 10_000 }).toBe(0);
  const received = new Set(server.requests.map(({ body }) => body));
  await server.close();
  const done = numbers('done');
  const doubts = [...numbers('claim')].filter((number) => !done.has(number));
  return { doubts: doubts.length, received: doubts.filter((n) => received.has(`{"number":${n}}`)).length };
}

it('leaves claims that were received, but for the one that was being posted, when it is killed (rule 9)', async () => {
  const kills = [await kill(40), await kill(45), await kill(50), await kill(55), await kill(60)];
  expect(kills.reduce((sum, one) => sum + one.doubts, 0)).toBeGreaterThan(20);
  for (const { doubts, received } of kills) {
    expect(doubts).toBeLessThanOrEqual(16);
    expect(doubts - received).toBeLessThanOrEqual(1);
  }
});

it('has sent its request by the time that post returns', async () => {
  const server = await startRawServer();
  const child = spawn(process.execPath, [SCRIPT, server.url, 'at-once'], { stdio: 'ignore' });
  await once(child, 'close');
  await expect.poll(() => server.openConnections, { timeout: 10_000 }).toBe(0);
  expect(server.requests.map(({ body }) => body)).toEqual(['{"number":0}', '{"number":1}']);
  expect(server.connections).toBe(1);
  await server.close();
});
