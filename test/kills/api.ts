import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { startCli, until } from '../helpers/cli.ts';
import type { FormName } from '../oracle/forms.ts';
import { CANARY_KEY } from '../oracle/scene.ts';
import { type Profile, profileText } from './conduct.ts';

/** Where one scene sends to, and where its receipts are. */
export interface Address {
  readonly baseUrl: string;
  readonly form?: FormName;
  readonly receipts: string;
  close(): Promise<void>;
}

/** A server with faults in its own process, for any number of scenes. */
export interface KillsApi extends AsyncDisposable {
  /** A new shared ledger for each round; default: the file of its project. */
  readonly freshLedger?: () => Promise<string>;
  readonly origin: string;
  /** The name of the scene is part of what decides who meets which fault. */
  addressOf(scene: string, profile: Profile): Promise<Address>;
}

const SCRIPT = join(import.meta.dirname, 'api-process.ts');

export async function startKillsApi(): Promise<KillsApi> {
  const folder = mkdtempSync(join(tmpdir(), 'handbill-kills-api-'));
  const child = spawn(process.execPath, [SCRIPT, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  const closed = new Promise<void>((resolve) => child.on('close', () => resolve()));
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await until('the origin of the server', () => said.endsWith('\n'));
  const origin = said.trim();
  return {
    origin,
    async addressOf(scene, profile) {
      const { form = 'messages-v2' } = profile;
      const path = `${origin}/${scene}/${profileText(profile)}`;
      const port = form === 'messages-v2' ? null : await (await fetch(path, { method: 'PUT' })).text();
      return {
        baseUrl: port === null ? path : `http://127.0.0.1:${port}`,
        form,
        receipts: join(folder, `${scene}.jsonl`),
        close: async () => rmSync(join(folder, `${scene}.jsonl`), { force: true }),
      };
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await closed;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** `handbill sandbox --receipts` in its own process, for one scene. */
export async function startSandboxApi(latencyMs: number): Promise<Address> {
  const folder = mkdtempSync(join(tmpdir(), 'handbill-kills-sandbox-'));
  const receipts = join(folder, 'receipts.jsonl');
  const args = ['sandbox', '--port', '0', '--quiet', '--receipts', receipts, '--latency', String(latencyMs)];
  const server = startCli(args, { cwd: folder, env: { HANDBILL_API_KEY: CANARY_KEY } });
  await until('the address of the sandbox', () => /http:\S+:[0-9]+/.test(server.stdout()), 60_000);
  return {
    baseUrl: /http:\S+:[0-9]+/.exec(server.stdout())?.[0] ?? '',
    receipts,
    async close() {
      server.kill('SIGTERM');
      await server.done;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
