/**
 * Makes docs/session.svg, the picture in the README: runs the commands below in a copy of campaigns/ and draws what they
 * print as a terminal. Nothing is drawn that was not printed. `node .scripts/picture.ts` writes it.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, cpSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import process from 'node:process';

const root = join(import.meta.dirname, '..');
const built = join(root, 'dist', 'cli.js');
const cli = existsSync(built) ? built : join(root, 'src', 'cli.ts');

const SHOWN_FOLDER = '~/riverside';
const COMMANDS = [
  ['validate', 'campaigns/notification'],
  ['preview', 'campaigns/notification', '--limit', '2'],
  ['send', 'campaigns/notification'],
];

/** Sizes in pixels. A monospace letter is about 0.6 of its size wide; `textLength` makes it exactly that anywhere. */
const CELL = 8.4;
const LINE = 20;
const MARGIN = 20;
const BAR = 36;
const COLUMNS = 120;
const FONT = 'ui-monospace, SFMono-Regular, Menlo, Consolas, &quot;DejaVu Sans Mono&quot;, monospace';

type Tone = 'command' | 'plain' | 'dim' | 'good' | 'warning' | 'bad';

const COLOURS: Readonly<Record<Tone, string>> = {
  command: '#7ee2b8',
  plain: '#dfe4ea',
  dim: '#8d99a6',
  good: '#8fd18f',
  warning: '#e8c06a',
  bad: '#ef8a80',
};

interface Line {
  readonly text: string;
  readonly tone: Tone;
}

writeFileSync(join(root, 'docs', 'session.svg'), draw(runSession()));

/** Runs the commands one after another, as somebody would who stands in the folder above campaigns/. */
function runSession(): readonly Line[] {
  const folder = mkdtempSync(join(tmpdir(), 'handbill-picture-'));
  try {
    const campaigns = join(folder, 'campaigns');
    cpSync(join(root, 'campaigns'), campaigns, {
      recursive: true,
      filter: (source) => basename(source) !== '.handbill',
    });
    return COMMANDS.flatMap((args, index) => [
      ...(index === 0 ? [] : [{ text: '', tone: 'plain' } as const]),
      { text: `$ handbill ${args.join(' ')}`, tone: 'command' },
      ...linesOf(run(args, folder).replaceAll(folder, SHOWN_FOLDER)),
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Both outputs go to one file, so that they stand in the order in which they were written. */
function run(args: readonly string[], folder: string): string {
  const path = join(folder, 'output.txt');
  const output = openSync(path, 'w');
  const { HANDBILL_LEDGER: _ledger, ...env } = process.env;
  const done = spawnSync(process.execPath, [cli, ...args], { cwd: folder, env, stdio: ['ignore', output, output] });
  closeSync(output);
  const text = readFileSync(path, 'utf8');
  if (done.status !== 0) throw new Error(`handbill ${args.join(' ')} ended with ${done.status}:\n${text}`);
  return text;
}

function linesOf(output: string): readonly Line[] {
  return output
    .trimEnd()
    .split('\n')
    .flatMap((line) => fold(line))
    .map((text) => ({ text, tone: toneOf(text) }));
}

/** Breaks a line where a terminal of this width would: it knows no words. */
function fold(line: string): readonly string[] {
  const parts: string[] = [];
  let part = '';
  for (const letter of line) {
    if (widthOf(part) + widthOf(letter) > COLUMNS) {
      parts.push(part);
      part = '';
    }
    part += letter;
  }
  return [...parts, part];
}

function toneOf(text: string): Tone {
  if (text.startsWith('warning[') || /^ +! /.test(text)) return 'warning';
  if (text.startsWith('error[')) return 'bad';
  if (/: ok$|^ {2}accepted /.test(text)) return 'good';
  return /^ {2}\S+ +0 |^ +campaigns\/|^…|^Ledger/.test(text) ? 'dim' : 'plain';
}

function draw(lines: readonly Line[]): string {
  const width = Math.ceil(COLUMNS * CELL + 2 * MARGIN);
  const height = BAR + lines.length * LINE + MARGIN;
  const buttons = ['#ec6a5e', '#f4bf4f', '#61c554'].map(
    (fill, index) => `<circle cx="${22 + index * 20}" cy="18" r="6" fill="${fill}"/>`,
  );
  const title = `<text x="${width / 2}" y="23" text-anchor="middle" fill="${COLOURS.dim}">${SHOWN_FOLDER}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A terminal session: a campaign is validated, previewed and sent">
<rect width="${width}" height="${height}" rx="10" fill="#161b22"/>
<g font-family="${FONT}" font-size="14" xml:space="preserve">
${buttons.join('')}${title}
${lines.flatMap(({ text, tone }, index) => drawLine(text, tone, BAR + (index + 1) * LINE)).join('\n')}
</g>
</svg>
`;
}

/** Each run of letters of one kind is placed at its column, so that a font without a letter cannot shift the rest. */
function drawLine(text: string, tone: Tone, y: number): readonly string[] {
  const drawn: string[] = [];
  for (const match of text.matchAll(/\S+(?: \S+)*/g)) {
    const column = widthOf(text.slice(0, match.index));
    const x = (MARGIN + column * CELL).toFixed(1);
    const length = (widthOf(match[0]) * CELL).toFixed(1);
    const attributes = `x="${x}" y="${y}" fill="${COLOURS[tone]}" textLength="${length}" lengthAdjust="spacingAndGlyphs"`;
    drawn.push(`<text ${attributes}>${escapeXml(match[0])}</text>`);
  }
  return drawn;
}

/** Columns in a terminal: none for a mark that combines, two for East Asian letters and pictures. */
function widthOf(text: string): number {
  let columns = 0;
  for (const letter of text) {
    if (/\p{Mn}|\p{Me}|\p{Cf}/u.test(letter)) continue;
    const wide = /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Emoji_Presentation}/u;
    columns += wide.test(letter) ? 2 : 1;
  }
  return columns;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
