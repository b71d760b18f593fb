/** docs/diagnostics.md: each code with its cause, an example that is run, and what to do. */
import { CODES, type Code } from '../src/errors.ts';
import { CONTENT } from './docs-diagnostics-content.ts';
import { FILES } from './docs-diagnostics-files.ts';
import { LISTS } from './docs-diagnostics-lists.ts';
import { RUNS } from './docs-diagnostics-runs.ts';
import { type Example, type ExampleFile, type Explained, HELLO, type Ran, runExample } from './docs-example.ts';
import { block, page, table } from './docs-markdown.ts';

/** Every code has an explanation: the compiler says which one has none. */
export const EXPLAINED: Readonly<Record<Code, Explained>> = { ...FILES, ...LISTS, ...CONTENT, ...RUNS };

/** docs/diagnostics.md. Runs every example, unless it is handed what they came to. */
export async function diagnosticsPage(run: typeof runExample = runExample): Promise<string> {
  const codes = Object.keys(CODES) as readonly Code[];
  const sections: string[] = [];
  for (const code of codes) {
    const { example } = EXPLAINED[code];
    sections.push(sectionOf(code, example, example === null ? null : await run(code, example)));
  }
  const index = table(
    ['code', 'meaning'],
    codes.map((code) => [`[\`${code}\`](#${code})`, CODES[code]]),
  );
  return page('Diagnostics', INTRO, index, SETTING, ...sections);
}

const LANGUAGES: Readonly<Record<string, string>> = { yaml: 'yaml', csv: 'csv', hbs: 'handlebars', json: 'json' };

const INTRO = `Whatever handbill says about a file, a row or a run carries one of these codes. The set is closed: scripts may match
codes, while the sentences can improve. Errors refuse a run before its first request (exit status 2; 6 for \`locked\`, 7
for the ledger); warnings do not. \`handbill validate --format json\` gives them all, each with file, line and column.`;

const SETTING = `## The examples

Each example changes one thing in this project, and shows what handbill then says about it:

${Object.entries(HELLO)
  .map(([path, text]) => fileBlock(path, text))
  .join('\n\n')}`;

function sectionOf(code: Code, example: Example | null, ran: Ran | null): string {
  const { cause, fix } = EXPLAINED[code];
  const shown = example === null || ran === null ? [] : exampleBlocks(example, ran);
  return [`## \`${code}\``, CODES[code], `**Cause:** ${cause}`, ...shown, `**Fix:** ${fix}`].join('\n\n');
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
