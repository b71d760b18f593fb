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

/** Node's own modules that few commands need. */
const LATE = /^node:(?:child_process|http|perf_hooks|worker_threads)$/;

/** Loads them when something of them is first read. */
const LATE_MODULES: Plugin = {
  name: 'late-modules',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: LATE }, ({ path }) => ({ path, namespace: 'late' }));
    onLoad({ filter: LATE, namespace: 'late' }, async ({ path }) => {
      const names = Object.keys((await import(path)) as object).filter((name) => name !== 'default');
      const getters = names.map((name) => `get ${name}() { return load().${name}; }`).join(', ');
      return {
        contents: `let loaded; const load = () => loaded ??= ${objectOf(path)}; module.exports = { ${getters} };`,
      };
    });
  },
};

/**
 * Has the others as the objects that they are. To import one as a module reads all that it exports, also what Node loads
 * on demand: streams of files, Web Crypto, its own copy of undici. `node:util` alone takes two thirds of an empty script.
 */
function asObjects(text: string): string {
  const objects = text.replace(
    /^import (?:(\w+),? )?(?:\{([^}]*)\} )?from "(node:.*)";$/gm,
    (_, all: string | undefined, names: string | undefined, path: string) =>
      [all ?? [], names === undefined ? [] : `{${names.replaceAll(' as ', ': ')}}`]
        .flat()
        .map((target) => `const ${target} = ${objectOf(path)};`)
        .join('\n'),
  );
  if (/ (?:from|import) "node:/.test(objects)) throw new Error('A module of Node is imported in an unknown form.');
  return objects;
}

function objectOf(path: string): string {
  return `globalThis.process.getBuiltinModule(${JSON.stringify(path)})`;
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
  const { outputFiles, metafile } = await build({ ...options, plugins: [LATE_MODULES, coreFirst(entries)] });
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
    writeFileSync(path, licencesOf(inputs.get(path) ?? []) + (isRuntime ? REQUIRE : '') + inAscii(asObjects(text)));
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
      // The same sources as modules: of CommonJS every file would be wrapped, and kept whole.
      yaml: './node_modules/yaml/browser/index.js',
    },
    define: { BUILT_SCHEMAS: JSON.stringify(schemaFingerprint()) },
    plugins: [LATE_MODULES],
    external: installed().flatMap((name) => [name, `${name}/*`]),
    charset: 'ascii',
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    write: false,
  } satisfies BuildOptions;
}

/** What users install, which is what their overrides reach. Everything else that the code imports is bundled. */
function installed(): readonly string[] {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
    readonly peerDependencies: Readonly<Record<string, string>>;
  };
  return Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
}
