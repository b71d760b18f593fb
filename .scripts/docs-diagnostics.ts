/** docs/diagnostics.md: each code with its cause, an example that is run, and what to do. `handbill help CODE` cuts its section out. */
import { CODES, type Code } from '../src/errors.ts';
import { CONTENT } from './docs-diagnostics-content.ts';
import { FILES } from './docs-diagnostics-files.ts';
import { LISTS } from './docs-diagnostics-lists.ts';
import { RUNS } from './docs-diagnostics-runs.ts';
import { type Example, type ExampleFile, type Explained, HELLO, type Ran, runExample } from './docs-example.ts';
import { block, page, table } from './docs-markdown.ts';

/** Every code has an explanation: the compiler says which one has none. */
export const EXPLAINED: Readonly<Record<Code, Explained>> = { ...FILES, ...LISTS, ...CONTENT, ...RUNS };

/** Runs every example, unless it is handed what they came to. */
export async function diagnosticsPage(run: typeof runExample = runExample): Promise<string> {
  const groups: string[] = [];
  for (const { title, codes } of GROUPED) {
    const sections: string[] = [];
    for (const code of codes) {
      const { example } = EXPLAINED[code];
      sections.push(codeSection(code, example, example === null ? null : await run(code, example)));
    }
    groups.push(`## ${title}`, ...sections);
  }
  const contents = GROUPED.map(({ title, codes }) => [title, codes.map((code) => `[${code}](#${code})`).join(', ')]);
  return page('Look up an error or a warning', INTRO, table(['about', 'codes'], contents), SETTING, ...groups);
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

const GROUPED = GROUPS.map(([first, title], index) => {
  const next = GROUPS[index + 1]?.[0];
  const end = next === undefined ? ALL.length : ALL.indexOf(next);
  return { title, codes: ALL.slice(ALL.indexOf(first), end) };
});

const LANGUAGES: Readonly<Record<string, string>> = { yaml: 'yaml', csv: 'csv', hbs: 'handlebars', json: 'json' };

const INTRO = `Every error and warning carries one of these codes. \`handbill help CODE\` shows its section of this page: cause, what to do, and
an example. Or search this page for words of the message, without its names and numbers.

The set of codes is closed: scripts may match codes, while the sentences can improve. Errors refuse a run before its first
request (exit status 2; 5 for \`paused\`, 6 for \`locked\`, 7 for the ledger); warnings do not. \`handbill validate --format json\`
gives them all, each with file, line and column.`;

const SETTING = `## The examples

Each example changes one thing in this project:

${Object.entries(HELLO)
  .map(([path, text]) => fileBlock(path, text))
  .join('\n\n')}`;

function codeSection(code: Code, example: Example | null, ran: Ran | null): string {
  const { cause, fix } = EXPLAINED[code];
  const shown =
    example === null || ran === null
      ? []
      : ['**Example,** in [this project](#the-examples):', ...exampleBlocks(example, ran)];
  return [`### ${code}`, CODES[code], `**Cause:** ${cause}`, `**Fix:** ${fix}`, ...shown].join('\n\n');
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
