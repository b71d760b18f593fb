import type { CommandEntry } from './table.ts';

/**
 * Starts this process again, in place (same pid, same files), with a bound on V8's young generation - once, and only
 * for commands that walk a whole list. Left to itself V8 lets it grow to three times 32 MB although a list needs
 * next to nothing for long: a preview of 1,000,000 rows peaked at 280 MB, with the bound at 164 to 186, at no
 * measurable CPU. The bound has no effect when it is set later (`v8.setFlagsFromString`), and `#!` cannot carry it
 * everywhere. Costs about 20 ms. Does nothing where the user said otherwise, debugs, or the system has no `execve`.
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
  const flags = [...here.execArgv, `--max-semi-space-size=${megabytes}`];
  here.execve(here.execPath, [here.execPath, ...flags, script, ...args], here.env);
}
