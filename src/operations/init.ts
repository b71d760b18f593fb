import { lstat, readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { PROJECT_FILE, projectsAround, repositoryOf } from '../campaign/place.ts';
import { type Diagnostic, EXIT, HandbillError, problem, refuse } from '../errors.ts';
import { IGNORED } from '../scaffold/repository-files.ts';
import { scaffold } from '../scaffold/scaffold.ts';
import { displayPath, readSmallFile, realPlace } from '../util/paths.ts';
import { shellWord } from '../util/shell.ts';
import { answerFaults, type InitAnswers, zoneOf } from './init-answers.ts';
import { lookAround, makeFiles } from './init-write.ts';
import { version } from './version.ts';

export interface InitOptions extends InitAnswers {
  readonly cwd: string;
  /** Relative to `cwd`; made where it does not exist. */
  readonly folder: string;
  /** Makes what is missing where files exist already; nothing is ever overwritten. */
  readonly addMissing: boolean;
}

export interface InitResult {
  /** Absolute path of the project. */
  readonly root: string;
  /** Files that were made, by their path below the root. */
  readonly made: readonly string[];
  /** Files that existed, and were left as they are. */
  readonly kept: readonly string[];
  /** What should be known or done besides. */
  readonly notes: readonly string[];
  /** The next commands, in order. */
  readonly next: readonly string[];
}

/**
 * Makes a project to start from: it validates, previews and is sent to the sandbox as it stands.
 *
 * @throws HandbillError exit 2: answers that cannot be used, files that exist; then nothing was written
 */
export async function init(options: InitOptions): Promise<InitResult> {
  const faults = [...folderFaults(options.folder), ...answerFaults(options)];
  if (faults.length > 0) throw new HandbillError(EXIT.refused, faults);
  const root = await realPlace(resolve(options.cwd, options.folder));
  const files = scaffold({
    ...options,
    timeZone: zoneOf(options.country),
    dependency: await dependencyFrom(root),
    node: await pinnedNode(),
    schemas: await readSchemas(),
  });
  await refuseInsideAnother(root, options.cwd);
  const { existing, faults: blocked } = await lookAround(root, files.keys(), options.cwd);
  if (blocked.length > 0) throw new HandbillError(EXIT.refused, blocked);
  if (existing.length > 0 && !options.addMissing) throw refuseExisting(root, existing, options.cwd);
  const missing = new Map([...files].filter(([path]) => !existing.includes(path)));
  await makeFiles(root, missing);
  const notes = [...(await ignoreNotes(root, existing)), ...(await placeNotes(root))];
  return { root, made: [...missing.keys()], kept: existing, notes, next: await nextCommands(root, options) };
}

function folderFaults(folder: string): readonly Diagnostic[] {
  if (folder !== '' && !folder.includes('\0')) return [];
  return [problem('usage', 'The name of the folder is empty or holds a NUL character.')];
}

/** The outermost handbill.yaml is that of the project: a second one inside it would be refused with its campaigns. */
async function refuseInsideAnother(root: string, cwd: string): Promise<void> {
  const { above, below } = await projectsAround(root);
  const [other] = [...above, ...below];
  if (other === undefined) return;
  const name = displayPath(join(other, PROJECT_FILE), cwd);
  const where = above.length > 0 ? 'inside another project' : 'around another project';
  const hint =
    above.length > 0 ? 'Add a campaign to that project, or name a folder outside of it.' : 'Name a folder beside it.';
  throw refuse(problem('other-project', `The new project would be ${where} (${name}).`, { hint }));
}

function refuseExisting(root: string, existing: readonly string[], cwd: string): HandbillError {
  const hint = 'Nothing was written. Name another folder, or add what is missing with --force: it overwrites nothing.';
  const names = existing.map((path) => displayPath(join(root, path), cwd));
  const verb = names.length === 1 ? 'exists' : 'exist';
  return refuse(problem('output-exists', `${LIST.format(names)} ${verb} already.`, { hint }));
}

const LIST = new Intl.ListFormat('en-GB');

/** handbill's own folder: the schemas and package.json lie there. */
const HERE = join(import.meta.dirname, '..', '..');

/**
 * What package.json asks for: the handbill that makes the project, from where that one came. From a registry it can be
 * installed again by its version. From a file or a git repository it cannot, because a registry may have something else
 * by that name; npm wrote down which it was. A clone is named by its folder.
 */
async function dependencyFrom(root: string): Promise<string> {
  const fileFrom = (path: string): string => `file:${relative(root, path).replaceAll(sep, '/')}`;
  if (!HERE.split(sep).includes('node_modules')) return fileFrom(HERE);
  const installed = join(dirname(HERE), '.package-lock.json');
  const lock = JSON.parse(await readFile(installed, 'utf8').catch(() => '{}')) as InstalledLock;
  const { resolved = '' } = lock.packages?.['node_modules/handbill'] ?? {};
  if (resolved.startsWith('git+')) return resolved;
  if (!resolved.startsWith('file:')) return version();
  return fileFrom(resolve(dirname(HERE), '..', resolved.slice('file:'.length)));
}

/** What npm writes beside the packages that it installs. */
interface InstalledLock {
  readonly packages?: { readonly [path: string]: { readonly resolved?: string } };
}

/** The Node.js that this handbill is tested with. */
async function pinnedNode(): Promise<string> {
  const { devDependencies } = JSON.parse(await readFile(join(HERE, 'package.json'), 'utf8')) as {
    readonly devDependencies: { readonly node: string };
  };
  return devDependencies.node;
}

async function readSchemas(): Promise<ReadonlyMap<string, string>> {
  const names = ['campaign.schema.json', 'project.schema.json'];
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(HERE, 'schemas', name), 'utf8')] as const)),
  );
}

const LISTS_NOTE =
  'git would commit lists of people: add campaigns/**/*.csv to .gitignore, or !campaigns/**/*.csv if that is meant.';

/** A .gitignore that was there before may let the ledger into git, and with it whom was sent to. */
async function ignoreNotes(root: string, existing: readonly string[]): Promise<readonly string[]> {
  if (!existing.includes('.gitignore'))
    return ['.gitignore says how to keep lists of people out of git, or to commit them on purpose.'];
  const read = await readSmallFile(join(root, '.gitignore'), 1 << 20);
  const lines = 'bytes' in read ? Buffer.from(read.bytes).toString('utf8').split(/\r?\n/) : [];
  const ignored = lines.map((line) => line.trim().replace(/^\/|\/$/g, ''));
  const missing = IGNORED.filter((name) => !ignored.includes(name.replace(/\/$/, '')));
  return [
    ...(missing.length === 0 ? [] : [`Add to .gitignore: ${missing.join(', ')}. They hold personal data or keys.`]),
    ...(lines.some((line) => line.includes('.csv')) ? [] : [LISTS_NOTE]),
  ];
}

async function placeNotes(root: string): Promise<readonly string[]> {
  const notes: string[] = [];
  const repository = await repositoryOf(root);
  if (repository === null) notes.push('This is no git repository yet: git init makes it one.');
  else if (repository !== root) {
    notes.push('GitHub reads .github at the root of a repository: move it there, or give this folder its own.');
  }
  return notes;
}

async function nextCommands(root: string, { cwd, campaign }: InitOptions): Promise<readonly string[]> {
  const folder = displayPath(root, cwd);
  const isInstalled = (await folderAbove(root, join('node_modules', '.bin', 'handbill'))) !== null;
  const isHere = folder === '' || folder === '.' || root === (await realPlace(cwd));
  return [
    ...(isHere ? [] : [`cd ${shellWord(folder)}`]),
    ...(isInstalled ? [] : ['npm install']),
    'npx handbill validate',
    `npx handbill preview ${campaign}`,
    `npx handbill send ${campaign}`,
  ];
}

/** The nearest folder, this one or above, that holds an entry; null where there is none. */
async function folderAbove(folder: string, entry: string): Promise<string | null> {
  const exists = await lstat(join(folder, entry)).then(
    () => true,
    () => false,
  );
  if (exists) return folder;
  return dirname(folder) === folder ? null : await folderAbove(dirname(folder), entry);
}
