import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Consumer, createConsumer, manifest, ROOT } from './consumer.ts';
import { EXAMPLES, exampleFiles, RUNNER, readGuide } from './examples.ts';

const FULL = process.env['HANDBILL_FULL'] === '1';
const { guide, examples } = readGuide();

/** Strict, and the types of packages are checked too. */
const STRICT = {
  module: 'nodenext',
  target: 'es2022',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  noEmit: true,
  types: ['node'],
};

let consumer: Consumer;

beforeAll(() => {
  consumer = createConsumer({ fromRegistry: FULL });
  for (const { name, text } of examples) consumer.write(`examples/${name}.ts`, text);
  consumer.write('run.mjs', RUNNER);
  consumer.write('tsconfig.json', JSON.stringify({ compilerOptions: STRICT, include: ['examples', 'common'] }));
});
afterAll(() => consumer?.[Symbol.dispose]());

function compile(config: string): string {
  return consumer.node(join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', config);
}

describe('the packed package in an empty project', () => {
  it('holds what it needs when it runs', () => {
    expect(consumer.packed).toEqual(expect.arrayContaining(['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json']));
    expect(consumer.packed).toEqual(expect.arrayContaining(['dist/cli.js', 'dist/index.js', 'dist/index.d.ts']));
    expect(consumer.packed).toContain('schemas/campaign.schema.json');
    const foreign = consumer.packed.filter(
      (file) => !/^(?:dist\/|schemas\/|docs\/|campaigns\/README\.md$|[A-Z]+(?:\.md)?$|package\.json$)/.test(file),
    );
    expect(foreign).toEqual([]);
  });

  it('has the package.json of the clone without its scripts: npm runs nothing when it is installed', () => {
    const read = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as object;
    const published = read(join(consumer.folder, 'node_modules', 'handbill'));
    expect(published).not.toHaveProperty('scripts');
    const { scripts } = read(ROOT) as { readonly scripts: Readonly<Record<string, string>> };
    expect({ ...published, scripts }).toEqual(read(ROOT));
  });

  it('has a command', () => {
    expect(consumer.run('npx', ['--offline', 'handbill', '--version'])).toMatch(/^\d+\.\d+\.\d+/);
  });

  it('can be imported, with every schema', () => {
    const program = `import * as all from 'handbill'; import schema from 'handbill/schemas/report.schema.json' with { type: 'json' };
      console.log(typeof all.send, schema.title)`;
    expect(consumer.node('--input-type=module', '-e', program)).toBe('function handbill report\n');
  });

  it('can be required from CommonJS, without a warning', () => {
    const program = `const { validate, HandbillError } = require('handbill');
      process.on('warning', (w) => console.log(String(w)));
      validate(['nowhere']).then(({ valid, diagnostics }) => console.log(typeof HandbillError, valid, diagnostics[0].code));`;
    expect(consumer.node('--input-type=commonjs', '-e', program)).toBe('function false campaign-not-found\n');
  });

  it('loads no client for HTTP before a function needs it', () => {
    const program = `import { registerHooks } from 'node:module';
      const found = []; registerHooks({ resolve(name, context, next) { const to = next(name, context); if (/undici|pg-boss/.test(to.url)) found.push(to.url); return to; } });
      await import('handbill'); console.log(found.length);`;
    expect(consumer.node('--input-type=module', '-e', program)).toBe('0\n');
  });
});

describe('what the registry and editors read of it', () => {
  const tool = (name: string, script: string): string => join(ROOT, 'node_modules', name, script);

  it('is sound: publint', () => {
    const said = consumer.node(tool('publint', 'src/cli.js'), '--strict', consumer.archive);
    expect(said).toContain('All good!');
  });

  // Node 24 loads ES modules by `require`, which a test above does; the other kinds of resolution are all looked at.
  it('has types however it is imported: attw', () => {
    const words = ['--ignore-rules', 'cjs-resolves-to-esm', '--', consumer.archive];
    expect(consumer.node(tool('@arethetypeswrong/cli', 'dist/index.js'), ...words)).toContain('No problems found');
  });

  it('is taken by npm as it is: npm publish --dry-run', () => {
    const said = execFileSync('npm', ['publish', '--dry-run', '--ignore-scripts', '--json', consumer.archive], {
      cwd: consumer.folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    expect(said).toContain('"handbill@');
  });
});

describe('the declarations', () => {
  it('name nothing that is not in the package', () => {
    expect(foreignImports('dist/index.d.ts')).toEqual([]);
  });

  it('let the examples compile, and CommonJS, with strict settings and the libraries checked', () => {
    consumer.write('common/package.json', '{ "type": "commonjs" }');
    consumer.write('common/common.cts', "import handbill = require('handbill');\nvoid handbill.send('hello');\n");
    expect(compile('tsconfig.json')).toBe('');
  });

  it('do without the types of Node where those of browsers are there', () => {
    consumer.write('plain/plain.ts', "import { preview } from 'handbill';\nvoid preview('hello').decisions;\n");
    const lib = ['es2024', 'esnext.disposable', 'dom'];
    consumer.write(
      'plain.json',
      JSON.stringify({ compilerOptions: { ...STRICT, types: [], lib }, include: ['plain'] }),
    );
    expect(compile('plain.json')).toBe('');
  });
});

describe('the examples of the library', () => {
  let said: Readonly<Record<string, string>> = {};

  beforeAll(() => {
    const project = join(consumer.folder, 'project');
    cpSync(join(EXAMPLES, 'project'), project, { recursive: true });
    prepare(project);
    said = JSON.parse(consumer.node('run.mjs', project, ...examples.map(({ name }) => name))) as typeof said;
  });

  it.each(examples)('$name: prints what it says', ({ name, prints }) => {
    expect(said[name]).toBe(prints);
  });

  it.each(examples)('$name: is on a page as it is', ({ text }) => {
    expect(guide).toContain(`\`\`\`ts\n${text}\`\`\`\n`);
  });

  it('are all shown', () => {
    expect(examples.map(({ name }) => `${name}.ts`).sort()).toEqual(exampleFiles());
  });
});

/** A repository, and a key to sign with. */
function prepare(project: string): void {
  const git = (...args: readonly string[]): void => {
    const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', '-c', 'commit.gpgsign=false'];
    execFileSync('git', [...who, ...args], { cwd: project, stdio: 'ignore' });
  };
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(project, 'signing-key')]);
  git('init', '-q', '-b', 'main');
  git('add', 'handbill.yaml', 'campaigns');
  git('commit', '-q', '-m', 'first');
}

/** What the declarations name that are reached from one of them, apart from each other. */
function foreignImports(entry: string): readonly string[] {
  const seen = new Set<string>();
  const foreign: string[] = [];
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    const text = readFileSync(join(consumer.folder, 'node_modules', 'handbill', file), 'utf8');
    for (const [, name = ''] of text.matchAll(/(?:\bfrom |\bimport |import\()["']([^"']+)["']|<reference [^>]*>/g)) {
      if (name.startsWith('.')) visit(join(dirname(file), name).replace(/\.[jt]s$/, '.d.ts'));
      else foreign.push(`${file}: ${name}`);
    }
  };
  visit(entry);
  expect(seen.size).toBeGreaterThan(10);
  return foreign;
}

describe('dependencies', () => {
  const code = () =>
    consumer.packed
      .filter((file) => /^dist\/.*\.c?js$/.test(file) && !file.startsWith('dist/web/client/'))
      .map((file) => readFileSync(join(consumer.folder, 'node_modules', 'handbill', file), 'utf8'));

  it('are all that the build names', () => {
    const known = new Set(Object.keys(manifest().dependencies));
    const unknown = code()
      .flatMap(packagesIn)
      .filter((name) => !known.has(name));
    expect([...new Set(unknown)]).toEqual([]);
  });

  it('are all named by the build: what is bundled is not installed as well', () => {
    const texts = code();
    const isNamed = (name: string): boolean =>
      texts.some((text) => text.includes(`"${name}"`) || text.includes(`"${name}/`));
    expect(Object.keys(manifest().dependencies).filter((name) => !isNamed(name))).toEqual([]);
  });
});

/** Packages that a file imports: statements at the beginning of a line, and `import('...')`. */
function packagesIn(text: string): readonly string[] {
  const forms = /(?:^(?:import|export)\b[^'"`;]*?\bfrom |^import |\bimport\()(['"])(?<name>[^'"./][^'"]*)\1/gm;
  const names = [...text.matchAll(forms)].map((match) => match.groups?.['name'] ?? '');
  return names
    .filter((name) => !name.startsWith('node:'))
    .map((name) =>
      name
        .split('/')
        .slice(0, name.startsWith('@') ? 2 : 1)
        .join('/'),
    );
}
