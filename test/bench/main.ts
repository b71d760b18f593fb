/**
 * `npm run bench`: what handbill costs, measured on real processes. Sizes: `--rows` (validate, preview) and
 * `--messages` (send), or HANDBILL_BENCH_ROWS and HANDBILL_BENCH_MESSAGES. `--only` names some of the measurements,
 * `--json FILE` keeps the figures, `--cpu-prof FOLDER` takes a profile of `send`.
 *
 * CPU time is the sturdy figure: client and server share the cores, so that time on the clock says little.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { type Call, CLI, measure, startSandbox, type Usage } from './measure.ts';
import { writeCampaign, writeProject } from './project.ts';
import { RULES_AT_MS, SUPPRESSION_KEY, writeRules } from './rules.ts';

const KEY = 'bench';
const HELP_REPEATS = 10;
const NAMES = ['validate', 'preview', 'rules', 'send', 'help'] as const;
type Name = (typeof NAMES)[number];

/** One line of the table. `mark` is what the figure has to stay below, where there is such a mark. */
interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly mark?: number;
}

const { values: given } = parseArgs({
  options: {
    rows: { type: 'string', default: process.env['HANDBILL_BENCH_ROWS'] ?? '1000000' },
    messages: { type: 'string', default: process.env['HANDBILL_BENCH_MESSAGES'] ?? '100000' },
    only: { type: 'string', default: NAMES.join(',') },
    json: { type: 'string' },
    'cpu-prof': { type: 'string' },
  },
});
const rows = wholeNumber(given.rows);
const messages = wholeNumber(given.messages);
const wanted = new Set(given.only.split(','));

const folder = mkdtempSync(join(tmpdir(), 'handbill-bench-'));
const figures: Figure[] = [];
try {
  await measureAll();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write(tableOf(figures));
if (given.json !== undefined) writeFileSync(given.json, jsonOf(figures));

async function measureAll(): Promise<void> {
  const sandbox = await startSandbox(folder, KEY);
  try {
    await writeProject(folder, sandbox.url);
    if (wants('validate') || wants('preview') || wants('rules')) {
      const large = await writeCampaign(folder, rows);
      if (wants('validate')) perRow('validate', rows, 'row', await handbill(['validate', large]));
      if (wants('preview')) {
        perRow('preview --format jsonl', rows, 'row', await handbill(['preview', large, '--format', 'jsonl']));
      }
      if (wants('rules')) await measureRules(large);
    }
    if (wants('send')) await measureSend(sandbox.url);
  } finally {
    sandbox.process.kill('SIGTERM');
  }
  if (wants('help')) await measureHelp();
}

/** The same list with and without every rule, in turn; twice, because whatever else the machine does meets one of them. */
async function measureRules(plain: string): Promise<void> {
  const ruled = await writeRules(folder, plain, rows);
  const preview = (name: string): Promise<Usage> =>
    handbill(['preview', name, '--env', 'local', '--format', 'jsonl', '--at', new Date(RULES_AT_MS).toISOString()]);
  const [without, all] = [[await preview(plain)], [await preview(ruled)]];
  without.push(await preview(plain));
  all.push(await preview(ruled));
  const least = (usages: readonly Usage[]): number => Math.min(...usages.map(({ cpuUs }) => cpuUs));
  perRow('preview with every rule', rows, 'row', all[0] as Usage);
  add({
    what: 'every rule, above the same list without',
    value: (least(all) - least(without)) / rows,
    unit: 'us CPU per row',
    mark: 6,
  });
}

/** `send` and the bare loop, in turn against the same server. The first loop warms the server and is not counted. */
async function measureSend(url: string): Promise<void> {
  const campaign = await writeCampaign(folder, messages);
  await bareLoop(url);
  const profile = given['cpu-prof'];
  const nodeOptions = profile === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', resolve(profile)];
  const sent = await handbill(['send', campaign, '--env', 'local', '--yes'], nodeOptions);
  const bare = await bareLoop(url);
  perRow('send', messages, 'message', sent);
  perRow('bare undici loop', messages, 'message', bare, null);
  add({ what: 'send against the bare loop', value: sent.cpuUs / bare.cpuUs, unit: 'times', mark: 2.2 });
  add({ what: 'send, on the clock', value: (messages / sent.wallMs) * 1000, unit: 'messages/s' });
  add({ what: 'bare undici loop, on the clock', value: (messages / bare.wallMs) * 1000, unit: 'messages/s' });
}

/** Starts taken in turn, so that whatever else the machine does meets both. */
async function measureHelp(): Promise<void> {
  const empty = join(folder, 'empty.mjs');
  writeFileSync(empty, '');
  const help: Usage[] = [];
  const nothing: Usage[] = [];
  for (let n = 0; n < HELP_REPEATS; n += 1) {
    nothing.push(await measure(empty, [], call()));
    help.push(await handbill(['--help']));
  }
  const [helpMs, emptyMs] = [median(help.map((of) => of.wallMs)), median(nothing.map((of) => of.wallMs))];
  const [helpUs, emptyUs] = [median(help.map((of) => of.cpuUs)), median(nothing.map((of) => of.cpuUs))];
  add({ what: '--help, on the clock', value: helpMs, unit: 'ms' });
  add({ what: 'empty script, on the clock', value: emptyMs, unit: 'ms' });
  add({ what: '--help against an empty script, on the clock', value: helpMs / emptyMs, unit: 'times', mark: 2.5 });
  add({ what: '--help against an empty script, CPU', value: helpUs / emptyUs, unit: 'times' });
}

function handbill(args: readonly string[], nodeOptions: readonly string[] = []): Promise<Usage> {
  return measure(CLI, args, { ...call(), nodeOptions });
}

function bareLoop(url: string): Promise<Usage> {
  return measure(join(import.meta.dirname, 'bare-loop.ts'), [url, String(messages)], call());
}

function call(): Call {
  return { cwd: folder, env: { HANDBILL_API_KEY: KEY, HANDBILL_SUPPRESSION_KEY: SUPPRESSION_KEY } };
}

function perRow(what: string, count: number, unit: string, usage: Usage, mark: number | null = 200): void {
  const peak = { what: `${what}, peak memory`, value: usage.peakBytes / 1e6, unit: 'MB' };
  add({ what: `${what}, ${count} ${unit}s`, value: usage.cpuUs / count, unit: `us CPU per ${unit}` });
  add(mark === null ? peak : { ...peak, mark });
}

function add(figure: Figure): void {
  figures.push(figure);
  process.stderr.write(`${figure.what}: ${figure.value.toFixed(2)} ${figure.unit}\n`);
}

function tableOf(all: readonly Figure[]): string {
  const width = Math.max(...all.map((figure) => figure.what.length));
  const lines = all.map(({ what, value, unit, mark }) => {
    const verdict = mark === undefined ? '' : value <= mark ? `  (mark ${mark}: reached)` : `  (mark ${mark}: MISSED)`;
    return `${what.padEnd(width)}  ${value.toFixed(2).padStart(10)} ${unit}${verdict}`;
  });
  return `\nNode ${process.versions.node}, ${cpus().length} cores\n\n${lines.join('\n')}\n`;
}

function jsonOf(all: readonly Figure[]): string {
  return `${JSON.stringify({ node: process.versions.node, cores: cpus().length, rows, messages, figures: all }, null, 2)}\n`;
}

function wants(name: Name): boolean {
  return wanted.has(name);
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2;
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`Not a number of rows: ${text}`);
  return value;
}
