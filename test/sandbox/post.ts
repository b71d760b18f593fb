import { request } from 'undici';
import type { SandboxOptions } from '../../src/operations/sandbox.ts';
import type { Sandbox } from '../../src/sandbox/options.ts';
import { startSandbox } from '../../src/sandbox/server.ts';

/** An answer, its body parsed where it is JSON. */
export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly json: unknown;
}

/** Posts one message with the key that `withSandbox` starts sandboxes with. */
export async function post(sandbox: Sandbox, message: unknown, key = 'test-key'): Promise<Answer> {
  const answer = await request(`${sandbox.url}/v2/messages`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: typeof message === 'string' ? message : JSON.stringify(message),
  });
  const text = await answer.body.text();
  const type = String(answer.headers['content-type'] ?? '');
  return { status: answer.statusCode, type, text, json: /json/.test(type) ? JSON.parse(text) : null };
}

/** Starts a sandbox, uses it and stops it. */
export async function withSandbox(
  options: Partial<SandboxOptions>,
  use: (sandbox: Sandbox) => Promise<void>,
): Promise<void> {
  const sandbox = await startSandbox({ apiKey: 'test-key', ...options });
  try {
    await use(sandbox);
  } finally {
    await sandbox.close();
  }
}
