import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProject } from '../helpers/project.ts';
import { copyTree, plant, type Tree, temporaryFolder } from '../mutants/plant.ts';
import { ADDITIONS } from './additions.ts';

const root = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);

const PAGE = readFileSync(join(root, 'docs/internals/contributing.md'), 'utf8');

interface Row {
  readonly files: readonly string[];
  readonly says: string;
}

/** The tables of a list, in order: what every entry needs, and what only some need. */
function tablesOf(heading: string): readonly (readonly Row[])[] {
  const [, text = ''] = PAGE.split(`\n## ${heading}\n`);
  const section = text.split('\n## ')[0] ?? '';
  return section
    .split('| file | what |\n|---|---|\n')
    .slice(1)
    .map((table) =>
      [...table.matchAll(/^\| (.+?) \| (.+) \|$/gm)].map(([, files = '', says = '']) => ({
        files: [...files.matchAll(/`([^`]+\/[^`]+)`/g)].map(([, path = '']) => path),
        says,
      })),
    );
}

/** Names of the code that a row mentions, such as `PLAIN_LIST_KEYS` and `readEnvironment`. */
function anchorsIn({ says }: Row): readonly string[] {
  return [...says.matchAll(/`([a-zA-Z_]\w+)`/g)].flatMap(([, name = '']) => (/[A-Z]/.test(name) ? [name] : []));
}

const headings = [...PAGE.matchAll(/^## ((?:Add|Keep) .+)$/gm)].map(([, heading = '']) => heading);

describe('the lists of contributing.md', () => {
  it.each(headings)('%s: each file has the names that its row says', (heading) => {
    const rows = tablesOf(heading).flat();
    expect(rows.length).toBeGreaterThan(1);
    for (const row of rows) {
      const others = [...row.says.matchAll(/`(src\/[^`]+)`/g)].map(([, path = '']) => path);
      const files = [...row.files, ...others].filter((file) => !file.includes('<'));
      const text = files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
      if (files.length > 0) expect(anchorsIn(row).filter((name) => !text.includes(name))).toEqual([]);
    }
  });

  it.each(Object.entries(ADDITIONS))(
    'name every file of %s, and no more than it may take',
    (_, { lists, most, edits }) => {
      const [needed, named] = [
        lists.flatMap((list) => tablesOf(list)[0] ?? []),
        lists.flatMap((list) => tablesOf(list).flat()),
      ];
      const patterns = named.flatMap(({ files }) =>
        files.map((file) => new RegExp(`^${file.replace('<name>', '[\\w-]+')}$`)),
      );
      expect(edits.filter(({ file }) => !patterns.some((pattern) => pattern.test(file)))).toEqual([]);
      if (most !== undefined) expect(new Set(needed.flatMap(({ files }) => files)).size).toBeLessThanOrEqual(most);
    },
  );
});

/** Each call starts handbill from its sources: seconds, and many more while the machine is busy. */
const PATIENCE = { timeout: 300_000 };

describe('a copy of the sources with a toy entry of each list', PATIENCE, () => {
  let tree: Tree;
  beforeAll(async () => {
    tree = copyTree(root);
    for (const [name, { edits, lists }] of Object.entries(ADDITIONS)) {
      const added = edits.filter(({ was }) => was === '');
      for (const { file, is } of added) {
        expect(existsSync(join(tree.root, file))).toBe(false);
        mkdirSync(dirname(join(tree.root, file)), { recursive: true });
        writeFileSync(join(tree.root, file), is);
      }
      const planted = edits.filter((edit) => !added.includes(edit));
      plant(tree.root, { name, planted: lists.join(), edits: planted, proof: { in: 'house' } });
    }
    await run(process.execPath, ['.scripts/schema-types.ts'], { cwd: tree.root });
  });
  afterAll(() => tree[Symbol.dispose]());

  async function handbill(cwd: string, ...args: readonly string[]) {
    const env = { ...process.env, TMPDIR: temporaryFolder(tree.root) };
    const { stdout } = await run(process.execPath, [join(tree.root, 'src/cli.ts'), ...args], { cwd, env });
    return stdout;
  }

  it('passes the type check', async () => {
    const tsc = join(tree.root, 'node_modules/.bin/tsc');
    const { stdout } = await run(tsc, ['-p', 'tsconfig.mutant.json'], { cwd: tree.root }).catch((error) => error);
    expect(stdout).toBe('');
  });

  it('skips by the rule, sends on the channel, keeps the tag, has the format, and the command with its option', async () => {
    using project = createProject({
      'hello/campaign.yaml': `name: hello
channel: toy-fax
template: { text: Hi }
content: { toyCover: Dear {{ name }} }
recipients: { csv: people.csv, toyPrefix: "+4474" }
`.replace('Dear {{ name }}', '"Dear {{ name }}"'),
      'hello/people.csv': 'msisdn,name\n+447400100001,Ann\n+447911123401,Bo\n+447911123402,Cy\n',
    });
    const read = async (...args: readonly string[]) =>
      JSON.parse(await handbill(project.root, ...args, '--format', 'json'));
    expect(await handbill(project.root, 'preview', 'hello', '--format', 'jsonl')).toContain('"toyCover":"Dear Bo"');
    expect(await read('send', 'hello', '--toy-tag', 'first', '--limit', '1')).toMatchObject({ toyTag: 'first' });
    // A start without the option keeps that of the start before.
    expect(await read('send', 'hello')).toMatchObject({ toyTag: 'first' });
    expect(await read('report', 'hello')).toMatchObject({
      toyTag: 'first',
      totals: { accepted: 2, skipped: 1 },
      reasons: { skipped: { toy: 1 } },
    });
    expect(await handbill(project.root, 'report', 'hello', '--format', 'toy')).toBe('toy hello finished\n');
    expect(await handbill(project.root, 'toy', '--times', '2')).toBe('toy\ntoy\n');
  });

  it('notices a change of the field of the environment, and of the provider file, and has the provider', async () => {
    const written = (own: string) => `environments: { live: { ${own} } }\n`;
    const API = 'baseUrl: "https://api.example.com", apiKey: { env: KEY }';
    const toy = readFileSync(join(tree.root, 'src/providers/toy.yaml'), 'utf8');
    using project = createProject({
      'handbill.yaml': '',
      'hello/campaign.yaml':
        'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: people.csv\n',
      'hello/people.csv': 'msisdn\n+447911123401\n',
      'one.yaml': toy,
      'two.yaml': toy.replace('first', 'second'),
    });
    const settingsOf = async (own: string): Promise<string> => {
      project.write('handbill.yaml', written(own));
      const plan = JSON.parse(await handbill(project.root, 'plan', 'hello', '--env', 'live'));
      return plan.inputs.find(({ role }: { role: string }) => role === 'settings').sha256;
    };
    const hashes: string[] = [];
    for (const own of [
      `${API}, toyNote: one`,
      `${API}, toyNote: one, wire: {}`,
      `${API}, toyNote: two`,
      'provider: ./one.yaml',
      'provider: ./two.yaml',
    ]) {
      hashes.push(await settingsOf(own));
    }
    expect(hashes[1]).toBe(hashes[0]);
    expect(new Set(hashes).size).toBe(4);
    project.write('handbill.yaml', written('provider: toy'));
    const row = JSON.parse(await handbill(project.root, 'preview', 'hello', '--env', 'live', '--format', 'jsonl'));
    expect(row.request).toMatchObject({ url: 'https://toy.example/send', body: 'number=%2B447911123401&text=Hi' });
  });
});
