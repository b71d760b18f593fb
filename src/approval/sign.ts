import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { problem, refuse } from '../errors.ts';
import { safeLine } from '../util/escape.ts';
import { readSmallFile } from '../util/paths.ts';
import { MAX_SIGNATURE_LENGTH, NAMESPACE, readSignature } from './signature.ts';
import { type Env, inPrivateFolder, runSshKeygen } from './ssh-keygen.ts';

interface SignOptions {
  readonly cwd: string;
  readonly env: Env;
  readonly interactive: boolean;
  readonly onSaid?: (text: string) => void;
}

/** Time to find the passphrase and to touch the key; an agent may ask too. */
const TIMEOUT_MS = 180_000;

/**
 * @param key - a private key, or a public key (or certificate) whose private half is in ssh-agent; relative to `cwd`
 * @returns the signature, armoured, as `ssh-keygen -Y sign` makes it
 * @throws HandbillError exit 2 where the key is not there, or cannot be used
 */
export async function signBytes(bytes: Uint8Array, key: string, options: SignOptions): Promise<string> {
  // In CI a secret is in a variable before it is in a file; the message does not repeat a text that may be the secret.
  if (/[\r\n]|PRIVATE KEY/.test(key)) {
    const message = 'What was given is a private key itself, not the name of its file.';
    const hint = 'Write the key to a file that only you can read (chmod 600), and name that file.';
    throw refuse(problem('signing-failed', message, { hint }));
  }
  // Absolute, so that no name of a file can be taken for an option.
  const path = resolve(options.cwd, key);
  const found = await stat(path).catch(() => null);
  if (found?.isFile() !== true) {
    const hint = 'Name a private key, or a public key whose private half is in ssh-agent.';
    throw refuse(problem('file-not-found', `There is no key ${safeLine(key)}.`, { hint }));
  }
  return inPrivateFolder({ plan: bytes }, async (folder) => {
    const answer = await runSshKeygen({
      args: ['-q', '-Y', 'sign', '-n', NAMESPACE, '-f', path, 'plan'],
      folder,
      env: options.env,
      input: options.interactive ? 'terminal' : 'nothing',
      timeoutMs: TIMEOUT_MS,
      ...(options.interactive && options.onSaid !== undefined ? { onSaid: options.onSaid } : {}),
    });
    const read = readSmallFile(join(folder, 'plan.sig'), MAX_SIGNATURE_LENGTH);
    if (!answer.ok || 'fault' in read) throw notSigned(key, answer.said, options.interactive);
    const signature = readSignature(new TextDecoder().decode(read.bytes));
    if ('problem' in signature) throw notSigned(key, `the signature ${signature.problem}`, true);
    return signature.armoured;
  });
}

function notSigned(key: string, said: string, interactive: boolean): Error {
  const why = safeLine(
    said
      .replace(/^Enter passphrase:\s*/, '')
      .replace(/(?:\\u\{d\})+$/, '')
      .replace(/\.$/, '')
      .slice(0, 300),
  );
  const hint = interactive
    ? 'Check the passphrase, or that ssh-agent has the key: ssh-add -l.'
    : 'Without a terminal, handbill cannot ask for a passphrase: load the key into ssh-agent and name its .pub file.';
  return refuse(problem('signing-failed', `The plan could not be signed with ${safeLine(key)}: ${why}.`, { hint }));
}
