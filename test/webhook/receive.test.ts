import { Agent } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { exchange, type Fixture, post, receiverOf, SECRET, STANDARD, signed } from './sender.ts';

const open: Fixture[] = [];

async function start(...args: Parameters<typeof receiverOf>): Promise<Fixture> {
  const receiver = await receiverOf(...args);
  open.push(receiver);
  return receiver;
}

afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const BODY = '{"messageId":"m1","status":"delivered"}';

describe('an event', () => {
  test('is held before it is answered, with 200 and an empty body', async () => {
    let held = false;
    const { url } = await start(STANDARD, [SECRET], {
      record: async () => {
        await new Promise((resolve) => setTimeout(resolve, 30));
        held = true;
      },
    });
    const reply = await post(url, BODY, signed(BODY));
    expect(held).toBe(true);
    expect(reply).toMatchObject({ status: 200, body: '', headers: { 'content-length': '0' } });
    expect(Object.keys(reply.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  test('that could not be stored is answered 503, to be sent again later', async () => {
    const { url, lines } = await start(STANDARD, [SECRET], {
      record: () => {
        throw new Error('the disk is full');
      },
    });
    const reply = await post(url, BODY, signed(BODY));
    expect(reply).toMatchObject({ status: 503, body: '', headers: { 'retry-after': '10' } });
    expect(lines).toEqual(['refused: 503, the events could not be stored']);
  });

  test('that could not be stored is taken when it comes again under its id, in other bytes too', async () => {
    let failures = 1;
    const { url } = await start(STANDARD, [SECRET], {
      record: () => {
        if (failures-- > 0) throw new Error('the disk is full');
      },
    });
    const again = BODY.replace('{', '{"attempt":2,');
    expect((await post(url, BODY, signed(BODY, { id: 'msg_1' }))).status).toBe(503);
    expect((await post(url, again, signed(again, { id: 'msg_1' }))).status).toBe(200);
    expect((await post(url, BODY, signed(BODY, { id: 'msg_1' }))).status).toBe(401);
  });

  test('that cannot be read because of a bug is kept as it is', async () => {
    const { url, events } = await start(STANDARD, [SECRET], {
      interpret: () => {
        throw new TypeError('a bug');
      },
    });
    expect((await post(url, BODY, signed(BODY))).status).toBe(200);
    expect(events()).toEqual([{ kind: 'unread', body: BODY }]);
  });

  test('comes with a BOM, or without a content type, or in pieces', async () => {
    const { url, events } = await start();
    const withMark = `\uFEFF${BODY}`;
    expect((await post(url, withMark, signed(withMark))).status).toBe(200);
    const reply = await exchange(url, { method: 'POST', headers: signed(BODY) }, (outgoing) => {
      outgoing.write(BODY.slice(0, 7));
      setTimeout(() => outgoing.end(BODY.slice(7)), 20);
    });
    expect(reply.status).toBe(200);
    expect(events()).toHaveLength(2);
  });

  test('a sender that asks before it sends its body is told to go on', async () => {
    const { url } = await start();
    const headers = { ...signed(BODY), expect: '100-continue' };
    const reply = await exchange(url, { method: 'POST', headers }, (outgoing) => {
      outgoing.on('continue', () => outgoing.end(BODY));
      outgoing.flushHeaders();
    });
    expect(reply.status).toBe(200);
  });
});

describe('requests that are none of ours', () => {
  test.each<[label: string, method: string, path: string, status: number, headers: object]>([
    ['GET', 'GET', '/webhooks', 405, { allow: 'POST' }],
    ['HEAD', 'HEAD', '/webhooks', 405, { allow: 'POST' }],
    ['PUT', 'PUT', '/webhooks', 405, { allow: 'POST' }],
    ['OPTIONS of a browser', 'OPTIONS', '/webhooks', 405, { allow: 'POST' }],
    ['another path', 'POST', '/', 404, {}],
    ['a path below', 'POST', '/webhooks/x', 404, {}],
    ['a path that begins alike', 'POST', '/webhooksx', 404, {}],
    ['a path with dots', 'POST', '/a/../etc/passwd', 404, {}],
    ['an unknown method', 'PROPFIND', '/webhooks', 405, { allow: 'POST' }],
  ])('%s', async (_label, method, path, status, headers) => {
    const { url, groups } = await start();
    const reply = await exchange(new URL(path, url).href, { method, path }, (outgoing) => outgoing.end());
    expect(reply).toMatchObject({ status, body: '', headers: { ...headers, connection: 'close' } });
    expect(groups).toEqual([]);
  });

  test('a query belongs to the path', async () => {
    const { url } = await start();
    expect((await post(`${url}?from=api`, BODY, signed(BODY))).status).toBe(200);
  });

  test.each(['gzip', 'deflate', 'br'])('a body in %s is refused: 415', async (coding) => {
    const { url } = await start();
    const reply = await post(url, BODY, { ...signed(BODY), 'content-encoding': coding });
    expect(reply).toMatchObject({ status: 415, headers: { 'accept-encoding': 'identity' } });
  });

  test.each(['garbage', '{"a":', ''])('a signed body that is not JSON is refused: 400 for %j', async (body) => {
    const { url, groups } = await start();
    expect((await post(url, body, signed(body))).status).toBe(400);
    expect(groups).toEqual([]);
  });

  test('what is refused is said once in ten seconds, without what was sent', async () => {
    let now = 1_700_000_000_000;
    const { url, lines } = await start(STANDARD, [SECRET], { now: () => now });
    for (let i = 0; i < 5; i++) await post(url, 'planted', { 'webhook-id': 'planted' });
    now += 11_000;
    await post(url, 'planted');
    await open.pop()?.close();
    expect(lines).toEqual([
      'refused: 401, the headers of a signature are missing or malformed',
      'refused: 401, the headers of a signature are missing or malformed (5 times)',
    ]);
  });
});

describe('groups', () => {
  test('requests that come in together share a commit', async () => {
    const { url, groups, events } = await start(STANDARD, [SECRET], {});
    const agent = new Agent({ keepAlive: true });
    const bodies = Array.from({ length: 50 }, (_, i) => `{"messageId":"m${i}"}`);
    const replies = await Promise.all(bodies.map((body) => post(url, body, signed(body), { agent })));
    agent.destroy();
    expect(replies.map((reply) => reply.status)).toEqual(bodies.map(() => 200));
    expect(new Set(events().map((event) => event.kind === 'unread' && event.body))).toEqual(new Set(bodies));
    expect(groups.length).toBeLessThan(25);
  });

  test('while one is recorded the next collects', async () => {
    const sizes: number[] = [];
    let free = (): void => undefined;
    const { url } = await start(STANDARD, [SECRET], {
      record: async (events) => {
        sizes.push(events.length);
        if (sizes.length === 1) await new Promise<void>((resolve) => (free = resolve));
      },
    });
    const send = (i: number) => post(url, `{"n":${i}}`, signed(`{"n":${i}}`));
    const first = send(0);
    while (sizes.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const rest = [1, 2, 3, 4].map(send);
    await new Promise((resolve) => setTimeout(resolve, 100));
    free();
    const statuses = (await Promise.all([first, ...rest])).map((reply) => reply.status);
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
    expect(sizes).toEqual([1, 4]);
  });

  test('one that fails does not make others fail', async () => {
    let calls = 0;
    const { url } = await start(STANDARD, [SECRET], {
      record: () => {
        calls++;
        if (calls === 1) throw new Error('busy');
      },
    });
    expect((await post(url, BODY, signed(BODY))).status).toBe(503);
    expect((await post(url, BODY, signed(BODY))).status).toBe(200);
  });
});

describe('the end', () => {
  test('what has come in is held and answered; nothing new is taken', async () => {
    let free = (): void => undefined;
    const receiver = await start(STANDARD, [SECRET], {
      record: () => new Promise<void>((resolve) => (free = resolve)),
    });
    const agent = new Agent({ keepAlive: true });
    const pending = post(receiver.url, BODY, signed(BODY), { agent });
    await new Promise((resolve) => setTimeout(resolve, 100));
    const closed = receiver.close();
    await expect(post(receiver.url, BODY, signed(BODY))).rejects.toThrow(/ECONNREFUSED/);
    free();
    expect(await pending).toMatchObject({ status: 200, headers: { connection: 'close' } });
    await closed;
    agent.destroy();
    open.pop();
  });

  test('a port that is taken is said', async () => {
    const { port } = await start();
    await expect(start(STANDARD, [SECRET], { port })).rejects.toMatchObject({
      exit: 2,
      diagnostics: [{ code: 'usage', hint: expect.stringContaining('--port') }],
    });
  });
});
