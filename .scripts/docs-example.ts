/** Examples on docs/diagnostics.md: files and a command, which are really run, and what handbill says. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { runProgram } from '../src/cli/program.ts';
import { withEnvFile } from '../src/cli/shared/env-file.ts';
import { type Code, HandbillError } from '../src/errors.ts';
import type { CommandContext } from '../src/operations/context.ts';
import { formatDiagnostics } from '../src/util/diagnostic-text.ts';

/** Why a code is said, an example of it, and what to do. */
export interface Explained {
  readonly cause: string;
  readonly fix: string;
  /** Null where it takes a machine, a process or a fault that an example cannot have; `cause` says what. */
  readonly example: Example | null;
}

/** What is there: text, bytes or a link, each with the words that the page shows instead where it cannot show them. */
export type ExampleFile =
  | string
  | { readonly bytes: string | Uint8Array; readonly shown: string; readonly mode?: number; readonly hoursOld?: number }
  | { readonly link: string };

/** Changes to the campaign `hello` of the page, and what is then run. */
export interface Example {
  readonly files: Readonly<Record<string, ExampleFile | null>>;
  /** `validate hello` when absent. */
  readonly run?: string;
  /** Commands before it that go well; `@48 purge ...` is given 48 hours later. */
  readonly first?: readonly string[];
  /** The environment of those, where it is another. */
  readonly firstEnv?: Readonly<Record<string, string>>;
  /** What is written after those; null removes a file. */
  readonly afterwards?: Readonly<Record<string, ExampleFile | null>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Hours from the first command to `run`. */
  readonly laterHours?: number;
}

/** The campaign that examples change: sound, with two recipients. */
export const HELLO = {
  'handbill.yaml': '{}\n',
  'hello/campaign.yaml': 'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: hello.hbs\nrecipients: people.csv\n',
  'hello/hello.hbs': 'Hello {{first_name}}, your order {{order}} is ready.\n',
  'hello/people.csv': 'msisdn,first_name,order\n+447400123456,Ada,0042\n+447400123457,Ravi,0043\n',
} as const;

/** The text of the campaign file with other or more keys, and without some. */
export function withKeys(keys: string, without: readonly string[] = []): string {
  const replaced = [...keys.matchAll(/^(\w+):/gm)].map(([, key = '']) => key);
  const lines = HELLO['hello/campaign.yaml'].trimEnd().split('\n');
  const kept = lines.filter((line) => ![...replaced, ...without].includes(line.split(':')[0] ?? ''));
  return `${[...kept, ...(keys === '' ? [] : [keys])].join('\n')}\n`;
}

/** That file, by its path. */
export function campaign(keys: string, without: readonly string[] = []): Readonly<Record<string, string>> {
  return { 'hello/campaign.yaml': withKeys(keys, without) };
}

/** The list with another row, and perhaps another header. */
export function list(row: string, header = 'msisdn,first_name,order'): Readonly<Record<string, string>> {
  return { 'hello/people.csv': `${header}\n${row}\n` };
}

/** Another template. */
export function template(text: string): Readonly<Record<string, string>> {
  return { 'hello/hello.hbs': `${text}\n` };
}

/** A project file with an environment. */
export const PRODUCTION = `environments:
  production:
    baseUrl: https://api.example.com
    apiKey: { env: HANDBILL_API_KEY }
`;

/** How an example went: what was said in all, and of the code in question as text. */
export interface Ran {
  readonly codes: ReadonlySet<Code>;
  readonly said: string;
}

/** The clock of examples: a Saturday, 9 am in UTC. */
const NOW_MS = Date.UTC(2026, 10, 21, 9);

/** Runs an example in a folder of its own, in this process. */
export async function runExample(code: Code, example: Example): Promise<Ran> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'handbill-example-')));
  const bare = { PATH: process.env['PATH'], HOME: root };
  const env = { ...bare, ...example.env };
  const at = (hours: number) => () => NOW_MS + hours * 3_600_000;
  try {
    for (const [path, file] of Object.entries({ ...HELLO, ...example.files })) put(root, path, file);
    for (const written of example.first ?? []) {
      const [, hours = '0', line = ''] = /^(?:@(\d+) )?(.*)$/.exec(written) ?? [];
      const first = { ...bare, ...(example.firstEnv ?? example.env) };
      const { error } = await handbill(line, { cwd: root, env: first, now: at(Number(hours)) });
      if (error !== null) throw new Error(`${code}: ${line}: ${error.message}`);
    }
    for (const [path, file] of Object.entries(example.afterwards ?? {})) put(root, path, file);
    const now = at(example.laterHours ?? 0);
    const { error, text } = await handbill(example.run ?? 'validate hello', { cwd: root, env, now });
    const all = `${text}${error === null ? '' : formatDiagnostics(error.diagnostics, { colour: false, limit: 99 })}`;
    const blocks = blocksOf(all.replaceAll(root, '/srv/campaigns'));
    return {
      codes: new Set(blocks.map(({ code: found }) => found)),
      said: blocks.find((block) => block.code === code)?.text ?? '',
    };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function put(root: string, path: string, file: ExampleFile | null): void {
  const full = join(root, path);
  rmSync(full, { recursive: true, force: true });
  if (file === null) return;
  mkdirSync(dirname(full), { recursive: true });
  if (typeof file === 'string') writeFileSync(full, file);
  else if ('link' in file) symlinkSync(file.link, full);
  else {
    writeFileSync(full, file.bytes);
    if (file.mode !== undefined) chmodSync(full, file.mode);
    if (file.hoursOld !== undefined) utimesSync(full, NOW_MS / 1000, NOW_MS / 1000 - file.hoursOld * 3600);
  }
}

async function handbill(
  line: string,
  own: Pick<CommandContext, 'cwd' | 'env' | 'now'>,
): Promise<{ readonly error: HandbillError | null; readonly text: string }> {
  let text = '';
  const context: CommandContext = {
    ...own,
    out: () => undefined,
    err: (more) => {
      text += more;
    },
    colour: { out: false, err: false },
    width: 100,
    interactive: false,
    exit: () => undefined,
  };
  try {
    const { env } = await withEnvFile(own.env, own.cwd);
    await runProgram(line.split(' '), { ...context, env });
    return { error: null, text };
  } catch (error) {
    if (error instanceof HandbillError) return { error, text };
    throw error;
  }
}

/** Diagnostics as they are printed: a head, and lines that are indented below it. */
function blocksOf(text: string): readonly { readonly code: Code; readonly text: string }[] {
  const found = text.matchAll(/^(?:error|warning|note)\[([a-z0-9-]+)\]: .*\n(?: +.*\n)*/gm);
  return [...found].map(([all, code]) => ({ code: code as Code, text: all }));
}
