import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
const FILES = fileURLToPath(new URL('../fixtures/sandbox/devices/', import.meta.url));

async function collect(stream: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  return text;
}

it('takes devices, a dialect, a limit of recipients and any fields from the command line', async () => {
  const options = ['--devices', 'phones.csv', '--dialect', 'top-level', '--max-recipients', '2', '--fields', 'any'];
  const child = spawn(process.execPath, [CLI, 'sandbox', '--port', '0', '--quiet', ...options], {
    cwd: FILES,
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let out = '';
    child.stdout.on('data', (text) => {
      out += String(text);
    });
    while (!out.includes('Ctrl-C')) await once(child.stdout, 'data');
    expect(out).toContain('for the dialect top-level');
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(out)?.[0];
    const headers = { 'content-type': 'application/json', 'x-api-key': 'sandbox' };
    const post = async (...numbers: readonly string[]): Promise<unknown> => {
      const body = JSON.stringify({ channel: 'RCS', words: 'x', recipients: numbers.map((number) => ({ number })) });
      return await (await fetch(`${url}/v2/messages`, { method: 'POST', headers, body })).json();
    };
    expect(await post('+447911123009')).toEqual({ messageId: expect.any(String) });
    expect(await post('+447911123001')).toMatchObject({ errorCode: 'E4221' });
    expect(await post('+447911123007', '+447911123008', '+447911123009')).toMatchObject({ errorCode: 'E413' });
    const shown = await (await fetch(`${url}/sandbox`)).text();
    expect(shown).toContain('Dialect top-level: one messageId at the top');
    expect(shown).toContain('At most 2 recipients in one request.');
    expect(shown).toMatch(/\n\.\.\.844 {2}Android 4\.4 +takes SMS, MessagingApp, Voice\n/);
    expect(shown).toContain('6 numbers have theirs from the file of devices.');
  } finally {
    child.kill('SIGTERM');
    await once(child, 'close');
  }
});

it('refuses a file of devices that is wrong, exit 2, each fault with its line', async () => {
  const child = spawn(process.execPath, [CLI, 'sandbox', '--port', '0', '--devices', 'wrong.csv'], {
    cwd: FILES,
    env: { PATH: process.env['PATH'], NO_COLOR: '1' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [err, [status]] = await Promise.all([collect(child.stderr), once(child, 'close') as Promise<[number | null]>]);
  expect(status).toBe(2);
  for (const line of [3, 4, 5, 7]) expect(err).toContain(`wrong.csv:${line}`);
});
