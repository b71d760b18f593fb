import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { parse } from 'csv-parse/sync';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createHasher, writeHash } from '../../src/suppression/hash.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { handbillHere } from './in-process.ts';

const KEY = 'a-key-of-32-bytes-that-nobody-has';
const OTHER = 'another-key-of-more-than-16-bytes';
const PROJECT = 'defaultCountry: GB\nsuppressionKey: { env: SUPPRESSION_KEY }\n';

let project: TestProject;
beforeEach(() => {
  project = createProject({ '.git/HEAD': '', 'handbill.yaml': PROJECT });
});
afterEach(() => project[Symbol.dispose]());

const run = (args: string, key: string | null = KEY) =>
  handbillHere(project.root, ['suppress', ...args.split(' ')], {
    env: key === null ? {} : { SUPPRESSION_KEY: key },
  });
const hashOf = (form: string, key = KEY): string => {
  const hasher = createHasher(Buffer.from(key));
  return writeHash({ keyId: hasher.keyId, hash: hasher.hash(form) });
};
const OTHER_KEY = 'error[other-suppression-key]';
const schema = (name: string) =>
  new Ajv({ strict: false, allowUnionTypes: true }).compile(
    JSON.parse(readFileSync(new URL(`../../schemas/${name}.schema.json`, import.meta.url), 'utf8')) as object,
  );
const [isList, isCheck] = [schema('suppressions'), schema('suppression-check')];
const document = async (args: string, isSound: ReturnType<typeof schema>, key?: string | null) => {
  const found = JSON.parse((await run(`${args} --format json`, key)).out);
  expect(isSound(found), JSON.stringify(isSound.errors)).toBe(true);
  return found;
};
const held = async () => await document('list', isList);

describe('import', () => {
  test('takes addresses in any spelling and hashes, and counts who is new', async () => {
    project.write(
      'outs.csv',
      `\ufeffMSISDN;Email;Hash;Until;Note\n07700 900123;;;;"a;b"\n0044 7700 900124;Jane@EXAMPLE.com;;2999-12-31;\n;;${hashOf('+447700900125').toUpperCase()};;\n`,
    );
    expect(await run('import outs.csv')).toEqual({
      status: 0,
      out: '4 entries read from outs.csv, 4 new.\n',
      err: 'Ledger: .handbill/ledger.db\n',
    });
    expect((await run('import outs.csv')).out).toBe('4 entries read from outs.csv, 0 new.\n');
    const { suppressions, hashes } = await held();
    expect(suppressions).toMatchObject([
      { address: '+447700900123', until: null, source: 'outs.csv', reason: null },
      { address: '+447700900124', until: '3000-01-01T00:00:00.000Z' },
      { address: 'jane@example.com', until: '3000-01-01T00:00:00.000Z' },
    ]);
    expect(hashes).toMatchObject([{ hash: hashOf('+447700900125') }]);
  });

  test.each<[label: string, text: string, lines: number[], code: string]>([
    ['no address', 'msisdn\n07700900123\n12\nnobody\n', [3, 4], 'invalid-address'],
    ['another number of fields', 'msisdn,until\n07700900123\n', [2], 'invalid-suppression'],
    ['nobody', 'msisdn,email,until\n,,2027-01-01\n', [2], 'invalid-suppression'],
    ['no date', 'msisdn,until\n07700900123,soon\n', [2], 'invalid-suppression'],
    ['a bare hash', `hash\n${'ab'.repeat(32)}\n`, [2], 'invalid-suppression'],
    ['no column', 'mobile,name\n07700900123,Jane\n', [1], 'invalid-suppression'],
    ['no header', '', [1], 'csv-no-header'],
    ['a quote that is not closed', 'msisdn\n07700900123\n"x\n', [3], 'csv-syntax'],
    ['another key', `hash\n${hashOf('+447700900123', OTHER)}\n`, [2], 'other-suppression-key'],
  ])('is refused as a whole for a row with %s', async (_, text, lines, code) => {
    project.write('outs.csv', text);
    const { status, out, err } = await run('import outs.csv');
    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(err.match(/^error\[[a-z-]+\]/gm)).toEqual(lines.map(() => `error[${code}]`));
    for (const line of lines) expect(err).toContain(`outs.csv:${line}`);
    expect(err).not.toContain('07700900123');
    expect(existsSync(project.path('.handbill'))).toBe(false);
  });

  test('hashes need the key, and say what to do', async () => {
    project.write('outs.csv', `hash\n${hashOf('+447700900123')}\n`);
    const missing = await run('import outs.csv', null);
    expect(missing.status).toBe(2);
    expect(missing.err).toContain('error[missing-suppression-key]: outs.csv holds hashes.');
    expect(missing.err).toContain('SUPPRESSION_KEY');
    expect((await run('import outs.csv', 'short')).err).toContain('error[invalid-suppression-key]');
    project.write('handbill.yaml', 'defaultCountry: GB\n');
    expect((await run('import outs.csv')).err).toContain('suppressionKey: { env: HANDBILL_SUPPRESSION_KEY }');
  });

  test('a list of several steps; nothing of it where the hashes behind the addresses have another key', async () => {
    const rows = Array.from({ length: 12_000 }, (_, row) => `+4474001${String(row).padStart(5, '0')},\n`).join('');
    await run(`add ${hashOf('+447700900125', OTHER)}`, OTHER);
    project.write('outs.csv', `msisdn,hash\n${rows},${hashOf('+447700900123')}\n`);
    expect(await run('import outs.csv')).toMatchObject({ status: 2, err: expect.stringContaining(OTHER_KEY) });
    expect((await held()).suppressions).toEqual([]);
    expect((await run(`remove ${hashOf('+447700900125', OTHER)}`, OTHER)).status).toBe(0);
    expect((await run('import outs.csv')).out).toBe('12,001 entries read from outs.csv, 12,001 new.\n');
    expect((await held()).suppressions).toHaveLength(12_000);
    const shown = (await run('list')).out.trimEnd().split('\n');
    expect(shown).toHaveLength(12_002);
    expect(shown.filter((line) => line.startsWith('address'))).toHaveLength(1);
  });

  test('nothing but the bytes that were looked at is imported', async () => {
    project.write('outs.csv', 'msisdn\n07700900123\n');
    const { status, err } = await handbillHere(project.root, ['suppress', 'import', 'outs.csv'], {
      // Asked when the file has been looked at.
      now: () => {
        project.write('outs.csv', 'msisdn\n07700900123\n07700900124\n');
        return Date.now();
      },
    });
    expect({ status, err }).toEqual({ status: 2, err: expect.stringContaining('error[input-changed]') });
    expect((await held()).suppressions).toEqual([]);
  });

  test('a file that is not there', async () => {
    expect((await run('import none.csv')).err).toContain('error[file-not-found]');
  });
});

describe('export', () => {
  const reasons = ['=1+1', '"quoted", and more', "'=x", ' blank ', 'a\nb', '+447700900199'];

  test('is a file that import reads back without a loss, and no cell is a formula', async () => {
    for (const [i, reason] of reasons.entries()) {
      const until = i % 2 === 0 ? [] : ['--until', '2999-06-30T10:00:00Z'];
      const args = ['suppress', 'add', `+4477009001${10 + i}`, `person${i}@example.com`, `contact:=${i}`];
      await handbillHere(project.root, [...args, '--reason', reason, ...until]);
    }
    project.write('hashes.csv', `hash,until\n${hashOf('+447700900125')},\n${hashOf('c-1')},2999-01-01T00:00:00Z\n`);
    await run('import hashes.csv');
    const before = await held();
    const all = project.path('all.csv');
    const exported = await run(`export -o ${all}`);
    const { length } = readFileSync(all);
    expect(exported).toEqual({ status: 0, out: '', err: `Written: ${all} (${length.toLocaleString('en')} bytes)\n` });
    const cells: string[][] = parse(readFileSync(project.path('all.csv')));
    for (const cell of cells.flat()) expect(cell).not.toMatch(/^[=+@-]/);
    expect((await run('export')).out).toBe(readFileSync(project.path('all.csv'), 'utf8'));

    using copy = createProject({ 'handbill.yaml': PROJECT, 'all.csv': readFileSync(project.path('all.csv')) });
    const there = (args: string[]) => handbillHere(copy.root, ['suppress', ...args], { env: { SUPPRESSION_KEY: KEY } });
    expect((await there(['import', 'all.csv'])).out).toBe('20 entries read from all.csv, 20 new.\n');
    const after = JSON.parse((await there(['list', '--format', 'json'])).out);
    const plain = (all: Record<string, unknown>[]) => all.map(({ source, createdAt, ...rest }) => rest);
    expect(plain(after.suppressions)).toEqual(plain(before.suppressions));
    expect(plain(after.hashes)).toEqual(plain(before.hashes));
  });

  test('ids of contacts that look like numbers or email addresses come back too', async () => {
    const ids = ['+1234', 'a@b', "'x", '=1', '+99999999999', 'A@b.example'];
    await run(`add ${ids.map((id) => `contact:${id}`).join(' ')} +447700900123 jane@example.com`);
    const before = (await held()).suppressions.map(({ address }: { address: string }) => address);
    await run('export -o all.csv');
    for (const address of before) await run(`remove contact:${address}`);
    expect((await held()).suppressions).toEqual([]);
    expect(await run('import all.csv')).toMatchObject({
      err: 'Ledger: .handbill/ledger.db\n',
      status: 0,
      out: '8 entries read from all.csv, 8 new.\n',
    });
    expect((await held()).suppressions.map(({ address }: { address: string }) => address)).toEqual(before);
  });

  test('--hashed has no address and no reason; without the key there is none', async () => {
    await run('add +447700900123 Jane@example.com contact:c-1 --reason Jane');
    await run(`add ${hashOf('+447700900124')} --until 2999-12-31`);
    const { out } = await run('export --hashed');
    const [head, ...rows]: string[][] = parse(out);
    expect(head).toEqual(['hash', 'until', 'topic']);
    expect(rows.toSorted()).toEqual(
      [
        ...['+447700900123', 'jane@example.com', 'c-1'].map((form) => [hashOf(form), '', '']),
        [hashOf('+447700900124'), '3000-01-01T00:00:00.000Z', ''],
      ].toSorted(),
    );
    expect(await run('export --hashed', null)).toMatchObject({ status: 2, out: '' });
    expect(await run('export --hashed', OTHER)).toMatchObject({ status: 2, out: '' });
  });

  test('of nothing is a header, and makes no ledger', async () => {
    expect((await run('export')).out).toBe('msisdn,email,contact,hash,reason,until,topic\r\n');
    expect(existsSync(project.path('.handbill'))).toBe(false);
  });
});

describe('add, remove and check know hashes', () => {
  test('an address is removed together with its hash; without the key nothing is', async () => {
    await run(`add +447700900123 ${hashOf('+447700900123')} ${hashOf('jane@example.com')}`);
    expect(await run('remove 07700900123', null)).toMatchObject({ status: 2, out: '' });
    expect(await run('remove 07700900123', OTHER)).toMatchObject({ status: 2, out: '' });
    expect((await run('remove 07700900123 JANE@example.com')).out).toBe('2 addresses removed.\n');
    expect(await held()).toMatchObject({ suppressions: [], hashes: [] });
    await run(`add ${hashOf('+447700900123')}`);
    expect((await run(`remove ${hashOf('+447700900123')}`, null)).out).toBe('1 address removed.\n');
  });

  test('hashes of another key, or of none, are not added', async () => {
    expect((await run(`add ${hashOf('+447700900123', OTHER)}`)).err).toContain('error[other-suppression-key]');
    expect((await run(`add ${hashOf('+447700900123')}`, null)).err).toContain('error[missing-suppression-key]');
    expect(existsSync(project.path('.handbill'))).toBe(false);
  });

  test('the list shortens hashes in text', async () => {
    await run(`add ${hashOf('+447700900123')}`);
    expect((await run('list')).out).not.toContain(hashOf('+447700900123'));
    expect((await run('list --full')).out).toContain(hashOf('+447700900123'));
  });

  test('check: nothing, a key, another key, no key, a file that is wrong', async () => {
    const { keyId } = createHasher(Buffer.from(KEY));
    expect(await run('check', null)).toMatchObject({ status: 0, err: '' });
    await run(`add +447700900123 ${hashOf('+447700900124')}`);
    const fine = await run('check');
    expect(fine).toMatchObject({ status: 0, err: '' });
    expect(fine.out).toContain(`1 address, 1 hash (key ${keyId})`);
    expect((await run('check --quiet')).out).toBe('');
    expect(await document('check', isCheck)).toEqual({
      version: 1,
      addresses: 1,
      hashes: 1,
      keyId,
      ownKeyId: keyId,
      files: [],
      problems: [],
    });
    expect(await run('check', OTHER)).toMatchObject({
      status: 2,
      // Also where the lost key was replaced.
      err: expect.stringMatching(/other-suppression-key[\s\S]*If the key is lost/),
    });
    expect(await run('check', null)).toMatchObject({ status: 2, err: expect.stringContaining('SUPPRESSION_KEY') });
    project.write('handbill.yaml', `${PROJECT}suppressions: outs.csv\n`);
    project.write('outs.csv', 'msisdn\n1\n');
    expect(await run('check')).toMatchObject({ status: 2, err: expect.stringContaining('outs.csv:2') });
    expect((await document('check', isCheck, null)).problems).toMatchObject([
      { code: 'invalid-address', severity: 'error', file: 'outs.csv', line: 2 },
      { code: 'missing-suppression-key' },
    ]);
  });

  test('a key in a file must be private, and a literal key is refused; neither is shown', async () => {
    await run(`add ${hashOf('+447700900124')}`);
    project.write('key', `${KEY}\n`);
    project.write('handbill.yaml', 'suppressionKey: { file: key }\n');
    chmodSync(project.path('key'), 0o644);
    const open = await run('check', null);
    expect(open).toMatchObject({ status: 2, err: expect.stringContaining('key-file-permissions') });
    chmodSync(project.path('key'), 0o600);
    const secret = await run('check', null);
    expect(secret).toMatchObject({ status: 0, err: '' });
    project.write('handbill.yaml', `suppressionKey: ${KEY}\n`);
    const literal = await run('check', null);
    expect(literal).toMatchObject({ status: 2, err: expect.stringContaining('literal-key') });
    for (const { out, err } of [open, secret, literal]) expect(out + err).not.toContain(KEY);
  });
});

describe('check ADDRESS', () => {
  const NOON = Date.parse('2026-11-24T12:00:00Z');
  const at = (args: string[], key: string | null = KEY) =>
    handbillHere(project.root, ['suppress', ...args], {
      now: () => NOON,
      env: key === null ? {} : { SUPPRESSION_KEY: key },
    });
  const answersOf = async (args: string[], key?: string | null) => {
    const { out, status } = await at(['check', ...args, '--format', 'json'], key);
    const found = JSON.parse(out);
    expect(isCheck(found), JSON.stringify(isCheck.errors)).toBe(true);
    return { status, answers: found.answers, problems: found.problems };
  };

  test('says of each why, since when, until when and from where, and what has ended', async () => {
    project.write('handbill.yaml', `${PROJECT}suppressions: outs.csv\n`);
    project.write('outs.csv', 'msisdn,reason,until\n07700900123,complained,2026-12-31\n07700900125,,2026-01-31\n');
    await at(['add', '07700 900123', '--reason', 'asked by phone']);
    await at(['add', 'Jane@example.com', '--until', '2026-12-01T10:00:00Z']);
    const asked = ['07700 900123', 'JANE@example.com', '+447700900125', 'contact:c-1'];
    expect(await at(['check', ...asked])).toEqual({
      status: 0,
      err: '',
      out: [
        '07700 900123 (+447700900123): suppressed',
        '  ledger: since 2026-11-24 12:00:00 UTC, no end, reason: asked by phone, added by: user',
        '  outs.csv:2: until 2027-01-01 00:00:00 UTC, reason: complained',
        'JANE@example.com (jane@example.com): suppressed',
        '  ledger: since 2026-11-24 12:00:00 UTC, until 2026-12-01 10:00:00 UTC, added by: user',
        '+447700900125: not suppressed',
        '  outs.csv:3: ended 2026-02-01 00:00:00 UTC',
        'contact:c-1 (c-1): not suppressed',
        '',
      ].join('\n'),
    });
    const { answers } = await answersOf(asked);
    expect(answers[0]).toEqual({
      given: '07700 900123',
      address: '+447700900123',
      suppressed: true,
      entries: [
        {
          list: 'ledger',
          line: null,
          hashed: false,
          campaigns: null,
          topic: null,
          reason: 'asked by phone',
          since: '2026-11-24T12:00:00.000Z',
          until: null,
          source: 'user',
          active: true,
        },
        {
          list: 'outs.csv',
          line: 2,
          hashed: false,
          campaigns: null,
          topic: null,
          reason: 'complained',
          since: null,
          until: '2027-01-01T00:00:00.000Z',
          source: null,
          active: true,
        },
      ],
    });
    expect(answers.map(({ suppressed }: { suppressed: boolean }) => suppressed)).toEqual([true, true, false, false]);
    expect(answers[2].entries).toMatchObject([{ list: 'outs.csv', line: 3, active: false }]);
    expect((await at(['check', '+447700900124', '--quiet'])).out).toBe('+447700900124: not suppressed\n');
  });

  test('finds an address by its hash, and a hash by its address', async () => {
    await at(['add', hashOf('+447700900123'), '+447700900124', '--reason', 'shared']);
    project.write('handbill.yaml', `${PROJECT}suppressions: outs.csv\n`);
    project.write('outs.csv', `msisdn,hash\n07700900124,${hashOf('+447700900123')}\n`);
    const asked = ['07700900123', hashOf('+447700900124'), hashOf('+447700900123')];
    const { answers } = await answersOf(asked);
    const found = answers.map(({ entries }: { entries: { list: string; hashed: boolean; active: boolean }[] }) =>
      entries.map(({ list, hashed }) => [list, hashed]),
    );
    expect(found).toEqual([
      [
        ['ledger', true],
        ['outs.csv', true],
      ],
      [
        ['ledger', false],
        ['outs.csv', false],
      ],
      [
        ['ledger', true],
        ['outs.csv', true],
      ],
    ]);
    // The address behind a hash is not shown.
    expect(answers[1]).toMatchObject({ given: hashOf('+447700900124'), address: null, suppressed: true });
  });

  test('without the key, or with a list that cannot be read, who is not found is not called free', async () => {
    await at(['add', hashOf('+447700900123'), '+447700900124']);
    const unread = await answersOf(['07700900123', '07700900124'], null);
    expect(unread).toMatchObject({
      status: 2,
      answers: [{ suppressed: null }, { suppressed: true }],
      problems: [{ code: 'missing-suppression-key' }],
    });
    project.write('handbill.yaml', `${PROJECT}suppressions: outs.csv\n`);
    project.write('outs.csv', 'msisdn\n1\n');
    const { status, out, err } = await at(['check', '07700900199']);
    expect({ status, out }).toEqual({ status: 2, out: '07700900199 (+447700900199): unknown, see the problems\n' });
    expect(err).toContain('outs.csv:2');
  });

  test('names the campaign whose own list it is', async () => {
    project.write(
      'campaigns/spring/campaign.yaml',
      'name: spring\nchannel: sms\nfrom: Clinic\nsuppressions: own.csv\nrecipients: { csv: people.csv, to: mobile }\ncontent: { text: Hi }\n',
    );
    project.write('campaigns/spring/people.csv', 'mobile\n07700900123\n');
    project.write('campaigns/spring/own.csv', 'msisdn\n07700900123\n');
    expect((await at(['check', '07700900123', '07700900124'])).out).toBe(
      [
        '07700900123 (+447700900123): suppressed in spring only',
        '  campaigns/spring/own.csv:2: no end',
        '07700900124 (+447700900124): not suppressed',
        '',
      ].join('\n'),
    );
    const { answers } = await answersOf(['07700900123']);
    expect(answers).toMatchObject([{ suppressed: false, entries: [{ campaigns: ['spring'], active: true }] }]);
  });

  test('text that is not an address is refused, and nothing is answered', async () => {
    expect(await at(['check', '07700900123', '12'])).toMatchObject({ status: 2, out: '' });
    expect(existsSync(project.path('.handbill'))).toBe(false);
  });
});
