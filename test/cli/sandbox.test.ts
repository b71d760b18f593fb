import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CLI } from '../helpers/cli.ts';

const BODY = JSON.stringify({
  channel: 'SMS',
  from: 'Riverside',
  recipients: [{ msisdn: '+447700900001' }],
  body: { text: 'Hello' },
});

test.each([
  ['the public key', {}, 'sandbox', 'SIGINT'],
  ['a key of its own, which is not shown', { HANDBILL_API_KEY: 'k-91ab-secret' }, 'k-91ab-secret', 'SIGTERM'],
] as const)('serves with %s until it is stopped, exit 0', async (_label, env, key, signal) => {
  const folder = await mkdtemp(join(tmpdir(), 'handbill-sandbox-'));
  const args = [CLI, 'sandbox', '--port', '0', '--receipts', 'received.jsonl'];
  const child = spawn(process.execPath, args, { cwd: folder, env: { PATH: process.env['PATH'], ...env } });
  let out = '';
  child.stdout.on('data', (text) => {
    out += text;
  });
  while (!out.includes('Ctrl-C')) await once(child.stdout, 'data');
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(out)?.[0];
  const post = (apiKey: string) =>
    fetch(`${url}/v2/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
      body: BODY,
    });
  expect((await post('wrong')).status).toBe(401);
  expect((await post(key)).status).toBe(202);
  child.kill(signal);
  const [status] = await once(child, 'close');
  expect(status).toBe(0);
  expect(out).not.toContain('k-91ab-secret');
  expect(await readFile(join(folder, 'received.jsonl'), 'utf8')).toContain('+447700900001');
  await rm(folder, { recursive: true });
});
