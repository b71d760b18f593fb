import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseSigners, readSigners } from '../../src/approval/verify.ts';
import { type Key, type Keyring, openKeyring } from './keys.ts';

let ring: Keyring;
let key: Key;
let short: Key;

beforeAll(async () => {
  ring = await openKeyring();
  key = await ring.make('ana');
  short = await ring.make('short', '-t', 'rsa', '-b', '1024');
});
afterAll(() => ring.remove());

const plain = { authority: false, validAfter: null, validBefore: null, namespaces: null };

describe('a line', () => {
  it.each<[label: string, line: (key: string) => string, expected: object]>([
    ['name and key', (k) => `ana@x.org ${k}`, { ...plain, names: ['ana@x.org'] }],
    ['with a comment behind', (k) => `ana@x.org\t${k} ana at work`, { ...plain, names: ['ana@x.org'] }],
    ['several names', (k) => `ana@x.org,ana@y.org ${k}`, { ...plain, names: ['ana@x.org', 'ana@y.org'] }],
    [
      'options',
      (k) => `ana namespaces="handbill-*,git",valid-after="20260101",VALID-BEFORE="20270101120000Z" ${k}`,
      {
        ...plain,
        names: ['ana'],
        namespaces: 'handbill-*,git',
        validAfter: '20260101',
        validBefore: '20270101120000Z',
      },
    ],
    ['an authority', (k) => `*@x.org cert-authority ${k}`, { ...plain, names: ['*@x.org'], authority: true }],
  ])('%s', (_label, line, expected) => {
    const read = parseSigners(`# people\n\n${line(key.text)}\r\n`, 'approvers');
    expect(read).toEqual({ signers: [{ ...expected, key: key.text }], diagnostics: [] });
  });

  it.each<[label: string, line: (key: string) => string, says: RegExp]>([
    ['a pattern for people', (k) => `*@x.org ${k}`, /not the name of one person: patterns/],
    ['a name that begins like an option', (k) => `-Overify-time=2020 ${k}`, /not the name of one person/],
    ['a name in quotes', (k) => `"ana" ${k}`, /not the name of one person/],
    ['an empty name', (k) => `ana,,ben ${k}`, /not the name of one person/],
    ['a name beside a control character', (k) => `ana\u0000 ${k}`, /not the name of one person/],
    ['a pattern that excludes', (k) => `!ana ${k}`, /not the name of one person/],
    ['only a name', () => 'ana', /A name and a key/],
    ['no name', (k) => k, /options of this line|not the name/],
    ['an unknown option', (k) => `ana no-touch-required ${k}`, /options/],
    ['an option twice', (k) => `ana valid-before="20270101",valid-before="20280101" ${k}`, /options/],
    ['a date that is none', (k) => `ana valid-before="tomorrow" ${k}`, /options/],
    ['an option without its quotes', (k) => `ana valid-before=20270101 ${k}`, /options/],
    ['damaged base64', (k) => `ana ${k.slice(0, -3)}`, /damaged/],
    ['another type than the key says', (k) => `ana ${k.replace('ssh-ed25519 ', 'ssh-rsa ')}`, /of another type/],
    ['DSA', () => 'ana ssh-dss AAAAB3NzaC1kc3MAAAABAQ==', /of this type/],
    ['a short RSA key', () => `ana ${short.text}`, /shorter than 2048/],
  ])('%s is refused, with its line', (_label, line, says) => {
    const { signers, diagnostics } = parseSigners(`ben ${key.text}\n${line(key.text)}\n`, 'approvers');
    expect(signers).toHaveLength(1);
    expect(diagnostics).toEqual([
      expect.objectContaining({ message: expect.stringMatching(says), at: { file: 'approvers', line: 2 } }),
    ]);
  });
});

it('names a person', () => {
  expect(parseSigners('# nobody yet\n', 'approvers').diagnostics).toHaveLength(1);
});

it('is a file that can be read', async () => {
  const missing = await readSigners({ file: `${ring.folder}/missing`, where: {} });
  expect(missing.diagnostics[0]?.code).toBe('file-not-found');
  expect((await readSigners({ file: ring.folder, where: {} })).diagnostics[0]?.code).toBe('file-not-regular');
});

it.each<[label: string, options: string]>([
  ['commas', ','.repeat(200_000)],
  ['commas in quotes', '","'.repeat(66_000)],
  ['options without end', 'namespaces="a",'.repeat(13_000)],
  ['quotes', '"'.repeat(200_001)],
])('a hostile line is refused at once: %s', (_, options) => {
  const before = process.cpuUsage();
  const { signers, diagnostics } = parseSigners(`ana ${options} ${key.text}\n`, 'approvers');
  const { user, system } = process.cpuUsage(before);
  expect([signers, diagnostics.length]).toEqual([[], 1]);
  expect((user + system) / 1000).toBeLessThan(300);
});
