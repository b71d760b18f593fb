import { createHash, createHmac, hash } from 'node:crypto';
import { type Diagnostic, problem } from '../errors.ts';
import type { KeySource } from '../model.ts';
import { kindOf } from '../util/address-form.ts';
import { readSecret, type SecretWords } from '../util/secret.ts';

export type Hasher = ReturnType<typeof createHasher>;

export type WrittenHash = { readonly keyId: string; readonly hash: string };

/** In front of every hash, and a part of the hashed text. */
const HASH_PREFIX = 'hb1:';
const PREFIXES = { msisdn: `${HASH_PREFIX}msisdn:`, email: `${HASH_PREFIX}email:`, contact: `${HASH_PREFIX}contact:` };
const KEY_ID_OF = `${HASH_PREFIX}key-id`;
const KEY_ID_DIGITS = 8;
const BLOCK_BYTES = 64;

/** HMAC-SHA256 (RFC 2104) over `hb1:KIND:ADDRESS` in UTF-8. Prepared pads take 1.8 us, `createHmac` 16 (Node 24.21). */
export function createHasher(key: Uint8Array) {
  const short = key.length > BLOCK_BYTES ? createHash('sha256').update(key).digest() : Buffer.from(key);
  const inner = padded(short, 0x36, ROOM_BYTES);
  const outer = padded(short, 0x5c, 32);
  return {
    /** 8 hex digits that say nothing about the key. */
    keyId: createHmac('sha256', key).update(KEY_ID_OF).digest('hex').slice(0, KEY_ID_DIGITS),
    /** 64 hex digits; `form`: as addresses are compared. */
    hash(form: string): string {
      const message = `${PREFIXES[kindOf(form)]}${form}`;
      if (message.length * 3 > ROOM_BYTES) return createHmac('sha256', key).update(message).digest('hex');
      const length = inner.write(message, BLOCK_BYTES);
      outer.write(hash('sha256', inner.subarray(0, BLOCK_BYTES + length), 'binary'), BLOCK_BYTES, 'latin1');
      return hash('sha256', outer, 'hex');
    },
  };
}

/** An email address has at most 254 octets, the id of a contact at most 200 characters; whatever is longer takes longer. */
const ROOM_BYTES = 1024;

function padded(key: Buffer, pad: number, room: number): Buffer {
  const bytes = Buffer.alloc(BLOCK_BYTES + room);
  bytes.fill(pad, 0, BLOCK_BYTES);
  for (const [i, byte] of key.entries()) bytes[i] = (bytes[i] ?? 0) ^ byte;
  return bytes;
}

/** `hb1:KEYID:HASH`, as written in lists. */
export function writeHash({ keyId, hash: digits }: WrittenHash): string {
  return `${HASH_PREFIX}${keyId}:${digits}`;
}

/** Null: no such hash. */
export function readHash(text: string): WrittenHash | null {
  const match = WRITTEN.exec(text.trim());
  if (match === null) return null;
  const [, keyId = '', digits = ''] = match;
  return { keyId: keyId.toLowerCase(), hash: digits.toLowerCase() };
}

const WRITTEN = /^hb1:([0-9a-f]{8}):([0-9a-f]{64})$/i;

export type HasherReading = { readonly hasher: Hasher } | { readonly problem: Diagnostic };

/** A shorter key is too weak (NIST SP 800-107, 5.3.2), because a program can try all phone numbers. */
const MIN_KEY_BYTES = 16;

const WORDS: SecretWords = {
  name: 'suppression key',
  missing: 'missing-suppression-key',
  setting: 'suppressionKey: { file: PATH }',
  leaked: 'A person with the key and a list can find out whose numbers are on it.',
};

/** The key is the exact text in the variable or file, without the line end. No message holds it. Null: no key. */
export async function readHasher(
  source: KeySource | null,
  env: Readonly<Record<string, string | undefined>>,
  root: string,
): Promise<HasherReading> {
  if (source === null) {
    const hint = 'Write suppressionKey: { env: HANDBILL_SUPPRESSION_KEY } into handbill.yaml, and put the key there.';
    return {
      problem: problem('missing-suppression-key', 'handbill.yaml does not say where the suppression key is.', { hint }),
    };
  }
  const read = await readSecret(source, env, root, WORDS);
  if ('problem' in read) return read;
  // A file is read byte by byte, a variable is text: both are the bytes that were written.
  const key = Buffer.from(read.secret, 'env' in source ? 'utf8' : 'latin1');
  if (key.length >= MIN_KEY_BYTES) return { hasher: createHasher(key) };
  const message = `The suppression key in ${read.place} has fewer than ${MIN_KEY_BYTES} bytes.`;
  const hint = 'Make one with: openssl rand -hex 32. Hashes that were made with the short one are of no use with it.';
  return { problem: problem('invalid-suppression-key', message, { hint }) };
}
