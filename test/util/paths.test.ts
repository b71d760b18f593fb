import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import {
  displayPath,
  findFileAnywhere,
  findFileInside,
  findFolderInside,
  isInside,
  placeInside,
  readSmallFile,
} from '../../src/util/paths.ts';

let base: string;
let root: string;
let folder: string;

beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'handbill-paths-')));
  root = join(base, 'project');
  folder = join(root, 'campaigns');
  await mkdir(join(folder, 'sub'), { recursive: true });
  await mkdir(join(base, 'project-evil'));
  await writeFile(join(base, 'secret'), 'secret');
  await writeFile(join(base, 'project-evil', 'secret'), 'secret');
  await writeFile(join(root, 'shared.csv'), 'a');
  await writeFile(join(folder, 'hello.hbs'), 'hello');
  await symlink('hello.hbs', join(folder, 'link.hbs'));
  await symlink('/etc/passwd', join(folder, 'passwd'));
  await symlink(base, join(folder, 'linked-folder'));
  await symlink(join(root), join(folder, 'inner-link'));
  await symlink('loop', join(folder, 'loop'));
  await symlink('nowhere', join(folder, 'dangling'));
  await symlink('/dev/zero', join(folder, 'zero'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
});

afterAll(() => rm(base, { recursive: true, force: true }));

async function codeOf(written: string): Promise<string> {
  const found = findFileInside(root, folder, written);
  return 'fault' in found ? found.fault.code : found.path.slice(root.length);
}

describe('a path in a campaign (S24)', () => {
  test.each([
    ['beside the campaign', 'hello.hbs', '/campaigns/hello.hbs'],
    ['with a dot', './hello.hbs', '/campaigns/hello.hbs'],
    ['up, but inside', '../shared.csv', '/shared.csv'],
    ['down and up', 'sub/../hello.hbs', '/campaigns/hello.hbs'],
    ['a link to a file inside', 'link.hbs', '/campaigns/hello.hbs'],
    ['through a link that stays inside', 'inner-link/shared.csv', '/shared.csv'],
  ])('%s', async (_label, written, path) => expect(await codeOf(written)).toBe(path));

  test.each([
    ['out of the project', '../../secret', 'path-outside-project'],
    ['far out', '../../../../../../../../etc/passwd', 'path-outside-project'],
    ['far out, in capitals', '../../../../../../../../ETC/PASSWD', 'path-outside-project'],
    ['to a folder whose name begins like the root', '../../project-evil/secret', 'path-outside-project'],
    ['out by spelling, back in', '../../project/shared.csv', '/shared.csv'],
    ['absolute', '/etc/passwd', 'path-outside-project'],
    ['absolute on Windows', 'C:\\Windows\\win.ini', 'path-outside-project'],
    ['a drive', 'C:hello.hbs', 'path-outside-project'],
    ['with backslashes', '..\\..\\secret', 'path-outside-project'],
    ['a link out of the project', 'passwd', 'path-outside-project'],
    ['through a linked folder', 'linked-folder/secret', 'path-outside-project'],
    ['with a NUL', 'hello.hbs\0.csv', 'path-outside-project'],
    ['a link to a device', 'zero', 'path-outside-project'],
    ['a device', '/dev/zero', 'path-outside-project'],
    ['a link to itself', 'loop', 'file-unreadable'],
    ['a link to nothing', 'dangling', 'file-not-found'],
    ['nothing', '', 'file-not-found'],
    ['a missing file', 'helo.hbs', 'file-not-found'],
    ['another case', 'Hello.hbs', 'file-not-found'],
    ['a file as a folder', 'hello.hbs/x', 'file-not-found'],
    ['a folder', 'sub', 'file-not-regular'],
    ['the folder itself', '.', 'file-not-regular'],
    ['a pipe', 'pipe', 'file-not-regular'],
    ['a name that is too long', 'x'.repeat(300), 'file-unreadable'],
    ['a home folder that is none', '~/secret', 'file-not-found'],
  ])('%s', async (_label, written, code) => expect(await codeOf(written)).toBe(code), 2000);

  it('asks nothing of the disk about what lies outside', async () => {
    const there = findFileInside(root, folder, '../../secret');
    const missing = findFileInside(root, folder, '../../nothing');
    expect(JSON.stringify(there).replaceAll('secret', '')).toBe(JSON.stringify(missing).replaceAll('nothing', ''));
  });

  it('says of a link to nothing that it is one, and does not suggest its own name', async () => {
    expect(findFileInside(root, folder, 'dangling')).toMatchObject({
      fault: { hint: 'It is a link to a file that does not exist.' },
    });
  });

  it('suggests a name from the folder', async () => {
    expect(findFileInside(root, folder, 'helo.hbs')).toMatchObject({
      fault: { hint: 'Did you mean "hello.hbs"?' },
    });
    expect(findFileInside(root, folder, '../shaerd.csv')).toMatchObject({
      fault: { hint: 'Did you mean "../shared.csv"?' },
    });
    expect(findFileInside(root, folder, 'nowhere/x.hbs')).toMatchObject({
      fault: { hint: 'The folder "nowhere" does not exist either.' },
    });
  });

  it.each([
    ['https://riverside.example/people.csv', /download it/],
    ['~/people.csv', /"~" is not replaced/],
    ['$HOME/people.csv', /"\$HOME" is not replaced/],
    ['*.csv', /one file/],
  ])('says why %s is no path', (written, hint) => {
    expect(findFileInside(root, folder, written)).toMatchObject({ fault: { hint: expect.stringMatching(hint) } });
  });

  it('of a file without read permission', { skip: process.getuid?.() === 0 }, async () => {
    await writeFile(join(folder, 'closed'), '');
    await chmod(join(folder, 'closed'), 0);
    expect(await codeOf('closed')).toBe('file-unreadable');
  });
});

describe('folders', () => {
  test.each([
    ['sub', true],
    ['inner-link', true],
    ['linked-folder', false],
    ['hello.hbs', false],
    ['../..', false],
    ['nothing', false],
  ])('%s', async (written, good) => expect('path' in findFolderInside(root, folder, written)).toBe(good));
});

describe('a list that is named on the command line', () => {
  it('may lie anywhere, but must be a file', async () => {
    expect(findFileAnywhere(folder, '../../secret')).toEqual({ path: join(base, 'secret') });
    expect(findFileAnywhere(folder, join(base, 'secret'))).toEqual({ path: join(base, 'secret') });
    for (const path of ['/dev/zero', '/dev/null', 'pipe', '.', 'zero']) {
      expect(findFileAnywhere(folder, path)).toMatchObject({ fault: { code: 'file-not-regular' } });
    }
    expect(findFileAnywhere(folder, 'no')).toMatchObject({ fault: { code: 'file-not-found' } });
    expect(findFileAnywhere(folder, 'a\0b')).toMatchObject({ fault: { code: 'path-outside-project' } });
  });
});

describe('a place for a new file', () => {
  it('need not exist, but lies inside by its real folder', async () => {
    expect(placeInside(root, root, 'new/folder/ledger.db')).toEqual({ path: join(root, 'new/folder/ledger.db') });
    expect(placeInside(root, folder, 'inner-link/x/ledger.db')).toEqual({ path: join(root, 'x/ledger.db') });
    for (const written of ['../ledger.db', '/tmp/ledger.db', 'campaigns/linked-folder/ledger.db', '', 'a\0']) {
      expect(placeInside(root, root, written), written).toHaveProperty('fault');
    }
  });

  it('keeps a link as the last part, so that it can be seen', async () => {
    expect(placeInside(root, folder, 'passwd')).toEqual({ path: join(folder, 'passwd') });
  });
});

describe('readSmallFile', () => {
  it('reads all bytes, up to the limit', async () => {
    const path = join(base, 'bytes');
    await writeFile(path, 'x'.repeat(10));
    expect(readSmallFile(path, 10)).toEqual({ bytes: new Uint8Array(await readFile(path)) });
    expect(readSmallFile(path, 9)).toMatchObject({ fault: { code: 'file-too-large' } });
  });

  it('reads files that report no size', async () => {
    const read = readSmallFile('/proc/self/status', 1 << 20);
    expect('bytes' in read && read.bytes.length).toBeGreaterThan(100);
    expect(readSmallFile('/proc/self/status', 10)).toMatchObject({ fault: { code: 'file-too-large' } });
  });

  test.each([
    ['pipe', 'file-not-regular'],
    ['sub', 'file-not-regular'],
    ['link.hbs', 'file-unreadable'],
    ['nothing', 'file-not-found'],
  ])(
    'does not wait for, follow or invent: %s',
    async (name, code) => {
      expect(readSmallFile(join(folder, name), 100)).toMatchObject({ fault: { code } });
    },
    2000,
  );

  it('does not read a device', async () => {
    expect(readSmallFile('/dev/zero', 100)).toMatchObject({ fault: { code: 'file-not-regular' } });
  }, 2000);
});

it('names paths as short as it can', () => {
  expect(displayPath('/a/b/c.yaml', '/a')).toBe('b/c.yaml');
  expect(displayPath('/a/handbill.yaml', '/a/b/c')).toBe('/a/handbill.yaml');
  expect(displayPath('/long/way/down/handbill.yaml', '/long/way/down/hello')).toBe('../handbill.yaml');
  expect(displayPath('/a', '/a')).toBe('/a');
});

it('does not take a longer name for a folder inside', () => {
  expect(isInside('/a/b', '/a/b')).toBe(true);
  expect(isInside('/a/b', '/a/b/c')).toBe(true);
  expect(isInside('/a/b', '/a/bc')).toBe(false);
  expect(isInside('/', '/a')).toBe(true);
});
