import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { type Behaviour, type RawServer, startRawServer } from '../helpers/raw-server.ts';
import { CANARY_KEY } from '../oracle/scene.ts';
import type { Ran, Target } from './target.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', 'campaigns');

// Where fsync costs nothing: thousands of ledgers are made here, and none has to outlive a power failure.
const MEMORY = '/dev/shm';

/** Exit statuses of a command that was not interrupted. 1 is a bug, and none is a crash. */
const DOCUMENTED: ReadonlySet<number | null> = new Set([0, 2, 3, 4, 5, 6, 7]);
const STACK = /^ +at .*(?:file:\/\/|node:|\.[cm]?[jt]s:\d+)/m;

/** What handbill makes in a project, and the plan that a test may put there. */
const OWN = ['.handbill', '.plan.json'];

/** Bounds for one command: CPU, because other work on the machine lengthens the wall clock. */
const MOST_CPU_MS = 10_000;
const MOST_MB = 512;

/** A project in a folder of its own, with a server that plays the API, and everything around it watched. */
export interface Arena extends AsyncDisposable {
  /** Root of the project: the examples, with an environment `test` that is the server. */
  readonly root: string;
  readonly server: RawServer;
  write(name: string, content: string | Uint8Array): void;
  remove(name: string): void;
  /**
   * Runs a command in the project and throws an error that says what was wrong with it: status, time, memory, a stack
   * trace, the key, a request although it was refused, or a file where none belongs.
   */
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ran>;
}

/** @param files more files of the project, there from the beginning */
export async function openArena(
  target: Target,
  behaviour?: Behaviour,
  files: Readonly<Record<string, string>> = {},
): Promise<Arena> {
  const base = realpathSync(mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'handbill-fuzz-')));
  const root = join(base, 'project');
  const home = join(base, 'home');
  mkdirSync(home);
  cpSync(EXAMPLES, join(root, 'campaigns'), { recursive: true, filter: (file) => !file.includes('.handbill') });
  rmSync(join(root, 'campaigns', 'handbill.yaml'));
  // Nothing shall wait for its turn here.
  for (const file of campaignFiles(root)) {
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^ {2}rate: .*\n/m, '  attempts: 2\n'));
  }
  const server = await startRawServer(behaviour === undefined ? {} : { behaviour });
  const write = (name: string, content: string | Uint8Array): void => writeFileSync(join(root, name), content);
  write('handbill.yaml', projectFile(server.port));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    write(name, content);
  }
  const outside = JSON.stringify(entries(base, ['project']));
  const inside = new Set(entries(root, OWN).map(([name]) => name));

  return {
    root,
    server,
    write,
    remove: (name) => rmSync(join(root, name), { recursive: true, force: true }),
    async run(args, env = {}) {
      const before = { connections: server.connections, requests: server.requests.length };
      const ran = await target.run({ cwd: root, args, env: { HOME: home, HANDBILL_API_KEY: CANARY_KEY, ...env } });
      const wrong = [...faults(ran)];
      const requests = server.requests.length - before.requests;
      if (ran.status === 2 && server.connections !== before.connections) {
        wrong.push(`refused, but made a connection and ${requests} requests`);
      }
      const files = new Set(entries(root, OWN).map(([name]) => name));
      const ledgers = filesNamed(args).flatMap((name) => [resolve(root, name), resolve(root, name, '../locks')]);
      const added = [...files].filter((name) => !inside.has(name));
      const asked = added.filter((name) => ledgers.some((ledger) => name.startsWith(ledger) || isWithin(ledger, name)));
      for (const name of asked) rmSync(name, { recursive: true, force: true });
      if (JSON.stringify(entries(base, ['project'])) !== outside) wrong.push('wrote outside the project');
      if (asked.length < added.length) wrong.push(`left other files behind: ${added}`);
      const lost = [...inside].filter((name) => !files.has(name));
      if (lost.length > 0) wrong.push(`took files away: ${lost}`);
      if (wrong.length === 0) return ran;
      throw new Error(`handbill ${args.join(' ')}\n  ${wrong.join('\n  ')}\n${clip(ran.stdout)}\n${clip(ran.stderr)}`);
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

export function* faults(ran: Ran): Generator<string> {
  const said = ran.stdout + ran.stderr;
  if (!DOCUMENTED.has(ran.status)) yield `ended with ${ran.status}`;
  if (ran.cpuMs >= MOST_CPU_MS) yield `took ${Math.round(ran.cpuMs)} ms of CPU`;
  if (ran.peakMb >= MOST_MB) yield `took ${Math.round(ran.peakMb)} MB`;
  if (STACK.test(said)) yield 'showed a stack trace';
  if (said.includes(CANARY_KEY)) yield 'showed the key';
  if ((ran.polluted ?? []).length > 0) yield `changed ${ran.polluted?.join(', ')}`;
}

/** The project file of the examples, with an environment that uses all there is. */
export function projectFile(port: number): string {
  return `locale: en-GB
timeZone: Europe/London
prices: campaigns/prices.csv
partials: campaigns/partials
defaults:
  from: Riverside
  recipients: { to: mobile, defaultCountry: GB }
  send: { timeout: 2s }
  limits: { maxParts: 3, stopAfter: { inDoubt: 50 } }
environments:
  test:
    baseUrl: http://127.0.0.1:${port}
    apiKey: { env: HANDBILL_API_KEY }
    rate: 1000/s
    wire:
      channels: { messaging-app: WhatsApp }
      response: { error: [/error/message] }
      answers: [{ status: 503, then: retry }]
`;
}

function campaignFiles(root: string): readonly string[] {
  const folders = readdirSync(join(root, 'campaigns'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const files = folders.map(({ name }) => join(root, 'campaigns', name, 'campaign.yaml'));
  return files.filter((file) => existsSync(file));
}

/** Everything below a folder, with sizes and times. */
function entries(folder: string, except: readonly string[]): readonly (readonly [string, number, number])[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !except.some((name) => `${relative(folder, path)}/`.startsWith(`${name}/`)))
    .map((path) => [path, statSync(path).size, statSync(path).mtimeMs] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** The files that a command line asks for: such a file may be made, a ledger with its companions, folder and locks. */
function filesNamed(args: readonly string[]): readonly string[] {
  return args
    .flatMap((arg, at) => {
      const [, name] = /^(?:--ledger=|--output=|-[a-z]*?o=?)(.+)$/s.exec(arg) ?? [];
      if (name !== undefined) return [name];
      return /^(?:--ledger|--output|-[a-z]*o)$/.test(arg) ? args.slice(at + 1, at + 2) : [];
    })
    .filter((name) => name !== '');
}

function isWithin(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}

function clip(text: string): string {
  return text.length > 2_000 ? `${text.slice(0, 2_000)} ...` : text;
}
