// Builds dist/ from src/. Run by `npm run build`, and by `npm ci` in a clone; there with --if-stale, because npm runs
// `prepare` again when `npx handbill` is first called in the clone, where a second build would only take time.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { providerNames } from '../src/campaign/read-provider.ts';
import { readYaml } from '../src/campaign/yaml.ts';
import { bundle } from './bundle.ts';
import { isFresh } from './fresh.ts';
import { writePageParts } from './pages.ts';
import { keepPublicTypes } from './public-types.ts';
import { publicResultTypes, writeSchemaTypes } from './schema-types.ts';
import { writeValidators } from './validators.ts';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const entry = join(dist, 'cli.js');
/** Where the build is made: dist/ is whole at any time, also for whoever runs handbill meanwhile, or if this one fails. */
const part = join(root, 'node_modules', '.cache', 'handbill', String(process.pid));

if (!process.argv.includes('--if-stale') || !isFresh(root)) await build();
// `npm ci` has made node_modules anew, also where dist/ is fresh.
linkCommand();

async function build(): Promise<void> {
  try {
    mkdirSync(part, { recursive: true });
    writeSchemaTypes();
    declare();
    writeFileSync(join(part, 'model', 'result-types.d.ts'), publicResultTypes());
    keepPublicTypes(part);
    await bundle(part);
    mkdirSync(join(part, 'campaign'), { recursive: true });
    writeValidators(join(part, 'campaign'));
    writePageParts(join(part, 'web', 'client'));
    cpSync(join(root, 'src', 'providers'), join(part, 'providers'), {
      recursive: true,
      filter: (path) => !path.endsWith('.ts'),
    });
    writeProviders(join(part, 'providers'));
    makeExecutable(join(part, 'cli.js'));
    putInPlace();
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
}

/** Provider files as JSON, which is read at each start; the YAML beside it is for people. */
function writeProviders(folder: string): void {
  for (const name of providerNames()) {
    const file = join(folder, `${name}.yaml`);
    const { yaml } = readYaml(readFileSync(file), file);
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(yaml?.value));
  }
}

/** A file that was renamed in src must not live on in dist, where the package would publish it. */
function putInPlace(): void {
  const old = `${part}.old`;
  if (existsSync(dist)) renameSync(dist, old);
  renameSync(part, dist);
  rmSync(old, { recursive: true, force: true });
}

/**
 * Checks types and writes the declarations. The compiler is started by its script, not by its link in `.bin`, so that
 * this very Node runs it.
 */
function declare(): void {
  const manifest = join(root, 'node_modules', 'typescript', 'package.json');
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: { tsc: string } };
  const compiler = join(manifest, '..', bin.tsc);
  try {
    const project = join(root, 'src', 'tsconfig.json');
    execFileSync(process.execPath, [compiler, '-p', project, '--emitDeclarationOnly', '--outDir', part], {
      stdio: 'inherit',
    });
  } catch {
    stop('The build stopped: the compiler found the errors above.');
  }
}

/** esbuild writes plain files; a command needs the executable bit. */
function makeExecutable(file: string): void {
  if (!existsSync(file)) stop('The build is without dist/cli.js: src/cli.ts is missing.');
  chmodSync(file, 0o755);
}

function stop(why: string): never {
  process.stderr.write(`${why}\n`);
  rmSync(part, { recursive: true, force: true });
  process.exit(1);
}

/** npm links the commands of dependencies only; npm scripts and `npm exec -c` in a clone find this one by a link of its own. */
function linkCommand(): void {
  const folder = join(root, 'node_modules', '.bin');
  if (!existsSync(folder)) return;
  const link = join(folder, 'handbill');
  const target = relative(folder, entry);
  if (lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() === true && readlinkSync(link) === target) return;
  rmSync(link, { force: true });
  symlinkSync(target, link);
}
