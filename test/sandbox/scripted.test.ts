import { gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/options.ts';
import { SCENARIOS, type Scenario, scenarioFor } from '../../src/sandbox/scenarios.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { messageTo } from './message.ts';
import { rawPost, sendRaw } from './send-raw.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 9, 0, 0);
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ apiKey: 'test-key', now: () => NOW_MS });
});
afterAll(() => sandbox.close());

async function post(message: unknown): ReturnType<typeof request> {
  const headers = { 'x-api-key': 'test-key', 'content-type': 'application/json' };
  return await request(`${sandbox.url}/v2/messages`, { method: 'POST', headers, body: JSON.stringify(message) });
}

function numberOf(digits: string): string {
  return `+447700900${digits}`;
}

function scenariosOf<K extends Scenario['play']['kind']>(
  kind: K,
): { digits: string; play: Extract<Scenario['play'], { kind: K }> }[] {
  return SCENARIOS.flatMap(({ digits, play }) =>
    play.kind === kind ? [{ digits, play: play as Extract<Scenario['play'], { kind: K }> }] : [],
  );
}

describe('a number that ends like a status gets that status', () => {
  test.each(scenariosOf('status'))('$digits', async ({ digits, play }) => {
    const answer = await post(messageTo(numberOf(digits)));
    const text = await answer.body.text();
    expect(answer.statusCode).toBe(Number(digits));
    for (const [name, value] of Object.entries(play.headers)) {
      expect(answer.headers[name.toLowerCase()]).toBe(value);
    }
    if (play.status === 200 || play.status === 201) {
      expect(JSON.parse(text)).toEqual({ id: expect.stringMatching(/^sbx-/), status: 'accepted' });
    } else if (play.status < 400) expect(text).toBe('');
    else {
      expect(answer.headers['content-type']).toBe('application/problem+json');
      expect(JSON.parse(text)).toMatchObject({ type: 'about:blank', status: play.status, title: expect.any(String) });
    }
  });
});

describe('throttled', () => {
  test.each([
    ['429', '1'],
    ['432', 'Sat, 21 Nov 2026 09:00:02 GMT'],
    ['433', undefined],
  ])('%s refuses a request once, and takes the same one when it comes again', async (digits, retryAfter) => {
    const message = { ...messageTo(numberOf(digits)), name: `once ${digits}` };
    const first = await post(message);
    expect([first.statusCode, first.headers['retry-after']]).toEqual([429, retryAfter]);
    const other = await post({ ...message, name: 'another message' });
    expect(other.statusCode).toBe(429);
    const again = await post(message);
    expect(again.statusCode).toBe(202);
    expect(await again.body.json()).toMatchObject({ id: expect.any(String) });
    const third = await post(message);
    expect(third.statusCode).toBe(429);
    await Promise.all([first, other, third].map(({ body }) => body.dump()));
  });

  test.each([
    ['430', '1'],
    ['434', '3600'],
  ])('%s refuses every time', async (digits, retryAfter) => {
    for (let i = 0; i < 3; i += 1) {
      const answer = await post(messageTo(numberOf(digits)));
      await answer.body.dump();
      expect([answer.statusCode, answer.headers['retry-after']]).toEqual([429, retryAfter]);
    }
  });
});

describe('faults', () => {
  async function raw(digits: string, waitMs?: number): ReturnType<typeof sendRaw> {
    return await sendRaw(sandbox, rawPost(sandbox, JSON.stringify(messageTo(numberOf(digits)))), waitMs);
  }

  it('901 resets without an answer', async () => {
    expect(await raw('901')).toEqual({ text: '', end: 'reset' });
  });

  it('902 never answers', async () => {
    expect(await raw('902', 700)).toEqual({ text: '', end: 'waiting' });
  });

  it('903 accepts after three seconds', async () => {
    const start = performance.now();
    const answer = await post(messageTo(numberOf('903')));
    expect(answer.statusCode).toBe(202);
    expect(await answer.body.json()).toMatchObject({ status: 'accepted' });
    expect(performance.now() - start).toBeGreaterThan(2_900);
  });

  it('904 answers with a page', async () => {
    const answer = await post(messageTo(numberOf('904')));
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(await answer.body.text()).toContain('<h1>');
  });

  it('905 accepts without a body', async () => {
    const answer = await post(messageTo(numberOf('905')));
    expect([answer.statusCode, answer.headers['content-length'], await answer.body.text()]).toEqual([202, '0', '']);
  });

  it('906 sends half of the answer, then resets', async () => {
    const { text, end } = await raw('906');
    expect(end).toBe('reset');
    expect(text).toMatch(/^HTTP\/1\.1 202 [\s\S]*\r\n\r\n\{"id":"sbx-/);
    const length = Number(/Content-Length: (\d+)/.exec(text)?.[1]);
    expect(text.split('\r\n\r\n')[1]?.length).toBe(Math.floor(length / 2));
  });

  it('907 closes without an answer', async () => {
    expect(await raw('907')).toEqual({ text: '', end: 'closed' });
  });

  it('908 accepts without an id', async () => {
    const answer = await post(messageTo(numberOf('908')));
    expect([answer.statusCode, await answer.body.text()]).toEqual([202, '{}']);
  });

  it('909 answers in plain text', async () => {
    const answer = await post(messageTo(numberOf('909')));
    expect([answer.headers['content-type'], await answer.body.text()]).toEqual(['text/plain', 'OK']);
  });

  it('910 does not speak HTTP', async () => {
    const { text, end } = await raw('910');
    expect(text).not.toMatch(/^HTTP/);
    expect([text.length > 0, end]).toEqual([true, 'closed']);
  });

  it('911 sends interim answers first', async () => {
    const { text } = await raw('911', 500);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 102', 'HTTP/1.1 102', 'HTTP/1.1 102', 'HTTP/1.1 202']);
    expect(text).toContain('"status":"accepted"');
  });

  it('912 answers with a mebibyte', async () => {
    const answer = await post(messageTo(numberOf('912')));
    expect((await answer.body.text()).length).toBe(1_048_576);
  });

  it('913 compresses unasked', async () => {
    const answer = await post(messageTo(numberOf('913')));
    expect(answer.headers['content-encoding']).toBe('gzip');
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    expect(JSON.parse(gunzipSync(bytes).toString())).toMatchObject({ status: 'accepted' });
  });

  it('914 never ends its body', async () => {
    const { text, end } = await raw('914', 900);
    expect(end).toBe('waiting');
    expect(text).toMatch(/^HTTP\/1\.1 202 [\s\S]*\r\n\r\n1\r\n\{\r\n(?:1\r\n \r\n){2,}$/);
  });

  it('every fault of the table is tried above', () => {
    expect(scenariosOf('fault').map(({ digits }) => digits)).toEqual(
      Array.from({ length: 14 }, (_, i) => String(901 + i)),
    );
  });
});

describe('whose numbers play', () => {
  test.each([
    ['+447700900500', 'reserved', '500'],
    ['447700900500', 'reserved', '500'],
    ['+447700900123', 'reserved', undefined],
    ['+447911123500', 'reserved', undefined],
    ['+4477009005000', 'reserved', undefined],
    ['+447911123500', 'all', '500'],
    ['+12025550199', 'all', undefined],
    ['+447700900500', 'none', undefined],
  ] as const)('%s with %s: %s', (msisdn, whose, digits) => {
    expect(scenarioFor(msisdn, whose)?.digits).toBe(digits);
  });

  it('accepts real numbers that end like a status', async () => {
    const answer = await post(messageTo('+447911123401'));
    await answer.body.dump();
    expect(answer.statusCode).toBe(202);
  });

  it('plays the first script among several recipients', async () => {
    const answer = await post(messageTo('+447700900123', '+447700900503', '+447700900401'));
    await answer.body.dump();
    expect(answer.statusCode).toBe(503);
  });
});

it('has each ending once, and says what it is', () => {
  expect(new Set(SCENARIOS.map(({ digits }) => digits)).size).toBe(SCENARIOS.length);
  for (const { digits, answers, becomes } of SCENARIOS) {
    expect(digits).toMatch(/^\d{3}$/);
    if (digits !== '999') expect(answers).not.toContain('Unknown Status');
    expect(becomes).not.toBe('');
  }
});
