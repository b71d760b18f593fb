import { createHash, createPrivateKey, sign as rawSign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Judgement, judge } from '../../src/approval/judge.ts';
import { signBytes } from '../../src/approval/sign.ts';
import { NAMESPACE } from '../../src/approval/signature.ts';
import type { Approval } from '../../src/model.ts';
import { sshBlob } from '../../src/util/ssh-key.ts';
import { openAgent } from './agent.ts';
import { certify, type Key, type Keyring, NOW, openKeyring, ruleOf, signer, signIn } from './keys.ts';

const bytes = new TextEncoder().encode('{"campaign":"hello"}');
const other = new TextEncoder().encode('{"campaign":"other"}');
const DAY_MS = 86_400_000;

let ring: Keyring;
const keys = {} as Record<'ana' | 'ana2' | 'ben' | 'cem' | 'mallory' | 'authority' | 'rsa' | 'ecdsa', Key>;

beforeAll(async () => {
  ring = await openKeyring();
  for (const name of ['ana', 'ana2', 'ben', 'cem', 'mallory', 'authority'] as const) keys[name] = await ring.make(name);
  keys.ecdsa = await ring.make('ecdsa', '-t', 'ecdsa');
  // PEM, so that Node can read it too.
  keys.rsa = await ring.make('rsa', '-t', 'rsa', '-b', '2048', '-m', 'PEM');
});
afterAll(() => ring.remove());

const judged = (signatures: readonly string[], rule: Approval, nowMs = NOW): Promise<Judgement> =>
  judge(bytes, signatures, rule, { env: process.env, nowMs });
const by = (key: Key, text = bytes): Promise<string> => signIn(NAMESPACE, key, text);
const anaAndBen = (): Approval => ruleOf([signer('ana@x.org', keys.ana), signer('ben@x.org', keys.ben)]);

describe('enough signatures', () => {
  it('are those of two approvers, one of them the planner', async () => {
    const result = await judged([await by(keys.ana), await by(keys.ben)], anaAndBen());
    expect(result).toMatchObject({ approved: true, refused: [], missing: '' });
    expect(result.signed.map(({ name, role }) => [name, role])).toEqual([
      ['ana@x.org', 'approver'],
      ['ben@x.org', 'approver'],
    ]);
  });

  it('are those of a planner and an approver, in whatever order', async () => {
    const rule = ruleOf([signer('ana@x.org', keys.ana)], [signer('cem@x.org', keys.cem)]);
    const both = [await by(keys.cem), await by(keys.ana)];
    expect((await judged(both, rule)).approved).toBe(true);
    expect((await judged(both.toReversed(), rule)).approved).toBe(true);
  });

  it('may be made by keys of every type', async () => {
    const rule = ruleOf([signer('rosa', keys.rsa), signer('eve', keys.ecdsa)]);
    expect(await judged([await by(keys.rsa), await by(keys.ecdsa)], rule)).toMatchObject({
      approved: true,
      refused: [],
    });
  });

  it('are as many as the rule says', async () => {
    const people = [signer('ana', keys.ana), signer('ben', keys.ben), signer('cem', keys.cem)];
    const two = [await by(keys.ana), await by(keys.ben)];
    expect((await judged(two, ruleOf(people, [], 2))).approved).toBe(false);
    expect((await judged([...two, await by(keys.cem)], ruleOf(people, [], 2))).approved).toBe(true);
  });

  it('may be by keys that were valid only from or until some day', async () => {
    const rule = ruleOf([
      signer('ana', keys.ana, { validAfter: '20261121091400', validBefore: '20261121091600' }),
      signer('ben', keys.ben),
    ]);
    const both = [await by(keys.ana), await by(keys.ben)];
    expect((await judged(both, rule)).approved).toBe(true);
    expect((await judged(both, rule, NOW + 120_000)).refused).toEqual([expect.stringContaining('expired')]);
    expect((await judged(both, rule, NOW - 120_000)).refused).toEqual([expect.stringContaining('not yet valid')]);
  });
});

describe('certificates', () => {
  it('count by the names that their authority gave, while they are valid', async () => {
    const authority = signer('*@x.org', keys.authority, { authority: true });
    const rule = ruleOf([authority, signer('ben@x.org', keys.ben)]);
    const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10).replaceAll('-', '');
    const carla = await ring.make('carla');
    const path = await certify(carla, keys.authority, 'carla@x.org', `${day(NOW - DAY_MS)}:${day(NOW + DAY_MS)}`);
    const signature = await withAgent([carla.path], (env) =>
      signBytes(bytes, path, { cwd: '/', env, interactive: false }),
    );
    const result = await judged([signature, await by(keys.ben)], rule);
    expect(result).toMatchObject({ approved: true, refused: [] });
    expect(result.signed[0]?.name).toBe('carla@x.org');
    expect((await judged([signature, await by(keys.ben)], rule, NOW + 3 * DAY_MS)).approved).toBe(false);
    const elsewhere = ruleOf([signer('*@y.org', keys.authority, { authority: true }), signer('ben@x.org', keys.ben)]);
    expect((await judged([signature, await by(keys.ben)], elsewhere)).approved).toBe(false);
    const forged = ruleOf([signer('*', keys.mallory, { authority: true }), signer('ben@x.org', keys.ben)]);
    expect((await judged([signature, await by(keys.ben)], forged)).approved).toBe(false);
    // The same key as a certificate and as itself, under another name, is one person.
    const twice = ruleOf([authority, signer('karla', carla)]);
    expect((await judged([signature, await by(carla)], twice)).approved).toBe(false);
  });

  it('of an authority that signs certificates is not a signature of a plan', async () => {
    const rule = ruleOf([signer('*', keys.authority, { authority: true }), signer('ben', keys.ben)]);
    expect((await judged([await by(keys.authority), await by(keys.ben)], rule)).approved).toBe(false);
  });
});

describe('an attack', () => {
  it.each<[label: string, signatures: () => Promise<readonly string[]>, rule: () => Approval, says: string | null]>([
    ['no signature at all', async () => [], anaAndBen, null],
    ['only the planner', async () => [await by(keys.ana)], anaAndBen, null],
    ['one signature, twice', async () => Array(2).fill(await by(keys.ana)), anaAndBen, null],
    [
      'one signature, laid out anew',
      async () => {
        const made = await by(keys.ana);
        const [begin, end] = ['-----BEGIN SSH SIGNATURE-----', '-----END SSH SIGNATURE-----'];
        const base64 = made.split('\n').slice(1, -2).join('');
        return [made, `${begin}\n${base64}\n${end}`, made.replaceAll('\n', '\r\n')];
      },
      anaAndBen,
      null,
    ],
    [
      'one key that signed twice',
      async () => [await by(keys.ecdsa), await by(keys.ecdsa)],
      () => ruleOf([signer('eve', keys.ecdsa), signer('ben', keys.ben)]),
      null,
    ],
    [
      'two keys of one name',
      async () => [await by(keys.ana), await by(keys.ana2)],
      () => ruleOf([signer('ana@x.org', keys.ana), signer('Ana@X.org', keys.ana2), signer('ben@x.org', keys.ben)]),
      null,
    ],
    [
      'two keys of one name, in two roles',
      async () => [await by(keys.ana), await by(keys.ana2)],
      () => ruleOf([signer('ana@x.org', keys.ana)], [signer('ana@x.org', keys.ana2)]),
      null,
    ],
    [
      'two names of one person, by way of a third key',
      async () => [await by(keys.ana), await by(keys.ana2)],
      () =>
        ruleOf([signer('ana', keys.ana), signer('anna', keys.ana2), signer('x', keys.cem, { names: ['ana', 'anna'] })]),
      null,
    ],
    [
      'two planners and no approver',
      async () => [await by(keys.ana), await by(keys.cem)],
      () => ruleOf([signer('ben', keys.ben)], [signer('ana', keys.ana), signer('cem', keys.cem)]),
      null,
    ],
    ['a key that is not listed', async () => [await by(keys.ana), await by(keys.mallory)], anaAndBen, 'not one of'],
    [
      'a signature of another plan',
      async () => [await by(keys.ana), await by(keys.ben, other)],
      anaAndBen,
      'not a signature of this plan',
    ],
    [
      'a signature of a commit',
      async () => [await by(keys.ana), await signIn('git', keys.ben, bytes)],
      anaAndBen,
      'something else',
    ],
    [
      'a signature of a file',
      async () => [await by(keys.ana), await signIn('file', keys.ben, bytes)],
      anaAndBen,
      'something else',
    ],
    [
      'a key that may sign only commits',
      async () => [await by(keys.ana), await by(keys.ben)],
      () => ruleOf([signer('ana', keys.ana), signer('ben', keys.ben, { namespaces: 'git' })]),
      'not permitted',
    ],
    [
      'an expired key',
      async () => [await by(keys.ana), await by(keys.ben)],
      () => ruleOf([signer('ana', keys.ana), signer('ben', keys.ben, { validBefore: '20261121' })]),
      'expired',
    ],
    [
      'RSA with SHA-1',
      async () => [await by(keys.ana), await sha1Signature()],
      () => ruleOf([signer('ana', keys.ana), signer('rosa', keys.rsa)]),
      'too weak',
    ],
    [
      "the other's key in a signature of one's own",
      async () => [await by(keys.ana), await withKey(await by(keys.mallory), keys.ben)],
      anaAndBen,
      'not a signature of this plan',
    ],
    [
      'a huge signature',
      async () => [await by(keys.ana), `-----BEGIN SSH SIGNATURE-----\n${'A'.repeat(1 << 19)}`],
      anaAndBen,
      'longer',
    ],
    ['text', async () => [await by(keys.ana), 'I approve. Ben'], anaAndBen, 'damaged'],
  ])('%s is not approved', async (_label, signatures, rule, says) => {
    const result = await judged(await signatures(), rule());
    expect(result.approved).toBe(false);
    expect(result.missing).toMatch(/It needs the signatures of the planner and of one approver/);
    expect(result.refused).toEqual(says === null ? [] : [expect.stringContaining(says)]);
  });

  it('with SHA-1 would have been taken but for the algorithm', async () => {
    const rule = ruleOf([signer('ana', keys.ana), signer('rosa', keys.rsa)]);
    expect((await judged([await by(keys.ana), await rsaSignature('sha512', 'rsa-sha2-512')], rule)).approved).toBe(
      true,
    );
  });
});

const sha1Signature = (): Promise<string> => rsaSignature('sha1', 'ssh-rsa');

/** PROTOCOL.sshsig by hand: ssh-keygen no longer makes signatures with SHA-1. */
async function rsaSignature(digest: 'sha1' | 'sha512', algorithm: string): Promise<string> {
  const text = (value: string): Uint8Array => new TextEncoder().encode(value);
  const about = [text(NAMESPACE), text(''), text('sha512')];
  const digested = createHash('sha512').update(bytes).digest();
  const signed = Buffer.concat([text('SSHSIG'), sshBlob([...about, digested])]);
  const signature = rawSign(digest, signed, createPrivateKey(await readFile(keys.rsa.path)));
  const version = Buffer.from([0, 0, 0, 1]);
  const key = Buffer.from(keys.rsa.text.split(' ')[1] ?? '', 'base64');
  const fields = sshBlob([key, ...about, sshBlob([text(algorithm), signature])]);
  return armoured(Buffer.concat([text('SSHSIG'), version, fields]));
}

/** Puts another public key into a signature. */
async function withKey(signature: string, key: Key): Promise<string> {
  const bytes = Buffer.from(signature.split('\n').slice(1, -2).join(''), 'base64');
  const blob = Buffer.from(key.text.split(' ')[1] ?? '', 'base64');
  const length = bytes.readUInt32BE(10);
  expect(length).toBe(blob.length);
  blob.copy(bytes, 14);
  return armoured(bytes);
}

function armoured(blob: Uint8Array): string {
  const base64 = Buffer.from(blob).toString('base64');
  return `-----BEGIN SSH SIGNATURE-----\n${base64.replaceAll(/.{70}/g, '$&\n')}\n-----END SSH SIGNATURE-----\n`;
}

/** With an agent of its own that has these keys and the certificates beside them. */
async function withAgent<T>(paths: readonly string[], use: (env: NodeJS.ProcessEnv) => Promise<T>): Promise<T> {
  const agent = await openAgent(ring.folder, paths);
  try {
    return await use(agent.env);
  } finally {
    await agent.close();
  }
}
