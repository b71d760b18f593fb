import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { problem, refuse } from '../errors.ts';
import { safe } from '../util/escape.ts';
import { makeTemporaryFolder, temporaryFault } from '../util/files.ts';

export type Env = Readonly<Record<string, string | undefined>>;

interface Call {
  /** Fixed words and paths of handbill; data is always the value of an option. */
  readonly args: readonly string[];
  /** It contains the files that `args` name. */
  readonly folder: string;
  readonly env: Env;
  /** Its standard input; `terminal` lets it ask for a passphrase or a touch. */
  readonly input: Uint8Array | 'terminal' | 'nothing';
  readonly timeoutMs: number;
  /** Told what ssh-keygen says to the person at the terminal. */
  readonly onSaid?: (text: string) => void;
}

type Answer = { readonly ok: boolean; readonly out: string; readonly said: string };

/** ssh-keygen prints less; longer output is cut. */
const MAX_OUTPUT = 64 * 1024;
/** To find ssh-keygen and the agent, and to ask. */
const PASSED = ['PATH', 'HOME', 'SSH_AUTH_SOCK', 'SSH_SK_PROVIDER', 'SSH_SK_HELPER', 'SYSTEMROOT'];
const PASSED_TO_ASK = ['DISPLAY', 'WAYLAND_DISPLAY', 'SSH_ASKPASS', 'SSH_ASKPASS_REQUIRE', 'TERM', 'XAUTHORITY'];

/** Bounds output and time. Asks only on a terminal. Throws (exit 2) where ssh-keygen is missing or too old. */
export async function runSshKeygen(call: Call): Promise<Answer> {
  const asks = call.input === 'terminal';
  const child = spawn('ssh-keygen', call.args, {
    cwd: call.folder,
    env: surroundings(call.env, asks),
    stdio: [asks ? 'inherit' : call.input === 'nothing' ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    // A new session has no terminal to ask on, even where the process above has one.
    detached: !asks,
    timeout: call.timeoutMs,
    killSignal: 'SIGKILL',
    shell: false,
    windowsHide: true,
  });
  // It may leave without having read everything.
  child.stdin?.on('error', () => undefined);
  if (call.input instanceof Uint8Array) child.stdin?.end(call.input);
  const out = gather(child.stdout);
  const err = gather(child.stderr, call.onSaid);
  const { status, error } = await new Promise<{ status: number | null; error: Error | null }>((resolve) => {
    child.once('error', (failed) => resolve({ status: null, error: failed }));
    child.once('close', (code) => resolve({ status: code, error: null }));
  });
  if (error !== null && !('code' in error && (error.code === 'ENOENT' || error.code === 'EACCES'))) throw error;
  if (error !== null) throw unusable('There is no ssh-keygen, which signs plans and checks signatures.');
  const said = safe(err()).trim();
  if (/(unknown|illegal|invalid|unrecognized) option -- ?'?Y/i.test(said))
    throw unusable('This ssh-keygen is too old: it can neither make nor look at signatures.');
  return { ok: status === 0, out: out(), said: said === '' && status === null ? 'it took too long' : said };
}

function surroundings(env: Env, asks: boolean): NodeJS.ProcessEnv {
  const names = asks ? [...PASSED, ...PASSED_TO_ASK] : PASSED;
  const passed = names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  // Dates of approvers mean the same on every machine, and the messages are in English.
  return { ...Object.fromEntries(passed), TZ: 'UTC', LC_ALL: 'C' };
}

function gather(stream: Readable | null, onText?: (text: string) => void): () => string {
  let text = '';
  stream?.setEncoding('utf8');
  stream?.on('data', (chunk: string) => {
    if (text.length < MAX_OUTPUT) text += chunk.slice(0, MAX_OUTPUT - text.length);
    onText?.(safe(chunk));
  });
  return () => text;
}

function unusable(message: string): Error {
  return refuse(problem('signing-failed', message, { hint: 'Install OpenSSH 8.7 or newer.' }));
}

/** The folder is removed afterwards; no other user can read it. */
export async function inPrivateFolder<T>(
  files: Readonly<Record<string, string | Uint8Array>>,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await makeTemporaryFolder('handbill-signing-');
  try {
    for (const [name, content] of Object.entries(files)) {
      await writeFile(join(folder.root, name), content, { mode: 0o600, flag: 'wx' }).catch((error: unknown) => {
        throw temporaryFault(error, folder.root);
      });
    }
    return await work(folder.root);
  } finally {
    await folder.remove();
  }
}
