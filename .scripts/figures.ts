/**
 * Makes what is shown of the bench from test/bench/figures.json, which `npm run bench -- --json` writes: the tables
 * in docs/internals/measurements.md, and docs/images/bench.svg. `node .scripts/figures.ts` writes them; a test fails
 * while they are stale.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { type Figures, type Kept, readFigures } from '../test/bench/figures.ts';
import { table } from './docs-markdown.ts';
import { drawChart } from './figures-chart.ts';
import { besidePeers, peersTable } from './figures-peers.ts';
import { figureWords, goalWords } from './figures-words.ts';

const ROOT = new URL('..', import.meta.url);
const FIGURES = new URL('test/bench/figures.json', ROOT);

const BEGIN = '<!-- Made by .scripts/figures.ts from test/bench/figures.json: run `npm run figures`. -->';
const END = '<!-- End of what is made. -->';

/** The files as they would be made, by their paths from the root of the project. */
export function makeFigures(figures: Figures): ReadonlyMap<string, string> {
  return new Map([
    ['docs/internals/measurements.md', within('docs/internals/measurements.md', allOf(figures))],
    ['docs/images/bench.svg', drawChart(figures)],
  ]);
}

/** The figures that are committed. */
export function committedFigures(): Figures {
  const figures = readFigures(FIGURES.pathname);
  if (figures === null) throw new Error('There is no test/bench/figures.json.');
  return figures;
}

/** A file with another text between its two marks. */
function within(path: string, made: string): string {
  const text = read(path);
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (from === -1 || to < from) throw new Error(`${path} has no place for figures: ${BEGIN} and ${END}`);
  return `${text.slice(0, from)}${BEGIN}\n\n${made}\n\n${text.slice(to)}`;
}

function allOf({ figures, node, cores }: Figures): string {
  const groups = [...Map.groupBy(figures, ({ measurement }) => measurement)];
  const tables = groups.map(([measurement, own]) =>
    [`### ${measurement}`, peersTable(own), tableOf(besidePeers(own))].filter((part) => part !== null).join('\n\n'),
  );
  return [`Node ${node}, ${cores} cores.`, ...tables].join('\n\n');
}

function tableOf(figures: readonly Kept[]): string {
  const rows = figures.map((figure) => [codeOf(figure.what), figureWords(figure), goalWords(figure)]);
  return table(['what', 'figure', 'goal'], rows);
}

/** Commands and options as code: a figure is named after what is run. */
function codeOf(what: string): string {
  return what.replace(/^((?:validate|preview|send|report|reconcile|listen)(?: --[a-z]+ [a-z]+)?|--help)\b/, '`$1`');
}

function read(path: string): string {
  try {
    return readFileSync(new URL(path, ROOT), 'utf8');
  } catch {
    return '';
  }
}

/** The files among these that are not what would be made. */
export function staleFigures(made: ReadonlyMap<string, string>): readonly string[] {
  return [...made].filter(([path, text]) => read(path) !== text).map(([path]) => path);
}

if (import.meta.main) {
  const made = makeFigures(committedFigures());
  const stale = staleFigures(made);
  for (const path of stale) writeFileSync(new URL(path, ROOT), made.get(path) ?? '');
  process.stdout.write(stale.length === 0 ? 'Everything is up to date.\n' : `Wrote ${stale.join(', ')}.\n`);
}
