import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';

/*
 * Read by a Node that is older than handbill needs: nothing newer than Node 14 is written here, and nothing but Node's
 * own modules is imported.
 */

/** handbill's own folder: a clone, or a package that npm installed. */
const HERE = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');

/**
 * Uses the npm package `node` of this clone or project. Searches only folders above handbill, so the current folder
 * cannot provide a program. For `npx`, npm fetches the right Node.js. If there is none, says what to run, and sets exit
 * status 2.
 */
export function runUnderOwnNode(needed: number, here: NodeJS.Process): void {
  const installed = nodeAbove(HERE, needed, here.platform);
  const isThere = installed !== null && existsSync(installed) && installed !== here.execPath;
  const found = isThere ? installed : nodeOfNpx(HERE, needed, here);
  if (found !== null) {
    startUnder(found, here);
    return;
  }
  here.stderr.write(
    `handbill needs Node.js ${needed} or newer; this is ${here.versions.node} (${here.execPath}).\n` +
      `${advice(installed, here.argv.slice(2))}\n`,
  );
  here.exitCode = 2;
}

/** The program of the nearest npm package `node` that is new enough, whether or not it is there; null: no such package. */
export function nodeAbove(folder: string, needed: number, platform: string): string | null {
  const version = readJson(join(folder, 'node_modules', 'node', 'package.json')).version;
  if (typeof version === 'string' && Number(version.split('.')[0]) >= needed) return programIn(folder, platform);
  return dirname(folder) === folder ? null : nodeAbove(dirname(folder), needed, platform);
}

/** Where the npm package `node` puts its program: on Windows `bin/node` is a note, and the program beside it. */
function programIn(folder: string, platform: string): string {
  return join(folder, 'node_modules', 'node', 'bin', platform === 'win32' ? 'node.exe' : 'node');
}

/** From the cache of `npx`; the first fetch takes seconds. Null: handbill is not there, or the fetch failed. */
function nodeOfNpx(handbill: string, needed: number, here: NodeJS.Process): string | null {
  const cache = npxCacheOf(handbill);
  const npm = here.env.npm_execpath;
  if (cache === null || npm === undefined) return null;
  const version = ownVersion();
  const kept = nodeInCache(cache, version, here.platform);
  if (kept !== null) return kept;
  here.stderr.write(`handbill needs Node.js ${needed} or newer: npm fetches ${version}, once.\n`);
  const words = [npm, 'exec', '--yes', `--package=node@${version}`, '--', 'node', '--version'];
  try {
    execFileSync(here.execPath, words, { stdio: 'ignore' });
  } catch (_) {
    return null;
  }
  return nodeInCache(cache, version, here.platform);
}

/** `_npx` in npm's cache, where handbill lies in a folder of it; else null. */
export function npxCacheOf(handbill: string): string | null {
  const cache = dirname(dirname(dirname(handbill)));
  return basename(cache) === '_npx' && basename(dirname(handbill)) === 'node_modules' ? cache : null;
}

/** A Node.js of exactly this version in the folders of `npx`; null: none. */
function nodeInCache(cache: string, version: string, platform: string): string | null {
  for (const name of readdirSync(cache)) {
    const folder = join(cache, name);
    const program = programIn(folder, platform);
    const isIt = readJson(join(folder, 'node_modules', 'node', 'package.json')).version === version;
    if (isIt && existsSync(program)) return program;
  }
  return null;
}

function readJson(file: string): { readonly version?: unknown; readonly devDependencies?: { readonly node?: string } } {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (_) {
    return {};
  }
}

function ownVersion(): string {
  const { devDependencies } = readJson(join(HERE, 'package.json'));
  return devDependencies === undefined || devDependencies.node === undefined ? '24' : devDependencies.node;
}

/** How to get the right Node.js: for a clone, for a project with handbill in it, and for handbill anywhere else. */
function advice(found: string | null, args: readonly string[]): string {
  const version = ownVersion();
  const folder = dirname(HERE);
  if (basename(folder) !== 'node_modules') return `Fix: run \`npm ci\` in ${HERE}. It installs the right one.`;
  const project = dirname(folder);
  if (!existsSync(join(project, 'package.json')) || project.split(sep).indexOf('_npx') !== -1) {
    const command = ['npx', '--yes', `--package=node@${version}`, '--', 'node', join(HERE, 'dist', 'cli.js'), ...args];
    return `Fix: run this, which downloads the right one:\n  ${command.map(shellWord).join(' ')}`;
  }
  const how = found === null ? `npm install --save-dev --save-exact node@${version}` : 'npm rebuild node';
  return `Fix: run \`${how}\` in ${project}. It installs the right one.`;
}

function shellWord(text: string): string {
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`;
}

/**
 * Passes signals on, and ends as the other process does. A terminal sends signals to both, and a second one would end a
 * send at once: passes them on only without a terminal.
 */
function startUnder(node: string, here: NodeJS.Process): void {
  const env = Object.assign({}, here.env, { HANDBILL_PARENT: String(here.pid) });
  const child = spawn(node, [...here.execArgv, ...here.argv.slice(1)], { stdio: TIED, env });
  const isOnTerminal = isatty(0) || isatty(1) || isatty(2);
  const passOn = (signal: NodeJS.Signals): void => {
    if (signal === 'SIGTERM' || !isOnTerminal) child.kill(signal);
  };
  for (const signal of SIGNALS) here.on(signal, passOn);
  child.on('error', (error) => {
    here.stderr.write(`handbill needs a newer Node.js than this, and ${node} cannot be started: ${error.message}\n`);
    here.exitCode = 2;
  });
  child.on('exit', (status, signal) => {
    for (const one of SIGNALS) here.off(one, passOn);
    if (signal === null) here.exitCode = status === null ? 1 : status;
    else here.kill(here.pid, signal);
  });
}

/** The channel closes when this process is killed, which no signal tells the other: it ends then (main.ts). */
const TIED: ('inherit' | 'ipc')[] = ['inherit', 'inherit', 'inherit', 'ipc'];
const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];
