import { hash } from 'node:crypto';

export interface SshKey {
  /** Such as `ssh-ed25519`; of a certificate, that of the key inside. */
  readonly type: string;
  /** Type and base64, as in a `.pub` file, without the comment. */
  readonly text: string;
  /** The same for a key and for every certificate of it. */
  readonly id: string;
  /** `SHA256:...`, as ssh-keygen shows it. */
  readonly fingerprint: string;
  readonly isCertificate: boolean;
}

/** RFC 4253 and PROTOCOL.u2f: how many fields a key has after its type. DSA is missing: OpenSSH has dropped it. */
const FIELDS: Readonly<Record<string, number>> = {
  'ssh-ed25519': 1,
  'ecdsa-sha2-nistp256': 2,
  'ecdsa-sha2-nistp384': 2,
  'ecdsa-sha2-nistp521': 2,
  'ssh-rsa': 2,
  'sk-ssh-ed25519@openssh.com': 2,
  'sk-ecdsa-sha2-nistp256@openssh.com': 3,
};

const CERTIFICATE = /^(.+)-cert-v01(@openssh\.com)$/;
const LEAST_RSA_BYTES = 256;

/** A line of a `.pub` file. `problem`: a sentence that says why it is not valid. */
export function readSshKey(line: string): SshKey | { readonly problem: string } {
  const [type = '', base64 = ''] = line.trim().split(/[ \t]+/);
  if (base64 === '') return { problem: 'This is not a public key: it has a type and base64, as in a .pub file.' };
  const blob = base64Bytes(base64);
  if (blob === null) return { problem: 'The base64 of the public key is damaged.' };
  const key = sshKeyOf(blob);
  if ('problem' in key) return key;
  return key.text.startsWith(`${type} `) ? key : { problem: `The key says "${type}", but is of another type.` };
}

export function sshKeyOf(blob: Uint8Array): SshKey | { readonly problem: string } {
  const written = latin1(sshStrings(blob, 1, 'rest')?.[0]);
  const match = CERTIFICATE.exec(written);
  const [, name = '', domain = ''] = match ?? [];
  // `sk-ssh-ed25519-cert-v01@openssh.com` is of `sk-ssh-ed25519@openssh.com`, `ssh-rsa-cert-v01@openssh.com` of `ssh-rsa`.
  const type = match === null ? written : `${name}${name.startsWith('sk-') ? domain : ''}`;
  const count = Object.hasOwn(FIELDS, type) ? FIELDS[type] : undefined;
  if (count === undefined) return { problem: 'Keys of this type cannot sign plans.' };
  // In a certificate a nonce comes first. Fields after the key (principals, purpose) are checked by ssh-keygen.
  const fields = match === null ? sshStrings(blob, count + 1)?.slice(1) : sshStrings(blob, count + 2, 'rest')?.slice(2);
  if (fields?.length !== count) return { problem: 'The public key is damaged.' };
  return keyOf(type, fields, blob, written);
}

function keyOf(
  type: string,
  fields: readonly Uint8Array[],
  blob: Uint8Array,
  written: string,
): SshKey | { problem: string } {
  if (type === 'ssh-rsa' && (fields[1]?.length ?? 0) < LEAST_RSA_BYTES) {
    return { problem: 'The RSA key is shorter than 2048 bits.' };
  }
  const plain = written === type ? blob : sshBlob([Buffer.from(type, 'latin1'), ...fields]);
  const digest = hash('sha256', plain, 'base64').replace(/=+$/, '');
  return {
    type,
    text: `${written} ${Buffer.from(blob).toString('base64')}`,
    id: Buffer.from(plain).toString('base64'),
    fingerprint: `SHA256:${digest}`,
    isCertificate: written !== type,
  };
}

/** Each has its length before it in four bytes (RFC 4251, section 5). Null: cut short, left over, or above `most`. */
export function sshStrings(
  bytes: Uint8Array,
  most: number,
  after: 'end' | 'rest' = 'end',
): readonly Uint8Array[] | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found: Uint8Array[] = [];
  let at = 0;
  while (at < bytes.length && found.length < most) {
    if (bytes.length - at < 4) return null;
    const length = view.getUint32(at);
    at += 4;
    if (length > bytes.length - at) return null;
    found.push(bytes.subarray(at, at + length));
    at += length;
  }
  if (after === 'rest') return found.length === most ? found : null;
  return at === bytes.length ? found : null;
}

export function sshBlob(strings: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(
    strings.flatMap((one) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(one.length);
      return [length, one];
    }),
  );
}

/** Strictly: one spelling for the same bytes, so that nothing can hide in it. Null where it is not base64. */
export function base64Bytes(text: string): Uint8Array | null {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length > 0 && bytes.toString('base64') === text ? bytes : null;
}

export function latin1(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? '' : Buffer.from(bytes).toString('latin1');
}
