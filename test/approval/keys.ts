import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Approval, Signer } from '../../src/model.ts';

const execute = promisify(execFile);

export interface Key {
  /** The private key; the public one is beside it, with `.pub`. */
  readonly path: string;
  /** Type and base64. */
  readonly text: string;
}

export interface Keyring {
  readonly folder: string;
  /** Makes a key with the real ssh-keygen. */
  make(name: string, ...options: readonly string[]): Promise<Key>;
  remove(): Promise<void>;
}

export async function openKeyring(): Promise<Keyring> {
  const folder = await mkdtemp(join(tmpdir(), 'handbill-keys-'));
  return {
    folder,
    async make(name, ...options) {
      const path = join(folder, name);
      const type = options.length === 0 ? ['-t', 'ed25519'] : options;
      const passphrase = type.includes('-N') ? [] : ['-N', ''];
      await execute('ssh-keygen', ['-q', ...type, ...passphrase, '-C', name, '-f', path]);
      const [kind = '', base64 = ''] = (await readFile(`${path}.pub`, 'utf8')).split(' ');
      return { path, text: `${kind} ${base64.trim()}` };
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Certifies a key, as an authority; the names become those of the certificate. */
export async function certify(key: Key, authority: Key, names: string, validity = 'always:forever'): Promise<string> {
  await execute('ssh-keygen', [
    '-q',
    '-s',
    authority.path,
    '-I',
    'test',
    '-n',
    names,
    '-V',
    validity,
    `${key.path}.pub`,
  ]);
  return `${key.path}-cert.pub`;
}

/** Signs as another program would, in a namespace of its own. */
export async function signIn(namespace: string, key: Key, bytes: Uint8Array): Promise<string> {
  const child = execute('ssh-keygen', ['-q', '-Y', 'sign', '-n', namespace, '-f', key.path], { encoding: 'utf8' });
  child.child.stdin?.end(bytes);
  return (await child).stdout;
}

export function signer(name: string, key: Key, more: Partial<Signer> = {}): Signer {
  const limits = { authority: false, validAfter: null, validBefore: null, namespaces: null };
  return { names: [name], key: key.text, ...limits, ...more };
}

export function ruleOf(approvers: readonly Signer[], planners: readonly Signer[] = [], approvals = 1): Approval {
  return { approvers: { signers: approvers }, planners: { signers: planners }, approvals, standing: null };
}

export const NOW = Date.UTC(2026, 10, 21, 9, 15);
