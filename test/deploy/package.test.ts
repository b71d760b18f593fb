import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { reachedFrom } from '../../.scripts/public-types.ts';
import { validatorsSource } from '../../.scripts/validators.ts';
import { codePages, guides } from '../../src/cli/pages.ts';
import { SCRIPTS } from '../../src/web/client-script.ts';

const root = join(import.meta.dirname, '..', '..');

describe('the published package', () => {
  let files: string[] = [];

  beforeAll(() => {
    files = packed();
  });

  it('holds, apart from the build and the pages to read, exactly the files of the golden list', () => {
    const golden = readFileSync(join(root, 'test/fixtures/house/package-files.txt'), 'utf8').trim().split('\n');
    expect(files.filter((file) => !/^(?:dist|docs)\//.test(file)).sort()).toEqual(golden);
  });

  it('holds every page and picture that the README links to', () => {
    const readme = readFileSync(join(root, 'README.md'), 'utf8');
    const links = [...readme.matchAll(/\]\(([^)#\s]+)/g)].map(([, link = '']) => link);
    expect(links.length).toBeGreaterThan(50);
    expect(links.filter((link) => !/^https:/.test(link) && !files.includes(link))).toEqual([]);
  });

  it('holds each page that `handbill help` shows', () => {
    const shown = [...guides(), ...codePages()].map(({ file }) => relative(root, fileURLToPath(file)));
    expect(shown.length).toBeGreaterThan(50);
    expect(files).toEqual(expect.arrayContaining(shown));
  });

  it('holds nothing that a run left behind', () => {
    mkdirSync(join(root, 'docs/examples/.handbill'), { recursive: true });
    const left = join(root, 'docs/examples/.handbill/test-of-the-package.db');
    try {
      writeFileSync(left, '');
      expect(packed().filter((file) => file.includes('.handbill'))).toEqual([]);
    } finally {
      rmSync(left);
      rmdirIfEmpty(join(root, 'docs/examples/.handbill'));
    }
  });

  // Node finds, reads and links a module in half a millisecond, before the command does anything.
  it.each(['validate', 'preview', 'runs', 'report'])('loads no more than 62 of its modules for %s', (command) => {
    const list = join(tmpdir(), `handbill-loaded-${process.pid}.txt`);
    const hooks = `
      import { appendFileSync } from 'node:fs';
      import { registerHooks } from 'node:module';
      registerHooks({
        load(url, context, next) {
          if (url.includes('/dist/')) appendFileSync(${JSON.stringify(list)}, url + '\\n');
          return next(url, context);
        },
      });`;
    const args = ['--import', `data:text/javascript,${encodeURIComponent(hooks)}`, join(root, 'dist/cli.js'), command];
    try {
      spawnSync(process.execPath, [...args, 'campaigns/reminder'], { cwd: root });
      const loaded = readFileSync(list, 'utf8')
        .split('\n')
        .filter((url) => url.startsWith(pathToFileURL(root).href));
      const own = loaded.filter((url) => !url.includes('node_modules'));
      expect(own.filter((url) => url.includes('/chunks/')).length).toBeGreaterThan(5);
      expect(own.length).toBeLessThanOrEqual(62);
    } finally {
      rmSync(list, { force: true });
    }
  });

  it('refuses to run with schemas that it was not built with', () => {
    const folder = mkdtempSync(join(tmpdir(), 'handbill-other-build-'));
    try {
      for (const name of ['dist', 'schemas']) cpSync(join(root, name), join(folder, name), { recursive: true });
      writeFileSync(join(folder, 'package.json'), readFileSync(join(root, 'package.json')));
      symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
      const run = () =>
        spawnSync(process.execPath, [join(folder, 'dist/cli.js'), 'validate'], { cwd: folder, encoding: 'utf8' });
      expect(run().stderr).not.toContain('other-build');
      const schema = join(folder, 'schemas/campaign.schema.json');
      writeFileSync(schema, readFileSync(schema, 'utf8').replace('"topic"', '"subject"'));
      expect(run()).toMatchObject({ status: 2, stderr: expect.stringContaining('error[other-build]') });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('holds a build with the types that programs can reach, its code in chunks, and nothing else', () => {
    const built = files.filter((file) => file.startsWith('dist/') && !CHUNK.test(file)).sort();
    expect(built, 'run `npm run build` first: dist/ is missing or older than src/').toEqual(expectedBuild());
  });

  it('holds the chunks that its code names, and no other', () => {
    const chunks = files.filter((file) => CHUNK.test(file));
    const named = files.filter((file) => /^dist\/(?:chunks\/)?[^/]+\.js$/.test(file)).flatMap(chunksNamedBy);
    expect(new Set(named)).toEqual(new Set(chunks));
  });

  it('holds the licence of each package of which it has the code', () => {
    const texts = files.filter((file) => CHUNK.test(file)).map((file) => readFileSync(join(root, file), 'utf8'));
    for (const name of ['commander', 'fastest-levenshtein', 'marked', 'yaml']) {
      const holding = texts.filter((text) => text.includes(`// node_modules/${name}/`));
      expect(holding.length, name).toBeGreaterThan(0);
      for (const text of holding)
        expect(text).toMatch(new RegExp(`^(?:/\\*! [^]*\\*/\\n)*/\\*! ${name}\\n[^]{500,3500}?\\*/`));
    }
    const bundled = texts.flatMap((text) => [
      ...text.matchAll(/^(?: {2})*\/\/ node_modules\/((?:@[^/]+\/)?[^/]+)\//gm),
    ]);
    expect([...new Set(bundled.map(([, name]) => name))].sort()).toEqual([
      'commander',
      'fastest-levenshtein',
      'marked',
      'yaml',
    ]);
  });

  it('holds large sources in one byte a character: V8 keeps the whole of one with any other in two', () => {
    const texts = files
      .filter((file) => CHUNK.test(file))
      .concat('dist/campaign/validators.cjs')
      .map((file) => [file, readFileSync(join(root, file), 'utf8')] as const);
    const large = texts.filter(([, { length }]) => length > 100_000);
    expect(large.length).toBeGreaterThan(3);
    const wide = large.filter(([, text]) => /[^\0-\xff]/.test(text)).map(([file]) => file);
    expect(wide).toEqual([]);
  });

  it('holds validators that were made from its schemas', () => {
    const built = readFileSync(join(root, 'dist/campaign/validators.cjs'), 'utf8');
    expect(built === validatorsSource(), 'run `npm run build`: they are older than the schemas').toBe(true);
  });
});

/** Files of the package, as npm would publish them. */
function packed(): string[] {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  return packedFiles(JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8' })) as unknown);
}

function rmdirIfEmpty(folder: string): void {
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}

/** npm 11 answers with a list of packages, later versions with an object by name. */
function packedFiles(answer: unknown): string[] {
  const packages = Object.values(answer as Record<string, { files: { path: string }[] }>);
  return packages.flatMap((one) => one.files.map(({ path }) => path));
}

/** Names of their own, which change with what they hold. */
const CHUNK = /^dist\/chunks\/[\w-]+-[A-Z0-9]{8}\.js$/;

function chunksNamedBy(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  const below = file.startsWith('dist/chunks/')
    ? /["']\.\/([\w-]+-[A-Z0-9]{8}\.js)["']/g
    : /["']\.\/chunks\/([\w-]+\.js)["']/g;
  return [...text.matchAll(below)].map(([, name]) => `dist/chunks/${name}`);
}

function expectedBuild(): string[] {
  return (
    [...reachedFrom(join(root, 'dist'), 'index.d.ts')]
      .map((file) => `dist/${file}`)
      .concat('dist/cli.js', 'dist/index.js', 'dist/campaign/validators.cjs', 'dist/ledger/postgres/thread.js')
      // What runs in the browser is bundled: a file for each page, without declarations.
      .concat('dist/web/client/style.css', ...SCRIPTS.map((name) => `dist/web/client/${name}.js`))
      .concat(
        readdirSync(join(root, 'src/providers'), { encoding: 'utf8' })
          .filter((file) => file.endsWith('.yaml'))
          .flatMap((file) => (file.includes('.examples.') ? [file] : [file, file.replace('.yaml', '.json')]))
          .map((file) => `dist/providers/${file}`),
      )
      .sort()
  );
}
