import { spawnSync } from 'node:child_process';
import process from 'node:process';

const MOST_MS = 100_000;

/** Variables that lead to the registry: npm's settings, proxies, certificates. Without them npm tries until its time is up. */
const REGISTRY = /^(?:npm_config_(?!.*prefix$).*|https?_proxy|all_proxy|no_proxy|node_extra_ca_certs|ssl_cert_.*)$/i;

export function registryVariables(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => REGISTRY.test(name)));
}

/**
 * Runs npm, and once more where it hangs: a registry that does not answer must not hold up all other tests.
 *
 * @param env all that npm gets, apart from what leads it to the registry
 * @returns what it printed on stdout
 */
export function npm(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): string {
  const words = ['--prefer-offline', '--no-audit', '--no-fund', '--fetch-timeout=20000', ...args];
  const options = { cwd, env: { ...registryVariables(), ...env }, encoding: 'utf8', timeout: MOST_MS } as const;
  const once = () => spawnSync('npm', words, options);
  const first = once();
  const { status, stdout, stderr, error } = first.error === undefined ? first : once();
  if (status !== 0) throw new Error(`npm ${args.join(' ')}: ${error?.message ?? status}\n${stdout}${stderr}`);
  return stdout;
}
