import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export interface Agent {
  readonly env: NodeJS.ProcessEnv;
  close(): Promise<void>;
}

/** A real ssh-agent with these private keys (and the certificates beside them), in the foreground so that it ends with the test. */
export async function openAgent(folder: string, paths: readonly string[]): Promise<Agent> {
  const socket = join(folder, `agent-${process.hrtime.bigint()}`);
  const child = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' });
  const env = { ...process.env, SSH_AUTH_SOCK: socket };
  const ended = once(child, 'exit');
  for (let left = 50; left > 0; left--) {
    // Status 2: no agent there yet; 1: there, without keys.
    const status = await execute('ssh-add', ['-l'], { env }).then(
      () => 0,
      (error: { code?: number }) => error.code ?? 2,
    );
    if (status !== 2) break;
    await setTimeout(20);
  }
  await execute('ssh-add', ['-q', ...paths], { env });
  return {
    env,
    async close() {
      child.kill();
      await ended;
    },
  };
}
