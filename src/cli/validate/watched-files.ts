import { basename, dirname, extname, relative, sep } from 'node:path';
import type { FSWatcher } from 'chokidar';
import { problem, refuse } from '../../errors.ts';
import { isInside } from '../../util/paths.ts';

/** What happened to files since it was last asked, by their paths; `gone` where there is none any more. */
export type Changes = ReadonlyMap<string, 'changed' | 'gone'>;

/** Folders that are watched, with everything below them. */
export interface WatchedFiles {
  /** Watches these folders, and these files wherever they lie, from now on as well. */
  add(folders: Iterable<string>, files: Iterable<string>): void;
  /**
   * Waits until something has changed and been quiet for a moment; null once `signal` says so.
   *
   * @throws HandbillError when the system cannot watch that many folders
   */
  next(signal: AbortSignal): Promise<Changes | null>;
  close(): Promise<void>;
}

/**
 * Starts to watch. It resolves when every folder is watched, so that no change after that goes by unseen. Links are not
 * followed: a folder that links to one above it has no end, and where a link leads is added by its real path.
 *
 * @param quietMs - how long nothing must have changed before changes are handed out: an editor writes in several steps
 */
export async function watchFiles(folders: Iterable<string>, quietMs: number): Promise<WatchedFiles> {
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
      // What lies below a folder that is watched is watched, but for what is hidden there.
      const outside = news.filter(
        (file) => ![...roots].some((root) => isInside(root, file)) || isHidden(file, roots, NONE),
      );
      if (fresh.length + outside.length > 0) watcher.add([...fresh, ...outside]);
    },
    next: (signal) => book.next(signal, quietMs),
    close: () => watcher.close(),
  };
}

/** Collects what the watcher says until it is asked for. */
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

/** Files that campaigns are made of, by their names: neither a README nor what an editor leaves beside a file. */
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
