import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type ReadOptions, readCampaign } from '../../src/campaign/load.ts';
import { type Checked, checkFile } from '../../src/campaign/validate.ts';
import { readYaml } from '../../src/campaign/yaml.ts';
import type { Diagnostic } from '../../src/errors.ts';

export interface Folder extends AsyncDisposable {
  readonly root: string;
  write(file: string, content: string | Uint8Array): Promise<void>;
  read(target: string, options?: Partial<ReadOptions>): ReturnType<typeof readCampaign>;
}

/** A folder of its own, removed afterwards. `.git` makes it a root, so that nothing above it counts. */
export async function folderWith(files: Readonly<Record<string, string | Uint8Array>>): Promise<Folder> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'handbill-campaign-')));
  await mkdir(join(root, '.git'));
  const write = async (file: string, content: string | Uint8Array) => {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), content);
  };
  for (const [file, content] of Object.entries(files)) await write(file, content);
  return {
    root,
    write,
    read: (target, options) => readCampaign(target, { cwd: root, ...options }),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}

/** The files of a working campaign `hello`, with other lines in its campaign file. */
export function hello(lines = '', base = SMALLEST): Readonly<Record<string, string>> {
  return {
    'campaigns/hello/campaign.yaml': `${base}${lines}`,
    'campaigns/hello/hello.hbs': 'Hi {{first_name}}\n',
    'campaigns/hello/people.csv': 'msisdn,first_name\n+447700900123,Ann\n',
  };
}

export const SMALLEST = 'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: hello.hbs\nrecipients: people.csv\n';

/** `code line:column` of each diagnostic. */
export function brief(diagnostics: readonly Diagnostic[]): readonly string[] {
  return diagnostics.map(({ code, at }) => `${code} ${at?.line ?? '-'}:${at?.column ?? '-'}`);
}

/** Reads YAML and compares it with a schema. */
export function check(kind: 'campaign' | 'project', text: string | Uint8Array): Omit<Checked<unknown>, 'yaml'> {
  const { yaml, diagnostics } = readYaml(Buffer.from(text as string), 'file.yaml');
  if (yaml === null) return { value: null, diagnostics, reported: new Set() };
  return checkFile(kind, yaml);
}

/** Everything that a user could see of diagnostics. */
export function visible(diagnostics: readonly Diagnostic[]): string {
  return JSON.stringify(diagnostics);
}
