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
  /** What stands against "caught"; null when it was. */
  readonly problem: string | null;
}

async function hunt(mutants: readonly Mutant[]): Promise<readonly Finding[]> {
  // One state of the sources for all of it, whoever edits them meanwhile.
  using base = copyTree(ROOT);
  const limit = pLimit(AT_A_TIME);
  const proofs = new Map(mutants.map(({ proof }) => [proofName(proof), proof]));
  const controls = new Map(
    [...proofs].map(([name, proof]) => [name, limit(() => control(base.root, name, proof))] as const),
  );
  return await Promise.all(
    mutants.map((mutant) =>
      limit(async () => {
        const unfit = await controls.get(proofName(mutant.proof));
        const finding = unfit == null ? await tryOne(base.root, mutant) : { mutant, verdict: null, problem: unfit };
        say(`${finding.problem === null ? 'caught  ' : 'SURVIVED'} ${mutant.name}${details(finding)}`);
        return finding;
      }),
    ),
  );
}

/** Runs a proof with nothing planted; what is wrong with it, or null. */
async function control(base: string, name: string, proof: Proof): Promise<string | null> {
  using tree = copyTree(base);
  const { passed, red, broken, seconds } = await prove(tree.root, proof);
  const first = red[0] === undefined ? broken[0] : `${red[0].title}: ${red[0].why}`;
  say(`control  ${name}: ${passed} passed in ${seconds.toFixed(1)} s${first === undefined ? '' : `, ${first}`}`);
  if (first !== undefined) return `its proof is red without it: ${first}`;
  return passed > 0 ? null : 'its proof has no tests';
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
  const verdict = await prove(tree.root, mutant.proof);
  if (verdict.red.length > 0) return { mutant, verdict, problem: null };
  return { mutant, verdict, problem: verdict.broken[0] ?? `${verdict.passed} tests passed all the same` };
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
