import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { MAKERS, makePages, stalePages } from '../../.scripts/docs.ts';
import { FORMATS } from '../../.scripts/docs-schemas.ts';
import { readCampaign } from '../../src/campaign/load.ts';
import { findProject } from '../../src/campaign/place.ts';
import { readProject } from '../../src/campaign/project.ts';
import { COMMANDS } from '../../src/cli/table.ts';
import { CODES, EXIT } from '../../src/errors.ts';
import { OUTCOME_WORDS } from '../../src/report/words.ts';
import { handbillHere } from '../cli/in-process.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const README = read('README.md');
const ARCHITECTURE = read('ARCHITECTURE.md');

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** The files that the README makes with `cat > FILE <<'END'`. */
function heredocs(markdown: string): ReadonlyMap<string, string> {
  const found = markdown.matchAll(/^cat > (\S+) <<'(\w+)'\n([\s\S]*?)^\2$/gm);
  return new Map([...found].map(([, path = '', , text = '']) => [path, text]));
}

/** docs/diagnostics.md has a test of its own, which runs its examples. */
const QUICK = Object.keys(MAKERS).filter((path) => path !== 'docs/diagnostics.md');

describe('pages that are made', () => {
  let all: ReadonlyMap<string, string>;
  beforeAll(async () => {
    all = await makePages(QUICK);
  });

  it('are what the schemas and the help of commands make of them', () => {
    expect(all.size).toBeGreaterThan(3);
    expect(stalePages(all), 'run `node .scripts/docs.ts`').toEqual([]);
  });

  it('have a row for every key, every field, every command and every option', () => {
    expect(all.get('docs/campaign.md')).toContain('| `recipients.defaultCountry` |');
    expect(all.get('docs/campaign.md')).toContain('| `limits.stopAfter.inDoubt` | integer from 1 or string |');
    expect(all.get('docs/project.md')).toContain('| `environments.<name>.provider` | string | `messages-v2` |');
    expect(all.get('docs/project.md')).toContain('| `environments.<name>.wire.answers` |');
    expect(all.get('docs/provider-file.md')).toContain('| `requests[].kind` | `text`, `template` |');
    expect(all.get('docs/formats.md')).toContain('| `halt.next` | string |');
    expect(all.get('docs/formats.md')).toContain('| `doubts[].line` |');
    for (const { name } of COMMANDS) {
      expect(all.get('docs/commands.md')).toContain(`](#handbill-${name})`);
      expect(all.get('docs/commands.md')).toContain(`\n## handbill ${name}\n`);
    }
    expect(all.get('docs/commands.md')).toContain('\n### handbill suppress import\n');
    expect(all.get('docs/commands.md')).toContain('| `--if-locked <what>` |');
  });

  it('describe every format that there is a schema for', () => {
    expect(FORMATS.length).toBeGreaterThan(9);
    for (const file of FORMATS) expect(all.get('docs/formats.md')).toContain(`](../schemas/${file})`);
  });

  it('explain every key and every field that the schemas have', () => {
    // Its column of meanings is the fourth, or for fields, which have no default, the third.
    for (const [path, column] of [
      ['docs/campaign.md', 3],
      ['docs/project.md', 3],
      ['docs/provider-file.md', 3],
      ['docs/formats.md', 2],
    ] as const) {
      // Events have no meaning of their own: their table has two columns.
      const [schema = ''] = all.get(path)?.split('\n## Placeholders\n') ?? [];
      const text = schema.replace(/^### Events\n[\s\S]*?(?=^### )/m, '');
      const rows = [...text.matchAll(/^\| (`[^`]+` \|.*) \|$/gm)].map(([, row = '']) => row.split(' | '));
      expect(rows.length).toBeGreaterThan(50);
      for (const row of rows) expect(row[column]?.length, `${path}: ${row[0]}`).toBeGreaterThan(3);
    }
  });
});

/** Codes that nothing says, each with the reason why it is in the set all the same. */
const NOT_SAID: Readonly<Record<string, string>> = {
  bug: 'what an error without diagnostics carries, in errors.ts itself',
  'runtime-too-old': 'cli.ts says it in plain text, before anything else is imported',
  'unused-column': 'a list with more columns than the template needs is usual; kept for a stricter validate',
};

test('every code of the closed set is said somewhere', () => {
  const files = globSync('src/**/*.ts', { cwd: ROOT }).filter((path) => path !== join('src', 'errors.ts'));
  const source = files.map(read).join('\n');
  const unsaid = Object.keys(CODES).filter((code) => !source.includes(`'${code}'`));
  expect(unsaid.filter((code) => NOT_SAID[code] === undefined)).toEqual([]);
  expect(Object.keys(NOT_SAID).filter((code) => !(code in CODES))).toEqual([]);
});

describe('the smallest campaign of the README', () => {
  const files = heredocs(README);
  let folder = '';

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'handbill-readme-'));
    for (const [path, text] of files) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is a campaign file, a template and a list', () => {
    expect([...files.keys()]).toEqual(['hello/campaign.yaml', 'hello/hello.hbs', 'hello/people.csv']);
  });

  it('is read without a word', async () => {
    const { campaign, diagnostics } = await readCampaign('hello', { cwd: folder });
    expect(diagnostics).toEqual([]);
    expect(campaign?.name).toBe('hello');
    expect(campaign?.from).toBe('Riverside');
  });

  it('is checked, shown, sent once and reported by the commands that follow, in that order', async () => {
    const commands = [...README.matchAll(/^npx handbill (.*?)(?: +#.*)?$/gm)].map(([, args = '']) => args);
    expect(commands.slice(0, 5)).toEqual(['validate hello', 'preview hello', 'send hello', 'report', 'send hello']);
    execFileSync('git', ['init', '-q'], { cwd: folder });
    const texts: string[] = [];
    for (const args of commands) {
      const { status, out, err } = await handbillHere(folder, args.split(' '));
      expect(status, `${args}: ${err}`).toBe(0);
      texts.push(out + err);
    }
    const [, , first, report, again] = texts;
    expect(first).toMatch(/\b2 of 3 sent\b/);
    expect(report).toMatch(/not sent +1 .*1 duplicate\b/);
    expect(again).toContain('nothing was posted');
  });

  it('names its schema where it lies in a clone', () => {
    const schema = /\$schema=(\S+)/.exec(files.get('hello/campaign.yaml') ?? '')?.[1] ?? 'none';
    expect(existsSync(join(ROOT, 'campaigns', 'hello', schema).replace(`hello/../`, ''))).toBe(true);
  });

  it('pastes into a shell', () => {
    const block = /```sh\n(mkdir -p hello\n[\s\S]*?)```/.exec(README)?.[1] ?? 'exit 9';
    const shell = mkdtempSync(join(tmpdir(), 'handbill-readme-'));
    try {
      execFileSync('sh', ['-eu', '-c', block], { cwd: shell });
      for (const [path, text] of files) expect(readFileSync(join(shell, path), 'utf8')).toBe(text);
    } finally {
      rmSync(shell, { recursive: true, force: true });
    }
  });
});

/** The YAML of the README that begins with a key. */
function yamlOf(key: string): string {
  return new RegExp(`\`\`\`yaml\\n(${key}:[\\s\\S]*?)\`\`\``).exec(README)?.[1] ?? '';
}

/** Runs in a folder of its own that holds one file. */
async function withFile(path: string, text: string, run: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'handbill-readme-'));
  try {
    await writeFile(join(folder, path), text);
    await run(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("the README's handbill.yaml is a project file", async () => {
  await withFile('handbill.yaml', yamlOf('defaults'), async (folder) => {
    const { project, diagnostics } = readProject(findProject(folder), { cwd: folder });
    expect(diagnostics).toEqual([]);
    expect([...project.environments.keys()].toSorted()).toEqual(['production', 'sandbox']);
  });
});

test("the README's campaign with more than a text is a campaign", async () => {
  await withFile('campaign.yaml', yamlOf('name'), async (folder) => {
    await writeFile(join(folder, 'guests.csv'), 'msisdn,first_name,city\n');
    const { campaign, diagnostics } = await readCampaign('.', { cwd: folder });
    expect(diagnostics).toEqual([]);
    expect(campaign?.fallbacks.map(({ channel }) => channel)).toEqual(['sms']);
  });
});

test('README.md is short, beside the table that is made', () => {
  const written = README.replace(/<!-- providers:[\s\S]*<!-- end of providers -->/, '');
  expect(Buffer.byteLength(written)).toBeLessThanOrEqual(12_288);
  expect(README).toContain('| [Twilio](docs/providers/twilio.md) | SMS, RCS, WhatsApp | 1 |');
});

test('docs/reference/outcomes.md has every outcome', () => {
  const page = read('docs/reference/outcomes.md');
  for (const outcome of Object.keys(OUTCOME_WORDS)) expect(page).toContain(`| \`${outcome}\` |`);
});

test('docs/commands.md has every exit status', () => {
  const shown = [...read('docs/commands.md').matchAll(/^\| (\d+) \|/gm)].map(([, status]) => Number(status));
  expect(shown).toEqual(Object.values(EXIT).toSorted((a, b) => a - b));
});

/** The anchors that GitHub makes of headings. */
function anchorsOf(path: string): readonly string[] {
  const headings = read(path).matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

const PAGES = [
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'campaigns/README.md',
  ...globSync('docs/**/*.md', { cwd: ROOT }),
];

test.each(PAGES)('links of %s lead to files and headings', (path) => {
  for (const [, target = '', anchor] of read(path).matchAll(/\]\(([^)#\s]*)(?:#([^)]*))?\)/g)) {
    if (target.includes('://')) continue;
    const file = target === '' ? path : join(dirname(path), target);
    expect(existsSync(join(ROOT, file)), target).toBe(true);
    if (anchor !== undefined) expect(anchorsOf(file), `${path} -> ${target}`).toContain(anchor);
  }
});

test('docs/README.md leads to every page, and the README to it', () => {
  const pages = globSync('{,internals/,reference/}*.md', { cwd: join(ROOT, 'docs') }).filter(
    (name) => name !== 'README.md',
  );
  const index = read('docs/README.md');
  expect(pages.filter((name) => !index.includes(`](${name})`))).toEqual([]);
  expect(README).toContain('](docs/README.md)');
});

/** Guides that may be longer: specifications, reference, and those that are still to be shortened. */
const LONGER = [
  'failures',
  'fields',
  'campaign',
  'project',
  'provider-file',
  'diagnostics',
  'commands',
  'formats',
  'library',
];

test('the map has a link to each page, once', () => {
  const pages = globSync('docs/{,recipes/,reference/,internals/}*.md', { cwd: ROOT }).map((page) => page.slice(5));
  const links = [...read('docs/README.md').matchAll(/\]\(([^)#]+\.md)\)/g)].map(([, page = '']) => page);
  const expected = pages.filter((page) => page !== 'README.md');
  expect(links.filter((page) => !page.startsWith('../')).toSorted()).toEqual(expected.toSorted());
});

test('there are 90 pages at most, beside those of providers: a small guide is a section of its neighbour', () => {
  const pages = globSync('docs/**/*.md', { cwd: ROOT }).filter((path) => !path.startsWith(join('docs', 'providers')));
  expect(pages.length).toBeLessThanOrEqual(90);
});

test('a guide fits into 6 KB: what few readers look up is in docs/reference', () => {
  const guides = globSync('docs/{,recipes/}*.md', { cwd: ROOT }).filter(
    (path) => !LONGER.includes(path.replace(/^docs\/(?:recipes\/)?|\.md$/g, '')),
  );
  expect(guides.filter((path) => Buffer.byteLength(read(path)) > 6144)).toEqual([]);
});

/** Measurements name files that existed when they were made. */
const INTERNAL = ['ARCHITECTURE.md', ...globSync('docs/internals/*.md', { cwd: ROOT })].filter(
  (page) => !page.endsWith('measurements.md'),
);

const PATHS = /`((?:src|test|\.scripts|schemas)\/[\w./-]+\.\w+)`/g;

describe('ARCHITECTURE.md and docs/internals', () => {
  it('keep ARCHITECTURE.md within 15 KB', () => {
    expect(Buffer.byteLength(ARCHITECTURE)).toBeLessThanOrEqual(15_360);
  });

  it('give a reason for every dependency, and for nothing else', () => {
    const manifest = JSON.parse(read('package.json')) as Record<string, object>;
    const { dependencies, devDependencies } = manifest;
    const named = [...read('docs/internals/dependencies.md').matchAll(/^\| `([^`]+)` \| (.{20,}) \|$/gm)].map(
      ([, name]) => name,
    );
    const kinds = [dependencies, devDependencies];
    expect(named).toEqual(kinds.flatMap((kind) => Object.keys(kind ?? {})));
  });

  it('name every folder of src', () => {
    for (const path of globSync('src/*/', { cwd: ROOT })) {
      expect(ARCHITECTURE).toContain(`| \`${path.replace(/^src[\\/]|[\\/]$/g, '')}\` |`);
    }
  });

  it.each(INTERNAL)('name only files that exist: %s', (page) => {
    // The paths of ARCHITECTURE.md are below src.
    const paths = page === 'ARCHITECTURE.md' ? /`([\w.-]+(?:\/[\w.-]+)*\.ts)`/g : PATHS;
    for (const [, path = ''] of read(page).matchAll(paths)) {
      expect(
        ['', 'src'].some((base) => existsSync(join(ROOT, base, path))),
        path,
      ).toBe(true);
    }
  });
});
