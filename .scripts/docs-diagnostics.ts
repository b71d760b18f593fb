/** docs/diagnostics.md and docs/diagnostics/: each code with its cause, an example that is run, and what to do. */
import { CODES, type Code } from '../src/errors.ts';
import { CONTENT } from './docs-diagnostics-content.ts';
import { FILES } from './docs-diagnostics-files.ts';
import { LISTS } from './docs-diagnostics-lists.ts';
import { RUNS } from './docs-diagnostics-runs.ts';
import { type Example, type ExampleFile, type Explained, HELLO, type Ran, runExample } from './docs-example.ts';
import { block, type Pages, page, table } from './docs-markdown.ts';

/** Every code has an explanation: the compiler says which one has none. */
export const EXPLAINED: Readonly<Record<Code, Explained>> = { ...FILES, ...LISTS, ...CONTENT, ...RUNS };

/** docs/diagnostics.md, and a page for each code. Runs every example, unless it is handed what they came to. */
export async function diagnosticsPages(run: typeof runExample = runExample): Promise<Pages> {
  const pages = new Map<string, string>();
  const messages = new Map<Code, string>();
  for (const code of ALL) {
    const { example } = EXPLAINED[code];
    const ran = example === null ? null : await run(code, example);
    pages.set(`docs/diagnostics/${code}.md`, codePage(code, example, ran));
    messages.set(code, ran === null ? CODES[code] : messageIn(ran));
  }
  const groups = groupsOf(ALL).map(({ title, codes }) => {
    const rows = codes.map((code) => [`[\`${code}\`](diagnostics/${code}.md)`, messages.get(code) ?? '']);
    return `## ${title}\n\n${table(['code', 'message, for example'], rows)}`;
  });
  return new Map([['docs/diagnostics.md', page('Look up an error or a warning', INTRO, ...groups, SETTING)], ...pages]);
}

const ALL = Object.keys(CODES) as readonly Code[];

/** Causes, each with the first of its codes: those that follow it in CODES belong to it too. */
const GROUPS = [
  ['file-not-found', 'Files'],
  ['yaml-syntax', 'YAML'],
  ['unknown-key', 'Campaign and project files'],
  ['csv-syntax', 'CSV'],
  ['list-too-old', 'Size, age and sample of the list'],
  ['unknown-column', 'Columns, addresses and duplicates'],
  ['template-syntax', 'Templates'],
  ['empty-message', 'Messages, their length and cost'],
  ['usage', 'Command line and git'],
  ['missing-api-key', 'API key and connections'],
  ['plan-invalid', 'Plans and approval'],
  ['input-changed', 'Runs that may not start'],
  ['run-not-found', 'Runs and their recipients'],
  ['invalid-suppression', 'Suppression lists'],
  ['missing-webhook-secret', 'Webhooks and delivery reports'],
  ['ledger-unusable', 'Ledger'],
] as const satisfies readonly (readonly [Code, string])[];

function groupsOf(all: readonly Code[]): readonly { readonly title: string; readonly codes: readonly Code[] }[] {
  return GROUPS.map(([first, title], index) => {
    const next = GROUPS[index + 1]?.[0];
    const end = next === undefined ? all.length : all.indexOf(next);
    return { title, codes: all.slice(all.indexOf(first), end) };
  });
}

/** The first line of what was said, without its code, as text of a table. */
function messageIn({ said }: Ran): string {
  const [, message = ''] = /^\w+\[[^\]]+\]: (.*)/.exec(said) ?? [];
  return message.replaceAll(/[<>*_[\]]/g, (mark) => `\\${mark}`);
}

const LANGUAGES: Readonly<Record<string, string>> = { yaml: 'yaml', csv: 'csv', hbs: 'handlebars', json: 'json' };

const INTRO = `Whatever handbill says about a file, a row or a run carries one of these codes. Each has a page with its cause, an example
and what to do. Search this page for words of the message, without its names and numbers.

The set of codes is closed: scripts may match codes, while the sentences can improve. Errors refuse a run before its first
request (exit status 2; 5 for \`paused\`, 6 for \`locked\`, 7 for the ledger); warnings do not. \`handbill validate --format json\`
gives them all, each with file, line and column.`;

const SETTING = `## The examples

The example of each page changes one thing in this project:

${Object.entries(HELLO)
  .map(([path, text]) => fileBlock(path, text))
  .join('\n\n')}`;

function codePage(code: Code, example: Example | null, ran: Ran | null): string {
  const { cause, fix } = EXPLAINED[code];
  const shown =
    example === null || ran === null
      ? []
      : [`## Example\n\nIn [this project](../diagnostics.md#the-examples):`, ...exampleBlocks(example, ran)];
  const say = (text: string): string => text.replaceAll(/\]\((?=[A-Za-z./-]+\.md)/g, '](../');
  return page(code, CODES[code], `**Cause:** ${say(cause)}`, `**Fix:** ${say(fix)}`, ...shown);
}

function exampleBlocks(example: Example, { said }: Ran): readonly string[] {
  const { files, first = [], afterwards = {}, run = 'validate hello', laterHours, env = {} } = example;
  const before = first.map((line) => `$ handbill ${line.replace(/^@\d+ /, '')}\n`).join('');
  const variables = Object.entries(env).map(
    ([name, value]) => `${name}=${/^[\w-]+$/.test(value) ? value : `'${value}'`} `,
  );
  const when =
    laterHours === undefined ? '' : `   # ${Math.abs(laterHours)} hours ${laterHours > 0 ? 'later' : 'earlier'}`;
  const changes = Object.entries(afterwards);
  const command = `$ ${variables.join('')}handbill ${run}${when}\n`;
  // What is changed in between stands between the commands.
  if (changes.length === 0 || first.length === 0)
    return [...blocksOf(files), block('console', `${before}${command}${said}`)];
  return [...blocksOf(files), block('console', before), ...blocksOf(afterwards), block('console', `${command}${said}`)];
}

function blocksOf(files: Readonly<Record<string, ExampleFile | null>>): readonly string[] {
  return Object.entries(files).map(([path, file]) => {
    if (file === null) return `Without \`${path}\`.`;
    if (typeof file === 'object' && 'link' in file) return `\`${path}\` as a link to \`${file.link}\`.`;
    return fileBlock(path, typeof file === 'string' ? file : file.shown);
  });
}

function fileBlock(path: string, text: string): string {
  if (text === '') return `\`${path}\` without a line.`;
  return `\`${path}\`:\n\n${block(LANGUAGES[path.split('.').at(-1) ?? ''] ?? 'text', text)}`;
}
