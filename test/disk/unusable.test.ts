import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HandbillError } from '../../src/errors.ts';
import { acquireRunLock } from '../../src/ledger/lock.ts';
import { networkFileSystem } from '../../src/ledger/private-files.ts';
import { send } from '../../src/operations/send.ts';
import { readReceipts } from '../oracle/receipts.ts';
import { CANARY_KEY, createScene, type Scene } from '../oracle/scene.ts';
import { type Api, startApi } from '../processes/api.ts';
import { openDoor } from './connections.ts';

/*
 * Ledgers that must not be used, as a sender meets them: no connection is made, the file stays as it is, and what is
 * said names the file and what to do. test/ledger/open.test.ts has the same at the door of the ledger alone.
 */

const FULL = process.env['HANDBILL_FULL'] === '1';
const ROOT = process.getuid?.() === 0;

interface Said {
  readonly exit: number | null;
  readonly text: string;
}

/** Sends within this process. */
async function sendHere(scene: Scene, options: Partial<Parameters<typeof send>[1]> = {}): Promise<Said> {
  try {
    const { exit } = await send('campaign.yaml', {
      cwd: scene.root,
      env: { HANDBILL_API_KEY: CANARY_KEY },
      now: Date.now,
      environment: 'test',
      confirm: () => Promise.resolve(true),
      ...options,
    });
    return { exit, text: '' };
  } catch (error) {
    if (!(error instanceof HandbillError)) throw error;
    const text = error.diagnostics.map(({ message, at, hint }) => `${message} ${at?.file ?? ''} help: ${hint ?? ''}`);
    return { exit: error.exit, text: text.join('\n') };
  }
}

async function sendThere(scene: Scene): Promise<Said> {
  const { status, stderr } = await scene.send();
  return { exit: status, text: stderr };
}

/** A run of which three of six were sent to. */
async function given(api: Api, url = api.url): Promise<Scene> {
  const scene = createScene({ rows: 6, baseUrl: url, receipts: api.receipts });
  expect(await sendHere(scene, { limit: 3 })).toEqual({ exit: 0, text: '' });
  return scene;
}

function lockOf(scene: Scene): string {
  const folder = scene.path('.handbill/locks');
  return join(folder, readdirSync(folder).find((name) => name.endsWith('.db')) ?? '');
}

type Damage = readonly [title: string, damage: (scene: Scene) => void, says: RegExp];

/** Only root can give files away. */
const OF_OTHERS: readonly Damage[] = [
  ['S26: of another user', ({ ledger }) => chownSync(ledger, 12_345, 12_345), /another user/],
  [
    'S26: a log of another user',
    ({ ledger }) => chownSync(put(`${ledger}-wal`, 0o600), 12_345, 12_345),
    /another user/,
  ],
];

const DAMAGES: readonly Damage[] = [
  [
    'H3: the second half is gone',
    ({ ledger }) => truncateSync(ledger, lstatSync(ledger).size / 2),
    /damaged|malformed/,
  ],
  ['H3: text', ({ ledger }) => writeFileSync(ledger, 'to,name\n'.repeat(2000)), /not a database/],
  ['H3: of another program', (scene) => foreign(scene, 'PRAGMA application_id = 42'), /another program/],
  [
    'H3: of another version of handbill',
    ({ ledger }) => alter(ledger, 'PRAGMA user_version = 99'),
    /Another version of handbill/,
  ],
  [
    'S27: an evil trigger',
    ({ ledger }) => alter(ledger, `CREATE TRIGGER evil AFTER UPDATE ON recipients BEGIN DELETE FROM suppressions; END`),
    /not those of this handbill/,
  ],
  [
    'S27: an evil view in the place of a table',
    ({ ledger }) => alter(ledger, 'CREATE VIEW evil AS SELECT * FROM recipients'),
    /not those of this handbill/,
  ],
  ['H4: gone', ({ ledger }) => rmSync(ledger), /--allow ledger-missing/],
  ['H4: of 0 bytes', ({ ledger }) => truncateSync(ledger, 0), /--allow ledger-missing/],
  [
    'S26: a link',
    ({ ledger }) => {
      renameSync(ledger, `${ledger}.real`);
      symlinkSync(`${ledger}.real`, ledger);
    },
    /is a link/,
  ],
  ['S26: writable by all users', ({ ledger }) => chmodSync(ledger, 0o666), /Others can write/],
  ['S26: a log that is a link', ({ ledger }) => symlinkSync('/etc/hostname', `${ledger}-wal`), /is a link/],
  ['S26: a log that all users can write', ({ ledger }) => put(`${ledger}-wal`, 0o666), /Others can write/],
  ['S26: an index that is a link', ({ ledger }) => symlinkSync('/etc/hostname', `${ledger}-shm`), /is a link/],
  ['S26: an index that all users can write', ({ ledger }) => put(`${ledger}-shm`, 0o622), /Others can write/],
  ['S26: a journal that is a link', ({ ledger }) => symlinkSync('/nowhere', `${ledger}-journal`), /is a link/],
  ['S26: a log that is a folder', ({ ledger }) => void mkdirSync(`${ledger}-wal`), /not a regular file/],
  [
    'H3: a folder in its place',
    ({ ledger }) => {
      rmSync(ledger);
      mkdirSync(ledger);
    },
    /not a regular file/,
  ],
  ['S26: its folder can be written by all users', (scene) => chmodSync(scene.path('.handbill'), 0o777), /chmod go-w/],
  [
    'H3: a file in the place of its folder',
    (scene) => {
      rmSync(scene.path('.handbill'), { recursive: true });
      scene.write('.handbill', 'a file');
    },
    /cannot be opened/,
  ],
  [
    'S26: a lock that is a link',
    (scene) => {
      const lock = lockOf(scene);
      rmSync(lock);
      symlinkSync('/nowhere/at/all', lock);
    },
    /is a link/,
  ],
  ['S26: a lock that all users can write', (scene) => chmodSync(lockOf(scene), 0o666), /Others can write/],
  [
    'S26: locks in a folder that all users can write',
    (scene) => chmodSync(scene.path('.handbill/locks'), 0o777),
    /chmod/,
  ],
  [
    'H3: a lock that is not a database',
    (scene) => writeFileSync(lockOf(scene), 'text\n'.repeat(500)),
    /not a database/,
  ],
  ...(ROOT ? OF_OTHERS : []),
];
describe.each(DAMAGES)('%s', (_, damage, says) => {
  it.each(FULL ? ['here', 'by the command line'] : ['here'])('is not used, and stays as it is: %s', async (where) => {
    await using api = await startApi();
    await using door = await openDoor(api.url);
    using scene = await given(api, door.url);
    damage(scene);
    const [connections, before] = [door.connections(), scene.contents()];
    const said = await (where === 'here' ? sendHere(scene) : sendThere(scene));
    expect(said.exit, said.text).toBe(7);
    expect(said.text).toMatch(says);
    expect(said.text).toMatch(/help: \S/);
    expect(said.text).not.toMatch(/\n\s+at /);
    expect(door.connections()).toBe(connections);
    expect(new Map([...scene.contents()].filter(([path]) => before.has(path)))).toEqual(before);
  });
});

it('a project does not forget that it has sent: exit 7 by the command line, until --allow ledger-missing (H4)', async () => {
  await using api = await startApi();
  using scene = await given(api);
  for (const name of readdirSync(scene.path('.handbill'))) {
    if (name !== '.ledger.db.marker') rmSync(scene.path(`.handbill/${name}`), { recursive: true });
  }
  const refused = await scene.send();
  expect(refused).toMatchObject({ status: 7, stdout: '' });
  expect(refused.stderr).toContain('--allow ledger-missing');
  expect(existsSync(scene.ledger)).toBe(false);
  expect(api.received()).toBe(3);
  expect((await scene.run(['report'])).status).toBe(7);

  expect((await scene.send(['--allow', 'ledger-missing'])).status).toBe(0);
  expect(api.received()).toBe(3 + 6);
});

it('killed while the first page of a new ledger was written: it is begun again (A1)', async () => {
  await using api = await startApi();
  using scene = createScene({ rows: 6, baseUrl: api.url, receipts: api.receipts });
  mkdirSync(scene.path('.handbill'), { mode: 0o700 });
  alter(scene.ledger, 'PRAGMA journal_mode = WAL; CREATE TABLE t (a)');
  // One page, and a journal that says that there were none before (https://sqlite.org/fileformat.html#the_rollback_journal).
  writeFileSync(scene.ledger, readFileSync(scene.ledger).subarray(0, 4096), { mode: 0o600 });
  const journal = Buffer.alloc(512);
  Buffer.from('d9d505f920a163d7', 'hex').copy(journal);
  journal.writeUInt32BE(512, 20);
  journal.writeUInt32BE(4096, 24);
  writeFileSync(`${scene.ledger}-journal`, journal, { mode: 0o600 });

  const before = scene.contents();
  // To a reader it is what it is to a sender: a ledger that was never begun.
  expect(await scene.run(['runs'])).toMatchObject({ status: 2, stderr: expect.stringContaining('there is no ledger') });
  expect(scene.contents()).toEqual(before);
  expect(await sendHere(scene)).toEqual({ exit: 0, text: '' });
  expect(scene.violations()).toEqual([]);
});

it('another process holds the run: exit 6 without waiting, and no connection is made (H2)', async () => {
  await using api = await startApi();
  await using door = await openDoor(api.url);
  using scene = await given(api, door.url);
  const connections = door.connections();
  const lock = acquireRunLock(scene.ledger, { environment: 'test', campaign: 'proof', occurrence: 'once' });
  expect(lock).not.toBeNull();
  const times: number[] = [];
  for (const command of ['runs', 'send']) {
    const began = performance.now();
    const { status, stderr } = await (command === 'send' ? scene.send() : scene.run(['runs']));
    times.push(performance.now() - began);
    expect(status, stderr).toBe(command === 'send' ? 6 : 0);
  }
  lock?.release();
  // How long a process takes to start is not what is asked, and depends on what else this machine does.
  const [start = 0, whole = 0] = times;
  expect(whole - start).toBeLessThan(4000);
  expect(door.connections()).toBe(connections);
});

it('a ledger older than the truth, a day later: nothing is posted without --allow too-late (H5)', async () => {
  await using api = await startApi();
  using scene = await given(api);
  const backup = new Map([...scene.contents()].filter(([path]) => path.startsWith(scene.path('.handbill'))));
  expect((await sendHere(scene)).exit).toBe(0);
  expect(api.received()).toBe(6);
  for (const [path, bytes] of backup) writeFileSync(path, bytes, { mode: 0o600 });
  // The restored ledger says that three are still to be sent to. The truth cannot be seen any more.
  const later = { now: () => Date.now() + 25 * 3_600_000 };
  const said = await sendHere(scene, later);
  expect(said.exit).toBe(2);
  expect(said.text).toContain('--allow too-late');
  expect(api.received()).toBe(6);
});

/** ext4, xfs, btrfs, tmpfs, overlay, zfs, APFS. */
const LOCAL = [0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0x1a];

it.each([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9p'],
  ...LOCAL.map((magic) => [magic, null] as const),
] as readonly (readonly [number, string | null])[])('a file system %i is %s (H6)', (magic, name) => {
  expect(networkFileSystem(magic)).toBe(name);
});

it('on a network file system no ledger is made, and no connection is made (H6)', async () => {
  await using api = await startApi();
  await using door = await openDoor(api.url);
  using scene = createScene({ rows: 6, baseUrl: door.url, receipts: api.receipts });
  const preload = pathToFileURL(join(import.meta.dirname, 'preload', 'network-file-system.ts')).href;
  const { status, stderr } = await scene.send([], { env: { NODE_OPTIONS: `--import=${preload}` } });
  expect(status, stderr).toBe(7);
  expect(stderr).toMatch(/network file system \(NFS\)[\s\S]*help: Keep the ledger on a local disk/);
  expect(existsSync(scene.ledger)).toBe(false);
  expect(door.connections()).toBe(0);
});

it('all files of a ledger in use are private, under umask 000 (S26)', async () => {
  const modes = new Map<string, string>();
  await using api = await startApi((number) => {
    if (number === 2) for (const name of ['.', ...readdirSync(folder, { recursive: true })]) note(String(name));
    return {};
  });
  using scene = createScene({ rows: 3, baseUrl: api.url, receipts: api.receipts });
  const folder = scene.path('.handbill');
  const note = (name: string): void => {
    modes.set(name, (lstatSync(join(folder, name)).mode & 0o777).toString(8));
  };
  const { status, stderr } = await scene.send([], { via: ['sh', '-c', 'umask 000; exec "$@"', 'sh'] });
  expect(status, stderr).toBe(0);
  for (const name of ['ledger.db', 'ledger.db-wal', 'ledger.db-shm', '.ledger.db.marker', 'ledger.db.reserve']) {
    expect([name, modes.get(name)]).toEqual([name, '600']);
  }
  for (const [name, mode] of modes) expect([name, mode]).toEqual([name, /^(\.|locks)$/.test(name) ? '700' : '600']);
});

it('whatever bytes of a ledger are changed, no recipient is sent to twice (H3)', { timeout: 300_000 }, async () => {
  await using api = await startApi();
  using scene = await given(api);
  const whole = new Map([...scene.contents()].filter(([path]) => path.startsWith(scene.path('.handbill'))));
  const bytes = readFileSync(scene.ledger);
  const sent = readFileSync(api.receipts);
  let refused = 0;
  const flips = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 })), {
    minLength: 1,
    maxLength: 8,
  });
  const kept = fc.option(fc.nat(bytes.length), { freq: 6, nil: bytes.length });
  const property = fc.asyncProperty(flips, kept, async (changes, size) => {
    for (const [path, content] of whole) writeFileSync(path, content, { mode: 0o600 });
    for (const suffix of ['-wal', '-shm']) rmSync(scene.ledger + suffix, { force: true });
    writeFileSync(api.receipts, sent);
    const changed = Buffer.from(bytes.subarray(0, size));
    for (const [at, mask] of changes) if (at < size) changed[at] = (changed[at] ?? 0) ^ mask;
    writeFileSync(scene.ledger, changed, { mode: 0o600 });
    const said = await sendHere(scene);
    expect([0, 2, 3, 4, 5, 7], said.text).toContain(said.exit);
    if (said.exit === 7 && said.text !== '') {
      refused += 1;
      // Damage inside a text shows when the run is looked at: by then the ledger says who holds it, and nothing else.
      if (!said.text.includes('what it holds of a run')) expect(readFileSync(scene.ledger).equals(changed)).toBe(true);
      expect(readFileSync(api.receipts).equals(sent)).toBe(true);
    }
    const people = readReceipts(api.receipts).map(({ reference }) => reference);
    expect(people.length).toBeGreaterThanOrEqual(3);
    expect(new Set(people).size).toBe(people.length);
  });
  const runs = FULL ? 400 : 30;
  await fc.assert(property, { numRuns: runs, seed: 20_261_121, endOnFailure: true });
  expect(refused).toBeGreaterThan(0);
});

function put(path: string, mode: number): string {
  writeFileSync(path, '');
  chmodSync(path, mode);
  return path;
}

function alter(ledger: string, statement: string): void {
  const db = new DatabaseSync(ledger);
  db.exec(statement);
  db.close();
}

function foreign({ ledger }: Scene, statement: string): void {
  rmSync(ledger);
  alter(ledger, `CREATE TABLE theirs (a); ${statement}`);
  chmodSync(ledger, 0o600);
}
