import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { ENDINGS, endingOf } from '../../src/sandbox/endings.ts';
import type { Sandbox } from '../../src/sandbox/options.ts';
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

describe('a number that ends like a status gets that status', () => {
  const statuses = ENDINGS.filter(({ digits, answer }) => answer?.status === Number(digits) && digits !== '429');
  test.each(statuses)('$digits', async ({ digits, answer: { headers = {} } = {} }) => {
    const status = Number(digits);
    const answer = await post(messageTo(numberOf(digits)));
    const text = await answer.body.text();
    expect(answer.statusCode).toBe(Number(digits));
    for (const [name, value] of Object.entries(headers)) {
      expect(answer.headers[name.toLowerCase()]).toBe(value);
    }
    if (status === 200 || status === 201) {
      expect(JSON.parse(text)).toEqual({ id: expect.stringMatching(/^sbx-/), status: 'accepted' });
    } else if (status < 400) expect(text).toBe('');
    else {
      expect(answer.headers['content-type']).toBe('application/problem+json');
      expect(JSON.parse(text)).toMatchObject({ type: 'about:blank', status, title: expect.any(String) });
    }
  });
});

describe('throttled', () => {
  test.each([
    ['429', '1'],
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

  it('every fault of the table is tried above', () => {
    const faults = ENDINGS.map(({ digits }) => digits).filter((digits) => /^9(?!99)/.test(digits));
    expect(faults).toEqual(Array.from({ length: 9 }, (_, i) => String(901 + i)));
  });
});

describe('whose numbers choose', () => {
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
    expect(endingOf(msisdn, whose)?.digits).toBe(digits);
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
  expect(new Set(ENDINGS.map(({ digits }) => digits)).size).toBe(ENDINGS.length);
  expect(ENDINGS.map(({ digits }) => digits)).toEqual(ENDINGS.map(({ digits }) => digits).toSorted());
  for (const { digits, answers, becomes } of ENDINGS) {
    expect(digits).toMatch(/^\d{3}$/);
    if (digits !== '999') expect(answers).not.toContain('Unknown Status');
    expect(becomes).not.toBe('');
  }
});
