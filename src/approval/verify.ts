import type { Signer } from '../model.ts';
import { NAMESPACE, type Signature } from './signature.ts';
import { type Env, inPrivateFolder, runSshKeygen } from './ssh-keygen.ts';

export interface VerifyOptions {
  readonly env: Env;
  /** The moment at which keys must be valid. Signatures carry no time that could be trusted, so it is the present. */
  readonly nowMs: number;
}

/** Either whose signature it is, or why it does not count; `isKnown`: its key is at least one of those that may sign. */
export type Verified = { readonly names: readonly string[] } | { readonly problem: string; readonly isKnown: boolean };

const TIMEOUT_MS = 15_000;

/**
 * Asks ssh-keygen whether a signature of these bytes is good and by one of those who may sign. Each of them is asked
 * for in a file of its own, so that what ssh-keygen says is about that one.
 *
 * @throws HandbillError exit 2 without a usable ssh-keygen
 */
export async function verifySignature(
  signature: Signature,
  bytes: Uint8Array,
  signers: readonly Signer[],
  options: VerifyOptions,
): Promise<Verified> {
  const { key, armoured } = signature;
  const candidates = signers.filter((one) => (one.authority ? key.isCertificate : one.key === key.text));
  let problem: string | null = null;
  for (const signer of candidates) {
    const verified = await verifyAs(signer, armoured, bytes, options);
    if ('names' in verified) return verified;
    problem = verified.problem;
  }
  return { problem: problem ?? 'the key is not one of those that may sign', isKnown: problem !== null };
}

async function verifyAs(
  signer: Signer,
  armoured: string,
  bytes: Uint8Array,
  options: VerifyOptions,
): Promise<{ readonly names: readonly string[] } | { readonly problem: string }> {
  return inPrivateFolder({ signers: `${lineOf(signer)}\n`, signature: armoured }, async (folder) => {
    const files = ['-f', 'signers', '-s', 'signature', `-Overify-time=${timeOf(options.nowMs)}`];
    const call = { folder, env: options.env, timeoutMs: TIMEOUT_MS };
    let names = signer.names;
    if (signer.authority) {
      const args = ['-Y', 'find-principals', ...files];
      const found = await runSshKeygen({ ...call, args, input: 'nothing' });
      if (!found.ok) return { problem: reasonOf(found.said) };
      names = found.out.split(/[\n,]/).filter((name) => name !== '');
    }
    const [name] = names;
    if (name === undefined || !names.every(isName)) return { problem: 'its certificate gives no name of one person' };
    const args = ['-Y', 'verify', '-n', NAMESPACE, '-I', name, ...files];
    const answer = await runSshKeygen({ ...call, args, input: bytes });
    return answer.ok ? { names } : { problem: reasonOf(answer.said) };
  });
}

/** What a name may be that one person has: no patterns, no spaces, nothing that begins like an option. */
export function isName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9.@_+-]{0,199}$/.test(name);
}

function lineOf({ names, key, authority, validAfter, validBefore, namespaces }: Signer): string {
  const options = [
    authority ? ['cert-authority'] : [],
    namespaces === null ? [] : [`namespaces="${namespaces}"`],
    validAfter === null ? [] : [`valid-after="${validAfter}"`],
    validBefore === null ? [] : [`valid-before="${validBefore}"`],
  ].flat();
  return [names.join(','), ...(options.length === 0 ? [] : [options.join(',')]), key].join(' ');
}

/** `20261121091500`, in UTC, which is the zone that ssh-keygen runs in. */
function timeOf(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:T]/g, '');
}

/** ssh-keygen's own words, where it has any for this, without the place in a temporary file. */
function reasonOf(said: string): string {
  const [line = ''] = said.split('\n').filter((one) => one.startsWith('signers:'));
  const words = line.replace(/^signers:\d+: /, '').slice(0, 200);
  return words === '' ? 'it is not a signature of this plan' : words;
}
