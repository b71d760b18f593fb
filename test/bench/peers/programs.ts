import { execFile } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { measure, type Usage } from '../measure.ts';
import { textOf } from '../project.ts';
import type { List } from './lists.ts';

/** A program that sends a message to each row of a list. */
export interface Peer {
  /** As in the ids of figures. */
  readonly id: string;
  /** With its version. */
  readonly name: string;
  /** How many messages it is given: what takes some seconds. */
  readonly most: number;
  /** Makes what it needs apart from the list. This is not measured. */
  readonly prepare?: (list: List) => Promise<void>;
  readonly send: (list: List) => Promise<Usage>;
}

/** Where they send to, and a folder for what they leave. */
export interface Place {
  readonly folder: string;
  readonly url: string;
  readonly key: string;
}

const HERE = import.meta.dirname;
const CONCURRENCY = 64;
const MANY = 200_000;

const run = promisify(execFile);

/** Those that are on this machine or can be installed. `say` is told which are not, and why. */
export async function findPeers(place: Place, say: Say): Promise<readonly Peer[]> {
  const found: Peer[] = [];
  for (const [names, find] of FINDERS) {
    try {
      found.push(...(await find(place, say)));
    } catch (error) {
      say(`Not compared with ${names}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return found;
}

type Say = (line: string) => void;

const FINDERS: readonly [names: string, find: (place: Place, say: Say) => Promise<readonly Peer[]>][] = [
  ['fetch', async (place) => [fetchOf(place)]],
  ['aiohttp', async (place) => [await findAiohttp(place)]],
  ['curl', async (place) => [await findCurl(place)]],
  ['Artillery and newman', findInstalled],
];

function fetchOf({ folder, url, key }: Place): Peer {
  const env = { HANDBILL_API_KEY: key, NODE_COMPILE_CACHE: join(folder, 'compiled') };
  return {
    id: 'fetch',
    name: `fetch of Node ${process.versions.node}`,
    most: MANY,
    send: ({ csv }) => measure(join(HERE, '..', 'fetch-loop.ts'), [csv, url], { cwd: folder, env }),
  };
}

async function findAiohttp(place: Place): Promise<Peer> {
  const [python, version] = await findPython('import aiohttp; print(aiohttp.__version__)');
  const script = join(HERE, 'send.py');
  return {
    id: 'aiohttp',
    name: `aiohttp ${version}`,
    most: MANY,
    send: ({ csv }) => runProgram(place, python, [python, script, csv, place.url]),
  };
}

/** It neither reads a list nor renders: both are done for it before it starts. */
async function findCurl(place: Place): Promise<Peer> {
  const [python] = await findPython('print()');
  const { stdout } = await run('curl', ['--version']);
  const config = join(place.folder, 'curl.conf');
  const args = ['--silent', '--parallel', '--parallel-max', String(CONCURRENCY), '--config', config];
  return {
    id: 'curl',
    name: stdout.split(' ', 2).join(' '),
    most: MANY,
    prepare: (list) => writeFile(config, curlConfig(list, place)),
    send: () => runProgram(place, python, ['curl', ...args]),
  };
}

/** What `curl --config` reads: a request for each row, all its options repeated. */
export function curlConfig({ rows }: Pick<List, 'rows'>, { url, key }: Pick<Place, 'url' | 'key'>): string {
  const shared = `url = "${url}/v2/messages"
output = /dev/null
header = "X-Api-Key: ${key}"
header = "Content-Type: application/json"
`;
  const requests = rows.map((row) => {
    const body = { name: 'peers', channel: 'SMS', from: 'Riverside', body: { text: textOf(row) } };
    const message = JSON.stringify({ ...body, recipients: [{ msisdn: row.msisdn.trim() }] });
    // Within quotes curl knows the escapes that JSON has for quotes and backslashes.
    return `${shared}data = ${JSON.stringify(message)}\n`;
  });
  return requests.join('next\n');
}

async function findInstalled(place: Place, say: Say): Promise<readonly Peer[]> {
  await install(say);
  const env = { HANDBILL_API_KEY: place.key, ARTILLERY_DISABLE_TELEMETRY: 'true' };
  const call = { cwd: place.folder, env };
  const plan = ['run', '--target', place.url, join(HERE, 'artillery.yml')];
  const collection = ['run', join(HERE, 'newman.json'), '--silent'];
  const variables = ['--env-var', `url=${place.url}`, '--env-var', `key=${place.key}`];
  return [
    {
      id: 'artillery',
      name: `Artillery ${versionOf('artillery')}`,
      most: 20_000,
      send: ({ csv }) =>
        measure(installed('artillery/bin/run'), plan, { ...call, env: { ...env, LIST: relative(HERE, csv) } }),
    },
    {
      id: 'newman',
      name: `newman ${versionOf('newman')}`,
      most: 300,
      send: ({ csv }) =>
        measure(installed('newman/bin/newman.js'), [...collection, ...variables, '--iteration-data', csv], call),
    },
  ];
}

/** Installs what package-lock.json names, unless that has been done. Install scripts are not run: none is needed. */
async function install(say: Say): Promise<void> {
  const done = installed('.package-lock.json');
  const lock = join(HERE, 'package-lock.json');
  if (existsSync(done) && statSync(done).mtimeMs >= statSync(lock).mtimeMs) return;
  say('Installing Artillery and newman, 550 MB, for this comparison alone.');
  await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', HERE], { maxBuffer: 1e8 });
}

function installed(path: string): string {
  return join(HERE, 'node_modules', path);
}

function versionOf(name: string): string {
  const { version } = JSON.parse(readFileSync(installed(`${name}/package.json`), 'utf8')) as { version: string };
  return version;
}

/** A Python that can run a line, and what it printed. Debian's own comes first: packages of Debian are its alone. */
async function findPython(line: string): Promise<readonly [python: string, printed: string]> {
  for (const python of ['/usr/bin/python3', 'python3']) {
    const printed = await run(python, ['-c', line]).then(
      ({ stdout }) => stdout.trim(),
      () => null,
    );
    if (printed !== null) return [python, printed];
  }
  throw new Error(`no python3 can run \`${line}\``);
}

/**
 * Runs what is no script of Node to its end.
 * @throws Error with what it said, when it ends with another status than 0
 */
async function runProgram({ folder, key }: Place, python: string, args: readonly string[]): Promise<Usage> {
  const file = join(folder, 'usage-of-program.json');
  const env = { ...process.env, HANDBILL_API_KEY: key };
  await run(python, [join(HERE, 'usage.py'), file, ...args], { cwd: folder, env, maxBuffer: 1e8 });
  return JSON.parse(readFileSync(file, 'utf8')) as Usage;
}
