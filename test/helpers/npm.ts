import { spawnSync } from 'node:child_process';

const MOST_MS = 100_000;

/**
 * Runs npm, and once more where it hangs: a registry that does not answer must not hold up all other tests.
 *
 * @returns what it printed on stdout
 */
export function npm(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): string {
  const words = ['--prefer-offline', '--no-audit', '--no-fund', '--fetch-timeout=20000', ...args];
  const once = () => spawnSync('npm', words, { cwd, env, encoding: 'utf8', timeout: MOST_MS });
  const first = once();
  const { status, stdout, stderr } = first.error === undefined ? first : once();
  if (status !== 0) throw new Error(`npm ${args.join(' ')}\n${stdout}${stderr}`);
  return stdout;
}
