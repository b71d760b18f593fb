import { base64Bytes, latin1, type SshKey, sshKeyOf, sshStrings } from '../util/ssh-key.ts';

/** The namespace of plans; ssh-keygen accepts no signature that was made for another one. */
export const NAMESPACE = 'handbill-plan';
/** Most signatures of one plan, and most characters of each. */
export const MAX_SIGNATURES = 20;
export const MAX_SIGNATURE_LENGTH = 16 * 1024;

/** ssh-keygen decides whether it is good. */
export interface Signature {
  readonly key: SshKey;
  /** As ssh-keygen writes it, spelt anew. */
  readonly armoured: string;
}

const FIRST_LINE = '-----BEGIN SSH SIGNATURE-----';
const LAST_LINE = '-----END SSH SIGNATURE-----';
const MAGIC = 'SSHSIG';
const VERSION = 1;
const HASHES = new Set(['sha256', 'sha512']);

/** OpenSSH's PROTOCOL.sshsig. Refuses RSA with SHA-1. `problem`: the rest of a sentence after "A signature". */
export function readSignature(text: string): Signature | { readonly problem: string } {
  const damaged = { problem: 'is damaged.' };
  if (text.length > MAX_SIGNATURE_LENGTH) return { problem: 'is longer than any that handbill makes.' };
  const lines = text.replaceAll('\r\n', '\n').trimEnd().split('\n');
  if (lines[0] !== FIRST_LINE || lines.at(-1) !== LAST_LINE) return damaged;
  const bytes = base64Bytes(lines.slice(1, -1).join(''));
  if (bytes === null || Buffer.from(bytes.subarray(0, MAGIC.length)).toString('latin1') !== MAGIC) return damaged;
  const versionAt = MAGIC.length;
  const fieldsAt = versionAt + 4;
  if (bytes.length < fieldsAt) return damaged;
  const version = new DataView(bytes.buffer, bytes.byteOffset + versionAt, 4).getUint32(0);
  if (version !== VERSION) return { problem: 'is of a version that handbill does not know.' };
  const [publicKey, namespace, reserved, hash, signature, ...more] = sshStrings(bytes.subarray(fieldsAt), 6) ?? [];
  if (publicKey === undefined || signature === undefined || more.length > 0) return damaged;
  if (latin1(namespace) !== NAMESPACE) return { problem: 'was made for something else than plans.' };
  if (reserved?.length !== 0 || !HASHES.has(latin1(hash))) return damaged;
  const key = sshKeyOf(publicKey);
  if ('problem' in key) return { problem: `does not count: ${key.problem}` };
  const algorithm = latin1(sshStrings(signature, 1, 'rest')?.[0]);
  if (!isAllowed(algorithm, key.type)) return { problem: 'was made with an algorithm that is too weak.' };
  return { key, armoured: armour(bytes) };
}

/** RSA keys sign with three algorithms, of which the oldest has SHA-1; all others have one, with the name of the key. */
function isAllowed(algorithm: string, keyType: string): boolean {
  return keyType === 'ssh-rsa' ? /^rsa-sha2-(256|512)$/.test(algorithm) : algorithm === keyType;
}

function armour(bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,70}/g) ?? [];
  return `${[FIRST_LINE, ...lines, LAST_LINE].join('\n')}\n`;
}
