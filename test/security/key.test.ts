import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTarget, type Target } from '../fuzz/target.ts';
import { CLI, startCli, until } from '../helpers/cli.ts';
import { answer, type RawServer, startRawServer } from '../helpers/raw-server.ts';
import { CANARY_KEY, createScene, type Scene } from '../oracle/scene.ts';
import { canaryIn } from './canary.ts';

let target: Target;
let server: RawServer;
beforeAll(async () => {
  target = startTarget();
  server = await startRawServer();
});
afterAll(async () => {
  await target[Symbol.asyncDispose]();
  await server.close();
});

const SEND = ['send', 'campaign.yaml', '--env', 'test', '--yes'];

function sceneAt(baseUrl: string): Scene {
  return createScene({ rows: 3, baseUrl, receipts: '/nowhere' });
}

async function run(scene: Scene, args: readonly string[] = SEND, env: Readonly<Record<string, string>> = {}) {
  return await target.run({ cwd: scene.root, args, env: { HANDBILL_API_KEY: CANARY_KEY, ...env } });
}

describe('where the key goes', () => {
  it.each([301, 302, 303, 307, 308])(
    '%i to another host is not followed: it sees no connection (S1)',
    async (status) => {
      const elsewhere = await startRawServer();
      const redirecting = await startRawServer({
        behaviour: answer(status, '', { location: `http://localhost:${elsewhere.port}/v2/messages` }),
      });
      using scene = sceneAt(`http://127.0.0.1:${redirecting.port}`);
      const { status: exit, stdout } = await run(scene);
      expect({ exit, requests: redirecting.requests.length }).toEqual({ exit: 5, requests: 1 });
      expect(stdout).toContain(status < 307 ? 'unclear' : 'not tried yet');
      expect(elsewhere.connections).toBe(0);
      await Promise.all([redirecting.close(), elsewhere.close()]);
    },
  );

  it('only the server of the base URL gets the key (S1)', async () => {
    using scene = sceneAt(`http://127.0.0.1:${server.port}`);
    expect((await run(scene)).status).toBe(0);
    const heads = server.requests.map(({ head }) => head);
    expect(heads).toHaveLength(3);
    for (const head of heads) expect(/^x-api-key: (.*)$/im.exec(head)?.[1]).toBe(CANARY_KEY);
  });

  it.each([
    'http://example.test',
    'http://127.0.0.1.evil.test',
    'http://localhost.evil.test',
    'http://127.0.0.1.evil.test:PORT',
    'http://localhost.:PORT',
    'http://10.0.0.1:PORT',
    'http://0.0.0.0:PORT',
  ])('plain http to anything but this machine is refused: %s (S2)', async (baseUrl) => {
    await refused(baseUrl, 'plain http|dot');
  });

  it('NODE_TLS_REJECT_UNAUTHORIZED=0 is refused before any connection (S3)', async () => {
    const { connections } = server;
    using scene = sceneAt(`https://localhost:${server.port}`);
    const { status, stderr } = await run(scene, SEND, { NODE_TLS_REJECT_UNAUTHORIZED: '0' });
    expect(stderr).toContain('error[tls-verification-off]');
    expect({ status, connections: server.connections }).toEqual({ status: 2, connections });
  });

  it.each([
    'https://api.x@evil',
    'https://127.0.0.1:PORT@evil',
    'https://api.x\\@evil',
    'https:\\\\127.0.0.1:PORT',
    '//evil',
    'https:evil',
    'https:///evil',
    'http://0x7f.1:PORT',
    'http://127.1:PORT',
    'http://2130706433:PORT',
    'http://0177.0.0.1:PORT',
    'http://[fe80::1%25eth0]:PORT',
    'http://[::ffff:127.0.0.1]:PORT',
    'http://127.0.0.1.:PORT',
    'https://api.example.com.',
    'http://127.0.0.1:PORT/?key=1',
    'http://127.0.0.1:PORT/#top',
    'http://127.0.0.1:PORT/a/../b',
    'http://127.0.0.1:PORT/%2e%2e/b',
    'http://127.0.0.1:PORT//evil',
    'ftp://127.0.0.1:PORT',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'https://api.ex%61mple.com',
    'http://127.0.0.1:PORT\\u0000',
    'http://127.0.0.1:PORT\\r\\nx-evil: 1',
    'http://١٢٧.0.0.1:PORT',
  ])('refused as a base URL: %s (S4)', async (baseUrl) => {
    await refused(baseUrl, '');
  });

  it('the path of a base URL is kept, and the address that is posted to is shown (S4)', async () => {
    using scene = sceneAt(`http://127.0.0.1:${server.port}/gateway/`);
    const before = server.requests.length;
    const preview = await run(scene, ['preview', 'campaign.yaml', '--env', 'test']);
    expect(preview.stdout).toContain(`POST http://127.0.0.1:${server.port}/gateway/v2/messages\n`);
    expect((await run(scene)).status).toBe(0);
    const heads = server.requests.slice(before).map(({ head }) => head.split('\r\n')[0]);
    expect(heads).toEqual(Array(3).fill('POST /gateway/v2/messages HTTP/1.1'));
  });

  it.each([
    ['a base URL', 'baseUrl: https://evil.test'],
    ['a key', `apiKey: ${CANARY_KEY}`],
    ['the name of a key', 'apiKey: { env: HANDBILL_API_KEY }'],
    ['environments', 'environments: { test: { baseUrl: https://evil.test, apiKey: { env: HANDBILL_API_KEY } } }'],
    ['a proxy', 'proxy: http://evil.test:3128'],
    ['wire', 'wire: { channels: { sms: X } }'],
    ['an environment inside send', 'send: { baseUrl: https://evil.test }'],
  ])('a campaign file cannot name %s (S5)', async (_, line) => {
    const { connections } = server;
    using scene = createScene({
      rows: 1,
      baseUrl: `http://127.0.0.1:${server.port}`,
      receipts: '/nowhere',
      campaign: line,
    });
    for (const args of [['validate', 'campaign.yaml'], SEND]) {
      const { status, stderr } = await run(scene, args);
      expect(stderr).toMatch(/error\[(?:unknown-key|literal-key)\]/);
      expect(stderr).toContain('campaign.yaml:6:');
      expect(canaryIn(stderr)).toEqual([]);
      expect(status).toBe(2);
    }
    expect(server.connections).toBe(connections);
  });

  async function refused(baseUrl: string, says: string): Promise<void> {
    const { connections } = server;
    using scene = sceneAt(`"${baseUrl.replace('PORT', String(server.port)).replace(/\\(?![ur])/g, '\\\\')}"`);
    for (const args of [['validate', 'campaign.yaml'], ['preview', 'campaign.yaml', '--env', 'test'], SEND]) {
      const { status, stderr } = await run(scene, args);
      expect(stderr).toMatch(/error\[(?:invalid-base-url|wrong-type|invalid-value)\]/);
      expect(stderr).toMatch(new RegExp(says));
      expect(stderr).toContain('handbill.yaml:3:');
      expect(status).toBe(2);
    }
    expect(server.connections).toBe(connections);
  }
});

describe('where the key comes from', () => {
  const keyed = (source: string): Scene => {
    const scene = sceneAt(`http://127.0.0.1:${server.port}`);
    const file = readFileSync(scene.path('handbill.yaml'), 'utf8');
    scene.write('handbill.yaml', file.replace('{ env: HANDBILL_API_KEY }', source));
    return scene;
  };

  it('a private file (S6)', async () => {
    using scene = keyed('{ file: key }');
    scene.write('key', `${CANARY_KEY}\n`);
    chmodSync(scene.path('key'), 0o600);
    const before = server.requests.length;
    expect((await run(scene, SEND, { HANDBILL_API_KEY: '' })).status).toBe(0);
    expect(server.requests.slice(before).every(({ head }) => head.includes(`x-api-key: ${CANARY_KEY}\r\n`))).toBe(true);
  });

  it.each([0o644, 0o640, 0o604, 0o620, 0o666])('not a file of mode %o (S6)', async (mode) => {
    const { connections } = server;
    using scene = keyed('{ file: key }');
    scene.write('key', `${CANARY_KEY}\n`);
    chmodSync(scene.path('key'), mode);
    const { status, stderr } = await run(scene, SEND, { HANDBILL_API_KEY: '' });
    expect(stderr).toContain('error[key-file-permissions]');
    expect(stderr).toContain('chmod 600');
    expect(canaryIn(stderr)).toEqual([]);
    expect({ status, connections: server.connections }).toEqual({ status: 2, connections });
  });

  it.each([
    ['as text', CANARY_KEY],
    ['in quotes', `"${CANARY_KEY}"`],
    ['in the place of a name', `{ env: "${CANARY_KEY}" }`],
    ['in a list', `["${CANARY_KEY}"]`],
    ['under another name', `{ value: "${CANARY_KEY}" }`],
  ])('not a literal, %s (S6)', async (_, written) => {
    const { connections } = server;
    using scene = keyed(written);
    // Without the variable nothing knows that this is the key, so that nothing but care can hide it.
    for (const args of [['validate', 'campaign.yaml'], ['validate', 'campaign.yaml', '--format', 'json'], SEND]) {
      const { status, stdout, stderr } = await run(scene, args, { HANDBILL_API_KEY: '' });
      expect(stdout + stderr).toMatch(/literal-key|invalid-value/);
      expect(canaryIn(stdout + stderr)).toEqual([]);
      expect(status).toBe(2);
    }
    expect(server.connections).toBe(connections);
  });

  it.each([
    ['another header behind', `${CANARY_KEY}\r\nx-evil: 1`],
    ['a newline behind', `${CANARY_KEY}\n`],
    ['a space inside', 'SEKRET 5f0e9a1c7b3d'],
    ['a tab', `\t${CANARY_KEY}`],
    ['a letter outside ASCII', `${CANARY_KEY}é`],
    ['DEL', `${CANARY_KEY}\u007f`],
  ])('not a key with %s (S9)', async (_, key) => {
    const { connections } = server;
    using scene = sceneAt(`http://127.0.0.1:${server.port}`);
    const { status, stderr } = await run(scene, SEND, { HANDBILL_API_KEY: key });
    expect(stderr).toContain('error[invalid-api-key]');
    expect(stderr).not.toContain('SEKRET');
    expect({ status, connections: server.connections }).toEqual({ status: 2, connections });
  });

  it('it is not an argument of any process while it is sent, and no option takes it (S8)', async () => {
    const silent = await startRawServer({ behaviour: () => undefined });
    using scene = sceneAt(`http://127.0.0.1:${silent.port}`);
    const sender = startCli(SEND, { cwd: scene.root, env: { HANDBILL_API_KEY: CANARY_KEY } });
    await until('a request', () => silent.requests.length > 0);
    const lines = commandLines();
    expect(lines.some((line) => line.includes(`${CLI}\0send\0campaign.yaml`))).toBe(true);
    expect(lines.filter((line) => canaryIn(line).length > 0)).toEqual([]);
    sender.kill('SIGKILL');
    await sender.done;
    await silent.close();

    const option = await run(scene, [...SEND, '--api-key', 'x']);
    expect(option).toMatchObject({ status: 2, stderr: expect.stringContaining('error[usage]') });
    for (const command of ['send', 'preview', 'plan', 'validate', 'sandbox', 'report']) {
      expect((await run(scene, [command, '--help'])).stdout).not.toMatch(/--(?:api|x)-?key|--token|--secret/);
    }
  });
});

/** The command line of every process of this machine, arguments ended by NUL. */
function commandLines(): readonly string[] {
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return processes.flatMap((pid) => {
    try {
      return [readFileSync(`/proc/${pid}/cmdline`, 'utf8')];
    } catch {
      return []; // It has ended.
    }
  });
}

describe('what a template needs', () => {
  it.each([
    ['in the text', 'Hi {{nmae}}'],
    ['inside #if, which strict rendering lets pass', 'Hi {{#if nmae}}x{{/if}}'],
    ['inside #unless', 'Hi {{#unless nmae}}x{{/unless}}'],
    ['as an argument', 'Hi {{upper nmae}}'],
    ['as an argument inside #if', 'Hi {{#if (eq nmae "x")}}x{{/if}}'],
    ['below a column', 'Hi {{name.first}}'],
  ])('a name that is not a column is refused before any request: %s (S18)', async (_, text) => {
    const { connections } = server;
    using scene = sceneAt(`http://127.0.0.1:${server.port}`);
    scene.write('hello.hbs', text);
    const file = readFileSync(scene.path('campaign.yaml'), 'utf8');
    scene.write('campaign.yaml', file.replace(/^template: .*$/m, 'template: hello.hbs'));
    const { status, stderr } = await run(scene);
    expect(stderr).toMatch(/error\[unknown-name\]|error\[template-not-allowed\]/);
    expect(stderr).toContain('hello.hbs:1:');
    expect({ status, connections: server.connections }).toEqual({ status: 2, connections });
  });

  it('an empty cell is refused before any request (S18)', async () => {
    const { connections } = server;
    using scene = sceneAt(`http://127.0.0.1:${server.port}`);
    scene.write('people.csv', 'msisdn,name\n+447400100001,Ana\n+447400100002,\n');
    const { status, stderr } = await run(scene);
    expect(stderr).toContain('error[missing-variable]');
    expect({ status, connections: server.connections }).toEqual({ status: 2, connections });
  });
});
