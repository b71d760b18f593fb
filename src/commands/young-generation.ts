import type { CommandEntry } from './table.ts';

/**
 * Bounds on what V8 keeps, for a list needs next to nothing for long.
 *
 * - The young generation would grow to three times 32 MB. A small one alone makes it worse: from 4 MB on, V8 takes
 *   what is read for long-lived, because some of it is still in use whenever the young generation is full, and makes
 *   all of it in the old one at once ("allocation sites"): 200 MB and half as much CPU again. Without that guess 4 MB
 *   are as fast as 16 (`validate`, 1,000,000 rows: 135 MB and 2.8 s, where 16 MB take 160 to 187 MB and 2.7 to 3.5 s).
 * - The old generation is looked through when it has grown by a little, and all at once (`src/util/old-generation.ts`).
 *   V8 would let it grow to four times what is in use. And while it marks beside the work it does not look through the
 *   young one, and what is made meanwhile becomes old: 12 MB each time, and in one start of three 25 MB more.
 * - WebAssembly is compiled once, quickly. The parser of answers is one large function, and V8 takes 20 MB to compile it
 *   again with its optimiser at the first few thousand answers; `send` takes no more CPU without.
 */
const FLAGS: readonly string[] = [
  '--no-allocation-site-pretenuring',
  '--no-incremental-marking',
  '--expose-gc',
  '--liftoff-only',
];

/**
 * For glibc. One pool of memory for all threads, instead of one for each where what it gave back lies idle: 7 MB less.
 * And from 32 KiB on memory of its own, which goes back at once; left to itself glibc takes the tables of the duplicate
 * check out of the pool once it has seen a large one, and leaves holes: 10 to 18 MB in a `send` of a million rows. What
 * the optimiser takes for each function comes in pieces of up to 32 KiB, and left 6 MB of holes as well.
 */
const VARIABLES = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '32768' };

/**
 * Starts this process again, in place (same pid, same files), with bounds on V8's memory - once, and only for commands
 * that walk a whole list. The bounds have no effect when they are set later (`v8.setFlagsFromString`), and `#!` cannot
 * carry them everywhere. Costs about 20 ms. Does nothing where the user said otherwise, debugs, or the system has no
 * `execve`.
 */
export function boundYoungGeneration(
  args: readonly string[],
  commands: readonly CommandEntry[],
  here: NodeJS.Process,
): void {
  const named = args.find((arg) => !arg.startsWith('-'));
  const megabytes = commands.find((command) => command.name === named)?.semiSpaceMegabytes;
  if (megabytes === undefined || here.execve === undefined || here.platform === 'win32') return;
  const said = [...here.execArgv, here.env['NODE_OPTIONS'] ?? ''].join(' ');
  if (said.includes('semi-space-size') || said.includes('--inspect')) return;
  const [, script] = here.argv;
  if (script === undefined) return;
  const flags = [...here.execArgv, `--max-semi-space-size=${megabytes}`, ...FLAGS];
  here.execve(here.execPath, [here.execPath, ...flags, script, ...args], { ...VARIABLES, ...here.env });
}
