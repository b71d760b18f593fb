import { execFileSync } from 'node:child_process';
import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { findCampaigns } from '../../src/campaign/find.ts';
import { readCampaign } from '../../src/campaign/load.ts';
import { findProject } from '../../src/campaign/place.ts';
import { readProject } from '../../src/campaign/project.ts';
import { folderWith, hello, SMALLEST } from './helper.ts';

describe('a campaign is found', () => {
  test.each([
    ['by its file', 'campaigns/hello/campaign.yaml', '.'],
    ['by its folder', 'campaigns/hello', '.'],
    ['by its folder with a slash', './campaigns/hello/', '.'],
    ['by its name', 'hello', '.'],
    ['by its name, from inside', 'hello', 'campaigns/hello'],
    ['by its name, from the campaigns', 'hello', 'campaigns'],
    ['as the current folder', '.', 'campaigns/hello'],
    ['by a file of another name', 'campaigns/hello/sms.yml', '.'],
  ])('%s', async (_label, target, cwd) => {
    await using folder = await folderWith({
      ...hello(),
      'campaigns/hello/sms.yml': SMALLEST.replace('hello\n', 'other\n'),
    });
    const { campaign, diagnostics } = await readCampaign(target, { cwd: join(folder.root, cwd) });
    expect(diagnostics).toEqual([]);
    expect(campaign?.name).toMatch(/hello|other/);
  });

  it('by its name although a folder of that name lies here', async () => {
    await using folder = await folderWith({ ...hello(), 'hello/readme.md': '' });
    expect((await folder.read('hello')).file).toBe('campaigns/hello/campaign.yaml');
  });

  test.each([
    ['a misspelt name', 'helo', /mean "hello"/],
    ['a name unlike any', 'zzz', /Campaigns here: hello/],
    ['a misspelt path', 'campaigns/helo', /mean "campaigns\/hello"/],
    ['a folder without a campaign', 'campaigns', /holds no campaign.yaml/],
    ['nothing', '', /Name a campaign/],
    ['a NUL', 'hello\0', /Name a campaign/],
    ['a path that leads far out', '../../nowhere/x', /./],
  ])('not: %s', async (_label, target, hint) => {
    await using folder = await folderWith(hello());
    const { campaign, diagnostics, file } = await folder.read(target);
    expect([campaign, file]).toEqual([null, null]);
    expect(diagnostics.map((d) => d.code)).toEqual(['campaign-not-found']);
    expect(diagnostics[0]?.hint).toMatch(hint);
  });

  it('not in a pipe or a device, and without waiting', async () => {
    await using folder = await folderWith({ 'campaigns/x': '' });
    execFileSync('mkfifo', [join(folder.root, 'pipe.yaml')]);
    await symlink('nowhere', join(folder.root, 'dangling.yaml'));
    expect((await folder.read('pipe.yaml')).diagnostics).toMatchObject([{ code: 'file-not-regular' }]);
    expect((await folder.read('/dev/zero')).diagnostics).toMatchObject([{ code: 'file-not-regular' }]);
    expect((await folder.read('dangling.yaml')).diagnostics).toMatchObject([{ code: 'file-not-found' }]);
  }, 5000);
});

describe('a project', () => {
  it('is the folder of the outermost handbill.yaml, else of the only one below, else the repository', async () => {
    await using folder = await folderWith({
      'a/handbill.yaml': '',
      'a/b/handbill.yaml': '',
      'a/b/c/x': '',
      'd/e/x': '',
    });
    const at = async (path: string) => findProject(join(folder.root, path)).file;
    for (const path of ['a/b/c', 'a/b', 'a', 'd/e', '.']) {
      expect(await at(path), path).toBe(join(folder.root, 'a/handbill.yaml'));
    }
    await rm(join(folder.root, 'a'), { recursive: true });
    expect(findProject(join(folder.root, 'd/e'))).toEqual({ root: folder.root, file: null, isMarked: true });
  });

  it('does not reach beyond its repository', async () => {
    await using folder = await folderWith({
      'handbill.yaml': 'ledger: evil.db\n',
      'repository/.git/HEAD': '',
      'repository/x/y': '',
    });
    expect(findProject(join(folder.root, 'repository/x'))).toEqual({
      root: join(folder.root, 'repository'),
      file: null,
      isMarked: true,
    });
  });

  it('is found by real path', async () => {
    await using folder = await folderWith({ 'a/handbill.yaml': '', 'a/b/x': '' });
    await symlink(join(folder.root, 'a/b'), join(folder.root, 'link'));
    expect(findProject(join(folder.root, 'link')).root).toBe(join(folder.root, 'a'));
  });

  test.each([
    ['by default', '', undefined, '.handbill/ledger.db'],
    ['as the project says', 'ledger: state/l.db\n', undefined, 'state/l.db'],
    ['as the command line says', 'ledger: state/l.db\n', 'other/l.db', 'other/l.db'],
  ])('has its ledger %s', async (_label, yaml, ledger, expected) => {
    await using folder = await folderWith({ 'handbill.yaml': yaml, 'cwd/x': '' });
    const options = { cwd: join(folder.root, 'cwd'), ...(ledger === undefined ? {} : { ledger }) };
    const { project, diagnostics } = readProject(findProject(folder.root), options);
    expect(diagnostics).toEqual([]);
    expect(project.ledger).toBe(join(folder.root, expected));
  });

  test.each([
    ['ledger: ../l.db\n', 'path-outside-project'],
    ['ledger: /tmp/l.db\n', 'path-outside-project'],
    ['ledger: postgres://me:SEKRET@host/db\n', 'literal-key'],
    ['ledger: postgres://me@host/db?password=SEKRET\n', 'literal-key'],
    ['ledger: postgres://me:SEKRET@host:port/db\n', 'invalid-value'],
    ['ledger: mysql://me:SEKRET@host/db\n', 'invalid-value'],
    ['prices: ../p.csv\n', 'path-outside-project'],
    ['prices: gone.csv\n', 'file-not-found'],
  ])('with %j is refused', async (yaml, code) => {
    await using folder = await folderWith({ 'handbill.yaml': yaml });
    const { diagnostics } = readProject(findProject(folder.root), { cwd: folder.root });
    expect(diagnostics).toMatchObject([{ code, at: { file: 'handbill.yaml', line: 1 } }]);
    expect(JSON.stringify(diagnostics)).not.toContain('SEKRET');
  });

  it('has its ledger on a database server, whose password comes from outside of the file', async () => {
    await using folder = await folderWith({ 'handbill.yaml': 'ledger: postgres://me@host/db\n' });
    const inFile = readProject(findProject(folder.root), { cwd: folder.root });
    expect(inFile.diagnostics).toEqual([]);
    expect(inFile.project.ledger).toBe('postgres://me@host/db');
    const ledger = 'postgresql://me:SEKRET@host/db';
    const given = readProject(findProject(folder.root), { cwd: folder.root, ledger });
    expect(given.diagnostics).toEqual([]);
    expect(given.project.ledger).toBe(ledger);
  });

  it.each(['mysql://me:SEKRET@host/db', 'postgres://me:SEKRET@host:port/db'])(
    'with --ledger %s is refused',
    async (ledger) => {
      await using folder = await folderWith({});
      const { diagnostics } = readProject(findProject(folder.root), { cwd: folder.root, ledger });
      expect(diagnostics.map((d) => d.code)).toEqual(['invalid-value']);
      expect(JSON.stringify(diagnostics)).not.toContain('SEKRET');
    },
  );

  test.each([
    ['ftp://proxy.example', 'invalid-value'],
    ['proxy.example:3128', 'invalid-value'],
    ['http://me:SEKRET@proxy.example', 'not-supported'],
    ['http://proxy.example/path', 'invalid-value'],
  ])('with the proxy %s is refused', async (proxy, code) => {
    const yaml = `environments:\n  p:\n    baseUrl: https://a.example\n    apiKey: { env: K }\n    proxy: ${proxy}\n`;
    await using folder = await folderWith({ 'handbill.yaml': yaml });
    const { diagnostics } = readProject(findProject(folder.root), { cwd: folder.root });
    expect(diagnostics.map((d) => d.code)).toEqual([code]);
    expect(JSON.stringify(diagnostics)).not.toContain('SEKRET');
  });

  it('whose handbill.yaml is not a file, or is empty', async () => {
    await using folder = await folderWith({});
    await mkdir(join(folder.root, 'handbill.yaml'));
    expect(readProject(findProject(folder.root), { cwd: folder.root }).diagnostics).toMatchObject([
      { code: 'file-not-regular' },
    ]);
    await using empty = await folderWith({ 'handbill.yaml': '# nothing yet\n' });
    expect(readProject(findProject(empty.root), { cwd: empty.root }).diagnostics).toEqual([]);
  });
});

const OTHER = SMALLEST.replace('hello\n', 'other\n');

describe('campaigns to validate', () => {
  const files = {
    ...hello(),
    'campaigns/a/b/campaign.yaml': OTHER,
    'campaigns/hello/sms.yaml': OTHER,
    'campaigns/hello/other.yaml': 'x: 1\n',
    'campaigns/node_modules/x/campaign.yaml': SMALLEST,
    'campaigns/.hidden/campaign.yaml': SMALLEST,
    'elsewhere/campaign.yaml': OTHER,
    'handbill.yaml': '',
    'sub/campaigns/c/campaign.yaml': OTHER,
    'twelve/1.yaml': '['.repeat(20_000),
    'twelve/2.yml': '['.repeat(20_000),
  };
  test.each<[label: string, paths: readonly string[], expected: readonly string[]]>([
    [
      'without paths',
      [],
      ['campaigns/a/b/campaign.yaml', 'campaigns/hello/campaign.yaml', 'sub/campaigns/c/campaign.yaml'],
    ],
    [
      'of a folder',
      ['campaigns'],
      ['campaigns/a/b/campaign.yaml', 'campaigns/hello/campaign.yaml', 'campaigns/hello/sms.yaml'],
    ],
    ['of a file, whatever it is called', ['campaigns/hello/other.yaml'], ['campaigns/hello/other.yaml']],
    ['by name', ['hello'], ['campaigns/hello/campaign.yaml']],
    ['of a folder in which nothing looks like one', ['twelve'], ['twelve/1.yaml', 'twelve/2.yml']],
    ['named twice', ['elsewhere', 'elsewhere/campaign.yaml'], ['elsewhere/campaign.yaml']],
  ])('%s', async (_label, paths, expected) => {
    await using folder = await folderWith(files);
    const found = findCampaigns(paths, folder.root);
    expect(found).toEqual({ files: expected.map((f) => join(folder.root, f)), diagnostics: [] });
  });

  it('that are not there', async () => {
    await using folder = await folderWith(files);
    const { diagnostics } = findCampaigns(['helo', 'x/y', 'a\0b'], folder.root);
    expect(diagnostics.map((d) => d.code)).toEqual(Array(3).fill('campaign-not-found'));
  });

  it('twelve files of 20,000 brackets are twelve errors', async () => {
    const bombs = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`dir/${i}.yaml`, '['.repeat(20_000)]));
    await using folder = await folderWith(bombs);
    const { files: found } = findCampaigns(['dir'], folder.root);
    expect(found).toHaveLength(12);
    for (const file of found) {
      expect((await folder.read(file)).diagnostics).toMatchObject([
        { code: 'yaml-too-deep', at: { line: 1, column: 65 } },
      ]);
    }
  });
});

describe('two campaigns of one name', () => {
  const pair = (second: string) => ({ ...hello(), 'campaigns/second/campaign.yaml': second });
  test.each([
    ['plain', SMALLEST],
    ['with quotes and a comment', SMALLEST.replace('name: hello', 'name: "hello" # again')],
    ['written as JSON', '{ "name": "hello", "template": "x" }'],
    ['with CRLF', SMALLEST.replaceAll('\n', '\r\n')],
    ['with content', 'name: hello\nchannel: rcs\ncontent: { text: Hi }\nrecipients: people.csv\n'],
    ['with variants', 'name: hello\nvariants: []\nrecipients: people.csv\n'],
    ['with content, as JSON', '{ "name": "hello", "content": { "text": "Hi" } }'],
  ])('are an error for both: %s', async (_label, second) => {
    await using folder = await folderWith(pair(second));
    expect((await folder.read('hello')).diagnostics).toMatchObject([
      {
        code: 'campaign-ambiguous',
        message: '"hello" may mean campaigns/hello/campaign.yaml or campaigns/second/campaign.yaml.',
      },
    ]);
    const { diagnostics } = await folder.read('campaigns/hello');
    expect(diagnostics).toMatchObject([
      {
        code: 'duplicate-campaign-name',
        at: { file: 'campaigns/hello/campaign.yaml', line: 1, column: 7 },
        message: 'The name "hello" is the name of campaigns/second/campaign.yaml as well.',
      },
    ]);
  });

  test.each([
    ['another name', SMALLEST.replace('hello\n', 'other\n')],
    ['no campaign', 'name: hello\non: push\njobs: {}\n'],
    ['a page', 'name: hello\ncontent: news.md\n'],
  ])('are none: %s', async (_label, second) => {
    await using folder = await folderWith(pair(second));
    expect((await folder.read('hello')).diagnostics).toEqual([]);
  });

  it('are found below handbill.yaml wherever they lie', async () => {
    await using folder = await folderWith({ ...hello(), 'deep/er/x.yaml': SMALLEST });
    expect((await folder.read('hello')).diagnostics).toEqual([]);
    await folder.write('handbill.yaml', '');
    const read = await folder.read('./campaigns/hello');
    expect(read.diagnostics.map((d) => d.code)).toEqual(['duplicate-campaign-name']);
  });

  it('are an error as well where one has the name of the other as its id', async () => {
    await using folder = await folderWith(pair(SMALLEST.replace('hello\n', 'other\nid: hello\n')));
    const [first, second] = [await folder.read('campaigns/hello'), await folder.read('campaigns/second')];
    const said = [...first.diagnostics, ...second.diagnostics];
    expect(said.filter(({ code }) => code === 'duplicate-campaign-name')).toMatchObject([
      { message: 'The name "hello" is the id of campaigns/second/campaign.yaml as well.', at: { line: 1 } },
      { message: 'The id "hello" is the name of campaigns/hello/campaign.yaml as well.', at: { line: 2 } },
    ]);
  });
});
