import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import pLimit from 'p-limit';
import { MUTANTS } from './catalogue.ts';
import { type Mutant, type Proof, proofName } from './mutant.ts';
import { copyTree, plant } from './plant.ts';
import { prove, typeErrors, type Verdict } from './prove.ts';

/*
 * A harness that cannot fail proves nothing. This plants bugs, one at a time, each in a copy of the project, and runs
 * the proof that must notice it: `npm run hunt:mutants`, or with `-- --only NAME` for some. Exit 1 when one survives,
 * does not fit the sources any more, or has a proof that is red without it.
 */

const ROOT = join(import.meta.dirname, '..', '..');
/** Copies of the project at work at the same time; each is one worker of vitest and what its tests start. */
const AT_A_TIME = 2;

interface Finding {
  readonly mutant: Mutant;
  readonly verdict: Verdict | null;
  /** What speaks against "caught"; null when it was. */
  readonly problem: string | null;
}

/** Failed tests that tell enough; the rest of a table would say the same. */
const ENOUGH = 2;

async function hunt(mutants: readonly Mutant[]): Promise<readonly Finding[]> {
  // One state of the sources for all of it, whatever edits are made meanwhile.
  using base = copyTree(ROOT);
  const limit = pLimit(AT_A_TIME);
  const groups = Map.groupBy(mutants, ({ proof }) => groupOf(proof));
  const findings = [...groups.values()].map(async (group) => {
    const verdict = await limit(control, base.root, group);
    return await Promise.all(group.map((mutant) => limit(judge, base.root, mutant, verdict)));
  });
  const found = new Map((await Promise.all(findings)).flat().map((finding) => [finding.mutant, finding]));
  return mutants.flatMap((mutant) => found.get(mutant) ?? []);
}

/** Proofs in one file are tried together with nothing planted. */
function groupOf({ in: file, full }: Proof): string {
  return `${file}${full === true ? ' (full)' : ''}`;
}

/** Runs the proofs of some mutants, all in one file, with nothing planted. */
async function control(base: string, group: readonly Mutant[]): Promise<Verdict> {
  using tree = copyTree(base);
  const [first] = group.map(({ proof }) => proof);
  if (first === undefined) throw new Error('a group has a mutant');
  const patterns = new Set(group.map(({ proof }) => proof.only));
  const { only: _, ...rest } = first;
  const all = patterns.has(undefined) ? rest : { ...rest, only: [...patterns].join('|') };
  const verdict = await prove(tree.root, all, 0);
  report(first, verdict);
  if (verdict.red.length + verdict.broken.length === 0) return verdict;
  // A machine that is too busy can make it red by itself.
  const again = await prove(tree.root, all, 0);
  report(first, again);
  return again;
}

function report(proof: Proof, { passed, red, broken, seconds }: Verdict): void {
  const problems = [...red.map(({ title, why }) => `${title}: ${why}`), ...broken];
  const said = `control  ${groupOf(proof)}: ${passed.length} passed in ${seconds.toFixed(1)} s`;
  say([said, ...problems].join('\n           '));
}

/** What is wrong with a proof, as its control shows; null when nothing is. */
function faultOf({ only }: Proof, { passed, red, broken }: Verdict): string | null {
  const ours = new RegExp(only ?? '');
  const bad = red.find(({ title }) => ours.test(title));
  if (bad !== undefined) return `its proof is red without it: ${bad.title}: ${bad.why}`;
  if (broken[0] !== undefined) return `its proof is broken without it: ${broken[0]}`;
  return passed.some((title) => ours.test(title)) ? null : 'its proof has no tests';
}

async function judge(base: string, mutant: Mutant, controlled: Verdict): Promise<Finding> {
  const fault = faultOf(mutant.proof, controlled);
  const finding = fault === null ? await tryOne(base, mutant) : { mutant, verdict: null, problem: fault };
  say(`${finding.problem === null ? 'caught  ' : 'SURVIVED'} ${mutant.name}${details(finding)}`);
  return finding;
}

async function tryOne(base: string, mutant: Mutant): Promise<Finding> {
  using tree = copyTree(base);
  try {
    plant(tree.root, mutant);
  } catch (error) {
    return { mutant, verdict: null, problem: error instanceof Error ? error.message : String(error) };
  }
  // A bug that does not compile would be noticed by anything.
  const types = await typeErrors(tree.root);
  if (types !== '') return { mutant, verdict: null, problem: `it does not compile: ${types}` };
  const verdict = await prove(tree.root, mutant.proof, ENOUGH);
  if (verdict.red.length > 0) return { mutant, verdict, problem: null };
  return { mutant, verdict, problem: verdict.broken[0] ?? `${verdict.passed.length} tests passed all the same` };
}

function details({ problem, verdict }: Finding): string {
  if (problem !== null) return `: ${problem}`;
  return (verdict?.red ?? []).map(({ title, why }) => `\n           ${title}\n             ${why}`).join('');
}

/** One line for each mutant, for people and for a table in Markdown. */
function table(findings: readonly Finding[]): string {
  const rows = findings.map(({ mutant, verdict, problem }) => [
    mutant.name,
    mutant.planted,
    proofName(mutant.proof),
    problem === null
      ? (verdict?.red ?? [])
          .slice(0, 2)
          .map(({ title }) => title)
          .join('; ')
      : `SURVIVED: ${firstLine(problem)}`,
    verdict === null ? '-' : verdict.seconds.toFixed(1),
  ]);
  const head = ['mutant', 'what is planted', 'proof', 'caught by', 'seconds'];
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`).join('');
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function chosen(names: readonly string[]): readonly Mutant[] {
  const unknown = names.filter((name) => !MUTANTS.some((mutant) => mutant.name === name));
  if (unknown.length > 0) {
    say(`There is no mutant ${unknown.join(', ')}. There are:\n${MUTANTS.map(({ name }) => `  ${name}\n`).join('')}`);
    process.exit(2);
  }
  return names.length === 0 ? MUTANTS : MUTANTS.filter(({ name }) => names.includes(name));
}

for (const [signal, status] of [['SIGINT', 130] as const, ['SIGTERM', 143] as const]) {
  process.once(signal, () => process.exit(status));
}
const { values } = parseArgs({ options: { only: { type: 'string', multiple: true, default: [] } } });
const began = performance.now();
const findings = await hunt(chosen(values.only));
const survived = findings.filter(({ problem }) => problem !== null).length;
process.stdout.write(table(findings));
process.stdout.write(
  `\n${findings.length} planted, ${findings.length - survived} caught, ${survived} survived, in ${Math.round((performance.now() - began) / 1000)} s\n`,
);
process.exitCode = survived === 0 ? 0 : 1;
