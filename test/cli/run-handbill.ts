import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type CliResult, runCli } from '../helpers/cli.ts';
import { commandRunner } from '../helpers/here.ts';

export interface Finished {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs handbill without a terminal: in this process, but in one of its own in the whole sets. */
export async function handbill(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Finished> {
  return finished(await commandRunner()(args, { cwd, env }));
}

/** Runs handbill as a process of its own, for what `main` does and for what a process ends with. */
export async function handbillProcess(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Finished> {
  return finished(await runCli(args, { cwd, env }));
}

function finished({ status, stdout, stderr }: CliResult): Finished {
  return { status, out: stdout, err: stderr };
}

/** A folder with these files, a git repository by its looks; removed with `remove`, or at the end of `await using`. */
export async function projectWith(
  files: Readonly<Record<string, string>>,
): Promise<{ readonly root: string; readonly remove: () => Promise<void> } & AsyncDisposable> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'handbill-cli-')));
  await mkdir(join(root, '.git'));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
  const remove = () => rm(root, { recursive: true, force: true });
  return { root, remove, [Symbol.asyncDispose]: remove };
}

export const HELLO = {
  'campaigns/hello/campaign.yaml':
    'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: hello.hbs\nrecipients: people.csv\n',
  'campaigns/hello/hello.hbs': 'Hello {{first}}, see you soon.',
  'campaigns/hello/people.csv': 'msisdn,first\n+447700900001,Ann\n+447700900002,Bo\n+447700900001,Ann\n',
} as const;
