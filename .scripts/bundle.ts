/**
 * Makes the code of dist/: `cli.js`, `index.js`, and below `chunks/` what they share and what each command needs. To
 * find, read and link a module takes Node half a millisecond, and one command consists of more than two hundred of them.
 *
 * A chunk lies one folder below dist/, as a source lies one folder below src/: `import.meta` leads both to `../../schemas`.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { schemaFingerprint } from '../src/campaign/validators.ts';
import { licencesOf } from './licences.ts';

const root = join(import.meta.dirname, '..');

/** What is loaded from outside: everything else is loaded by these two, and the thread by its place. */
const ENTRIES: ReadonlySet<string> = new Set(['cli.js', 'index.js', 'ledger/postgres/thread.js']);

/** CommonJS asks for Node's own modules by `require`, which a module does not have. */
const REQUIRE = "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);\n";

/** What nearly every command needs: `validate`, and all that it imports. */
const CORE = join(root, 'src', 'cli', 'validate', 'command.ts');

/**
 * What also runs without the core: the terminal's first words, help, the sandbox, and the thread. Every other entry and
 * every module that is loaded on demand imports the core first. esbuild makes a chunk for each set of entries that share
 * modules, so these sets become few: `validate` loads 23 chunks instead of 69, and takes a fifth less CPU time.
 */
const WITHOUT_CORE: ReadonlySet<string> = new Set(
  [
    'cli',
    'cli/main',
    'cli/older-node',
    'cli/program',
    'cli/usage',
    'cli/help/command',
    'cli/completion/command',
    'cli/init/command',
    'cli/sandbox/command',
    'cli/shared/named-environment',
    'ledger/postgres/thread',
    'sandbox/server',
    'util/diagnostic-text',
    'util/suggest',
  ].map((name) => join(root, 'src', `${name}.ts`)),
);

/** @param entries - of a build of the same sources */
function coreFirst(entries: readonly string[]): Plugin {
  const after = new Set(entries.filter((path) => !WITHOUT_CORE.has(path)));
  return {
    name: 'core-first',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        if (!after.has(path)) return null;
        return { contents: `import ${JSON.stringify(CORE)};\n${readFileSync(path, 'utf8')}`, loader: 'ts' };
      });
    },
  };
}

/** @param folder - where they go: a build */
export async function bundle(folder: string): Promise<void> {
  const options = optionsFor(folder);
  const { metafile: first } = await build(options);
  const entries = Object.values(first.outputs).flatMap(({ entryPoint }) =>
    entryPoint === undefined ? [] : [join(root, entryPoint)],
  );
  for (const path of WITHOUT_CORE) {
    if (!entries.includes(path)) throw new Error(`Nothing loads ${path} on demand: take it out of WITHOUT_CORE.`);
  }
  const { outputFiles, metafile } = await build({ ...options, plugins: [coreFirst(entries)] });
  const inputs = new Map(
    Object.entries(metafile.outputs).map(([path, output]) => [join(root, path), Object.keys(output.inputs)]),
  );
  for (const { path, text } of outputFiles) {
    const name = relative(folder, path);
    if (ENTRIES.has(name) && text.includes('import.meta')) {
      throw new Error(
        `${name} looks for files beside itself, where they do not lie: let it import that part on demand.`,
      );
    }
    mkdirSync(dirname(path), { recursive: true });
    const isRuntime = text.includes('typeof require !== "undefined"');
    writeFileSync(path, licencesOf(inputs.get(path) ?? []) + (isRuntime ? REQUIRE : '') + inAscii(text));
  }
}

/**
 * V8 keeps a source with a single character beyond Latin-1 in two bytes a character. esbuild escapes such characters in
 * strings, but not in patterns and in the comments that it keeps.
 */
function inAscii(text: string): string {
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function optionsFor(folder: string) {
  return {
    entryPoints: [...ENTRIES].map((name) => join('src', name.replace(/\.js$/, '.ts'))),
    absWorkingDir: root,
    outdir: folder,
    outbase: 'src',
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    alias: {
      'node:http': './.scripts/http.cjs',
      'node:process': './.scripts/process.cjs',
      'node:util': './.scripts/util.cjs',
      'node:worker_threads': './.scripts/worker-threads.cjs',
      // The same sources as modules: of CommonJS every file would be wrapped, and kept whole.
      yaml: './node_modules/yaml/browser/index.js',
    },
    define: { BUILT_SCHEMAS: JSON.stringify(schemaFingerprint()) },
    external: installed().flatMap((name) => [name, `${name}/*`]),
    charset: 'ascii',
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    write: false,
  } as const satisfies BuildOptions;
}

/** What users install, which is what their overrides reach. Everything else that the code imports is bundled. */
function installed(): readonly string[] {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
    readonly peerDependencies: Readonly<Record<string, string>>;
  };
  return Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
}
