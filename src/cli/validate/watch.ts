import { realpath } from 'node:fs/promises';
import { basename, dirname, extname, relative, resolve, sep } from 'node:path';
import type { FSWatcher } from 'chokidar';
import { findCampaigns } from '../../campaign/find.ts';
import { readCampaign } from '../../campaign/load.ts';
import { kindOf, projectOf } from '../../campaign/place.ts';
import { HandbillError, problem, refuse } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import type { ResolvedOptions } from '../../operations/options.ts';
import { checkCampaigns, type ValidateOptions, type Validation } from '../../operations/validate.ts';
import { countOf } from '../../report/words.ts';
import { formatDiagnostics } from '../../util/diagnostic-text.ts';
import { safeLine } from '../../util/escape.ts';
import { displayPath, isInside } from '../../util/paths.ts';
import { watchInterrupts } from '../shared/signals.ts';
import { printValidation } from './print.ts';

/** Time is asked for at each round. */
export type WatchOptions = Omit<ValidateOptions, 'keep' | 'onDiagnostic'> & Pick<ResolvedOptions, 'cwd' | 'now'>;

/** One check of the campaigns. */
interface Round {
  /** The files that changed before it, as the user would name them; none before the first. */
  readonly changed: readonly string[];
  /** What was found in the campaigns that were looked at; null where they could not be, such as without their folder. */
  readonly validation: Validation | null;
  readonly failure: HandbillError | null;
  /** Campaigns that are known by now. */
  readonly campaigns: number;
  /** Errors of all of them, each when it was last looked at. */
  readonly errors: number;
}

/** An editor saves in several steps: it writes beside the file, renames, sets the mode. All are over within this time. */
const QUIET_MS = 100;

/**
 * Checks campaigns, and checks them again whenever one of their files changes: the campaigns that the file belongs to,
 * if known, else all. Ends on `signal`.
 *
 * @param paths - as `validate` takes them
 * @throws HandbillError when the system cannot watch that many folders
 */
async function* watchCampaigns(
  paths: readonly string[],
  options: WatchOptions,
  signal: AbortSignal,
): AsyncGenerator<Round, void, void> {
  const cwd = await realpath(options.cwd);
  const outside = options.recipients === undefined ? [] : [resolve(cwd, options.recipients)];
  const files = await watchFiles(await foldersOf(paths, cwd), QUIET_MS);
  const known = new Map<string, Known>();
  let homeless = 0;
  try {
    files.add([], outside);
    for (let changes: Changes | null = new Map(); changes !== null; changes = await files.next(signal)) {
      const concerned = changes.size === 0 ? null : concernedBy(changes, known);
      const round = await look(concerned ?? paths, cwd, options);
      if (concerned === null) {
        known.clear();
        homeless = errorsOfNoFile(round.validation);
      }
      for (const { file, errors } of round.validation?.files ?? []) {
        known.set(resolve(cwd, file), { errors, inputs: await inputsOf(resolve(cwd, file), options) });
      }
      files.add(
        await foldersOf(paths, cwd),
        [...known.values()].flatMap(({ inputs }) => [...(inputs ?? [])]),
      );
      yield {
        ...round,
        changed: [...changes.keys()].map((path) => displayPath(path, cwd)),
        campaigns: known.size,
        errors: [...known.values()].reduce((sum, { errors }) => sum + errors, homeless),
      };
    }
  } finally {
    await files.close();
  }
}

interface Known {
  readonly errors: number;
  /** Real paths of its files; null if it cannot be read, because then they are unknown. */
  readonly inputs: ReadonlySet<string> | null;
}

/** Errors without a file, such as that there is no campaign. */
function errorsOfNoFile(validation: Validation | null): number {
  const { errors, files } = validation ?? { errors: 0, files: [] };
  return Math.max(
    0,
    files.reduce((left, file) => left - file.errors, errors),
  );
}

/** The campaigns that changes are about; null: any of them. */
function concernedBy(changes: Changes, known: ReadonlyMap<string, Known>): readonly string[] | null {
  const concerned = new Set<string>();
  for (const [path, what] of changes) {
    if (known.has(path) && what === 'gone') return null;
    const owners = [...known].filter(([file, { inputs }]) => file === path || inputs?.has(path) === true);
    if (owners.length === 0) return null;
    for (const [file] of owners) concerned.add(file);
  }
  // A campaign that could not be read may have been fixed by any change.
  for (const [file, { inputs }] of known) if (inputs === null) concerned.add(file);
  return [...concerned];
}

async function look(
  paths: readonly string[],
  cwd: string,
  options: WatchOptions,
): Promise<Pick<Round, 'validation' | 'failure'>> {
  try {
    return { validation: await checkCampaigns(paths, { ...options, cwd }), failure: null };
  } catch (error) {
    if (error instanceof HandbillError) return { validation: null, failure: error };
    // The folder went away while it was read; should it come back, that is a change.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      return { validation: null, failure: null };
    throw error;
  }
}

/** The folders of these campaigns' files: the projects, and the folders in which campaigns are searched. */
async function foldersOf(paths: readonly string[], cwd: string): Promise<readonly string[]> {
  const folders = new Set<string>(paths.length === 0 ? [cwd] : []);
  for (const path of paths) {
    const full = resolve(cwd, path);
    if ((await kindOf(full)) === 'folder') folders.add(await realpath(full).catch(() => full));
  }
  const { files } = await findCampaigns(paths, cwd);
  for (const file of files) {
    const path = await realpath(file).catch(() => null);
    if (path === null) continue;
    // Without a handbill.yaml the root is the whole repository, and campaigns may be a small part of it.
    const project = await projectOf(cwd, { path, named: file }).catch(() => null);
    folders.add(project?.file == null ? dirname(path) : project.root);
  }
  if (folders.size === 0) folders.add(cwd);
  return [...folders];
}

async function inputsOf(file: string, options: WatchOptions): Promise<ReadonlySet<string> | null> {
  try {
    const { cwd, env = {}, ledger, recipients } = options;
    const { campaign } = await readCampaign(file, {
      cwd,
      env,
      now: options.now(),
      withSample: true,
      ...(ledger === undefined ? {} : { ledger }),
      ...(recipients === undefined ? {} : { recipients }),
    });
    if (campaign === null) return null;
    const { project, inputs, recipients: list, suppressions } = campaign;
    const small = inputs.map((input) => resolve(project.root, input.file));
    const lists = [list.path, ...(list.sample === undefined ? [] : [list.sample.path])];
    return new Set([await realpath(file), ...small, ...lists, ...suppressions.map(({ path }) => path)]);
  } catch {
    return null;
  }
}

/**
 * `validate --watch`: prints each round until it is interrupted. Nothing that was printed is taken away.
 */
export async function printWatch(
  paths: readonly string[],
  options: WatchOptions,
  context: CommandContext,
  { quiet }: { readonly quiet: boolean },
): Promise<void> {
  const interrupts = watchInterrupts();
  try {
    for await (const round of watchCampaigns(paths, options, interrupts.signal)) {
      await printRound(round, context, quiet);
    }
  } finally {
    interrupts.stop();
  }
  const status = interrupts.status();
  if (status !== null) context.exit(status);
}

async function printRound(round: Round, context: CommandContext, quiet: boolean): Promise<void> {
  const { changed, validation, failure, campaigns, errors } = round;
  const silent = quiet && validation?.errors === 0;
  if (changed.length > 0 && !silent) context.err(`\n${clock(context)} Changed: ${listed(changed)}\n`);
  if (failure !== null) {
    const { diagnostics, total } = failure;
    context.err(formatDiagnostics(diagnostics, { colour: context.colour.err, total }));
  } else if (validation === null) context.err('The folder is gone.\n');
  else await printValidation('text', async () => validation, context, { quiet, output: undefined });
  if (silent) return;
  const said =
    validation === null ? 'nothing could be checked' : `${countOf(campaigns, 'campaign')}, ${countOf(errors, 'error')}`;
  context.err(`${clock(context)} ${said}. Waiting for changes; Ctrl-C ends.\n`);
}

/** As many names as fit on a line or two. */
function listed(changed: readonly string[]): string {
  const shown = changed.slice(0, SHOWN).map(safeLine).join(', ');
  return changed.length > SHOWN ? `${shown} and ${changed.length - SHOWN} more` : shown;
}

const SHOWN = 5;

/** Wall time where the user sits. */
function clock({ now }: CommandContext): string {
  return `[${new Date(now()).toTimeString().slice(0, 8)}]`;
}

/** Changes of files since the last call, by their paths; `gone` if the file does not exist any more. */
type Changes = ReadonlyMap<string, 'changed' | 'gone'>;

/** Folders that are watched, with everything below them. */
interface WatchedFiles {
  /** Watches these folders too, and these files in any folder. */
  add(folders: Iterable<string>, files: Iterable<string>): void;
  /**
   * Waits until something has changed and then nothing for a moment; null after `signal`.
   *
   * @throws HandbillError when the system cannot watch that many folders
   */
  next(signal: AbortSignal): Promise<Changes | null>;
  close(): Promise<void>;
}

/**
 * Starts to watch. It resolves when every folder is watched, so that no later change is missed. Links are not followed,
 * because a link to a folder above would have no end; the target of a link is added by its real path.
 *
 * @param quietMs - the time without changes before changes are reported: an editor writes in several steps
 */
async function watchFiles(folders: Iterable<string>, quietMs: number): Promise<WatchedFiles> {
  const { watch } = await import('chokidar');
  const roots = new Set(folders);
  const named = new Set<string>();
  const isIgnored = (path: string): boolean => !named.has(path) && !roots.has(path) && isHidden(path, roots, named);
  const watcher = watch([...roots], { ignored: isIgnored, ignoreInitial: true, followSymlinks: false });
  const book = bookOf(watcher, (path) => named.has(path) || isOfCampaigns(path));
  await new Promise<void>((resolve) => watcher.once('ready', resolve));
  return {
    add: (more, files) => {
      const fresh = [...more].filter((folder) => !roots.has(folder));
      for (const folder of fresh) roots.add(folder);
      const news = [...files].filter((file) => !named.has(file));
      for (const file of news) named.add(file);
      // Everything below a watched folder is watched, except hidden files and folders.
      const outside = news.filter(
        (file) => ![...roots].some((root) => isInside(root, file)) || isHidden(file, roots, NONE),
      );
      if (fresh.length + outside.length > 0) watcher.add([...fresh, ...outside]);
    },
    next: (signal) => book.next(signal, quietMs),
    close: () => watcher.close(),
  };
}

/** Collects changes from the watcher until they are requested. */
function bookOf(watcher: FSWatcher, matters: (path: string) => boolean) {
  let changes = new Map<string, 'changed' | 'gone'>();
  let failure: Error | null = null;
  let lastMs = 0;
  let wake: () => void = () => undefined;
  watcher.on('all', (event, path) => {
    const isFolder = event === 'addDir' || event === 'unlinkDir';
    if (!isFolder && !matters(path)) return;
    changes.set(path, event === 'unlink' || event === 'unlinkDir' ? 'gone' : 'changed');
    lastMs = performance.now();
    wake();
  });
  watcher.on('error', (error) => {
    failure = error instanceof Error ? error : new Error(String(error));
    wake();
  });
  const sleep = (ms: number | null, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const timer = ms === null ? undefined : setTimeout(() => end(), ms);
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        wake = () => undefined;
        resolve();
      };
      wake = end;
      signal.addEventListener('abort', end);
    });
  return {
    next: async (signal: AbortSignal, quietMs: number): Promise<Changes | null> => {
      for (;;) {
        if (signal.aborted) return null;
        if (failure !== null) throw cannotWatch(failure);
        const leftMs = changes.size === 0 ? null : lastMs + quietMs - performance.now();
        if (leftMs !== null && leftMs <= 0) break;
        await sleep(leftMs, signal);
      }
      const found = changes;
      changes = new Map();
      return found;
    },
  };
}

/** Below a folder whose name begins with a dot, or in `node_modules`: campaigns are not looked for there either. */
function isHidden(path: string, roots: ReadonlySet<string>, named: ReadonlySet<string>): boolean {
  const root = [...roots].find((one) => isInside(one, path));
  const below = root === undefined ? [basename(path)] : relative(root, path).split(sep);
  if (!below.some((name) => name.startsWith('.') || name === 'node_modules')) return false;
  // A campaign may name a file in there all the same.
  return ![...named].some((file) => isInside(path, file));
}

const NONE: ReadonlySet<string> = new Set();

/** Files of campaigns, by their names: neither a README nor temporary files of an editor. */
function isOfCampaigns(path: string): boolean {
  return KINDS.has(extname(path).toLowerCase()) && !basename(path).startsWith('.') && dirname(path) !== path;
}

const KINDS: ReadonlySet<string> = new Set([
  ...['.yaml', '.yml', '.hbs', '.handlebars', '.html', '.htm', '.mjml', '.txt', '.csv', '.tsv'],
]);

function cannotWatch(error: Error): Error {
  const code = 'code' in error ? String(error.code) : '';
  if (code !== 'ENOSPC' && code !== 'EMFILE') return error;
  const hint = 'Name the campaigns or a smaller folder, or raise fs.inotify.max_user_watches.';
  return refuse(problem('usage', 'The system cannot watch as many folders as there are here.', { hint }));
}
