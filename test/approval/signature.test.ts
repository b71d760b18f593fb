import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NAMESPACE, readSignature } from '../../src/approval/signature.ts';
import { base64Bytes, readSshKey, sshBlob, sshStrings } from '../../src/util/ssh-key.ts';
import { type Key, type Keyring, openKeyring, signIn } from './keys.ts';

let ring: Keyring;
let key: Key;
let signature = '';

beforeAll(async () => {
  ring = await openKeyring();
  key = await ring.make('ana');
  signature = await signIn(NAMESPACE, key, new TextEncoder().encode('plan'));
});
afterAll(() => ring.remove());

describe('a signature', () => {
  it('says whose key made it, in the words of ssh-keygen', () => {
    const read = readSignature(signature);
    expect(read).toMatchObject({
      key: { text: key.text, type: 'ssh-ed25519', isCertificate: false },
      armoured: signature,
    });
  });

  it.each<[label: string, change: (text: string) => string]>([
    ['something before it', (text) => `x\n${text}`],
    ['something behind it', (text) => `${text}\nx`],
    ['another one behind it', (text) => text + text],
    ['a space in it', (text) => text.replace('U1NI', 'U1 NI')],
    ['padding that is too much', (text) => text.replace('\n-----END', '=\n-----END')],
    ['another frame', (text) => text.replaceAll('SSH SIGNATURE', 'PGP SIGNATURE')],
    ['no frame', (text) => text.split('\n').slice(1, -2).join('\n')],
    ['bytes behind its fields', (text) => reframed(text, (bytes) => Buffer.concat([bytes, Buffer.alloc(4)]))],
    ['fewer bytes', (text) => reframed(text, (bytes) => bytes.subarray(0, -1))],
    [
      'a length beyond its end',
      (text) => reframed(text, (bytes) => Buffer.concat([bytes.subarray(0, 10), Buffer.alloc(4, 255)])),
    ],
    [
      'a later version',
      (text) => reframed(text, (bytes) => Buffer.from(bytes.map((byte, at) => (at === 9 ? 2 : byte)))),
    ],
  ])('with %s is none', (_label, change) => {
    expect(readSignature(change(signature))).toHaveProperty('problem');
  });

  it('is read without harm, whatever bytes it has', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(200), (bytes, at) => {
        const text = reframed(signature, (good) => Buffer.concat([good.subarray(0, at), bytes]));
        const read = readSignature(text);
        if ('armoured' in read) expect(readSignature(read.armoured)).toEqual(read);
        else expect(read.problem).toMatch(/\.$/);
      }),
    );
  });
});

describe('strings of SSH', () => {
  it('come back as they were written', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 6 }), (strings) => {
        const read = sshStrings(sshBlob(strings), 6) ?? [];
        expect(read.map((one) => [...one])).toEqual(strings.map((one) => [...one]));
      }),
    );
  });

  it('have one spelling in base64', () => {
    expect(base64Bytes('AB==')).toBeNull();
    expect(base64Bytes('AA==')).toEqual(Buffer.from([0]));
    expect(base64Bytes('AA')).toBeNull();
    expect(base64Bytes('A-_A')).toBeNull();
  });
});

it('the fingerprint of a key is the one that ssh-keygen shows', () => {
  const shown = execFileSync('ssh-keygen', ['-l', '-f', `${key.path}.pub`], { encoding: 'utf8' }).split(' ')[1];
  expect(readSshKey(key.text)).toMatchObject({ fingerprint: shown });
});

function reframed(text: string, change: (bytes: Buffer) => Buffer): string {
  const [begin, ...lines] = text.trimEnd().split('\n');
  const base64 = change(Buffer.from(lines.slice(0, -1).join(''), 'base64')).toString('base64');
  return `${begin}\n${base64}\n${lines.at(-1)}\n`;
}
