import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runHere } from '../helpers/here.ts';
import { measure } from './measure.ts';
import { writeCampaign, writeProject } from './project.ts';

/** Every name beside every branch. */
const ROWS = 21;
const REFERENCE = /"handbill":"([\w-]{22})"/;

interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

const received: Received[] = [];
const server = createServer(async (request, response) => {
  const body = await text(request);
  received.push({ method: request.method, url: request.url, headers: request.headers, body });
  response.writeHead(202, { 'content-type': 'application/json' });
  response.end('{"id":"m-1"}');
});
let folder = '';
let url = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'handbill-bare-'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await writeProject(folder, url);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

it('posts what handbill would post for the same list, byte by byte but for the reference', async () => {
  const campaign = await writeCampaign(folder, ROWS);
  const script = join(import.meta.dirname, 'bare-loop.ts');
  await measure(script, [url, String(ROWS)], { cwd: folder, env: { HANDBILL_API_KEY: 'bench' } });
  const { stdout, stderr } = await runHere(['preview', campaign, '--env', 'local', '--format', 'jsonl'], {
    cwd: folder,
    env: { HANDBILL_API_KEY: 'bench' },
  });
  const requests = stdout
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { request: { method: string; body: object } }).request);
  expect(requests, stderr).toHaveLength(ROWS);
  const without = (body: string): string => body.replace(REFERENCE, '"handbill":"22 characters"');
  expect(received.map(({ body }) => without(body)).toSorted()).toEqual(
    requests.map(({ body }) => without(JSON.stringify(body))).toSorted(),
  );
  for (const { body } of received) expect(body).toMatch(REFERENCE);
  for (const { method, url: path, headers } of received) {
    expect([method, path, headers['content-type'], headers['x-api-key']]).toEqual([
      'POST',
      '/v2/messages',
      'application/json',
      'bench',
    ]);
  }
});
