/**
 * Makes the code of dist/: `cli.js`, `index.js`, and below `chunks/` what they share and what each command needs. To
 * find, read and link a module takes Node half a millisecond, and one command consists of more than two hundred of them.
 *
 * A chunk lies one folder below dist/, as a source lies one folder below src/: `import.meta` leads both to `../../schemas`.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { buildSync } from 'esbuild';
import { schemaFingerprint } from '../src/campaign/validators.ts';
import { licencesOf } from './licences.ts';

const root = join(import.meta.dirname, '..');

/** What is loaded from outside: everything else is loaded by these two, and the thread by its place. */
const ENTRIES: ReadonlySet<string> = new Set(['cli.js', 'index.js', 'ledger/postgres/thread.js']);

/** CommonJS asks for Node's own modules by `require`, which a module does not have. */
const REQUIRE = "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);\n";

/** @param folder - where they go: a build */
export function bundle(folder: string): void {
  const { outputFiles, metafile } = buildSync({
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
    },
    define: { BUILT_SCHEMAS: JSON.stringify(schemaFingerprint()) },
    external: installed().flatMap((name) => [name, `${name}/*`]),
    // V8 keeps a source with a single character beyond Latin-1 in two bytes a character. In patterns they stay.
    charset: 'ascii',
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    write: false,
  });
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
    writeFileSync(path, licencesOf(inputs.get(path) ?? []) + (isRuntime ? REQUIRE : '') + text);
  }
}

/** What users install, which is what their overrides reach. Everything else that the code imports is bundled. */
function installed(): readonly string[] {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
    readonly peerDependencies: Readonly<Record<string, string>>;
  };
  return Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
}
