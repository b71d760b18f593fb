import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Bench, inTurn, median } from './bench.ts';
import { measure } from './measure.ts';

const REPEATS = 10;

/** What it takes until the first word is said. */
export async function measureHelp(bench: Bench): Promise<void> {
  const script = join(bench.folder, 'empty.mjs');
  writeFileSync(script, '');
  const { empty, help } = await inTurn(REPEATS, {
    empty: () => measure(script, [], { cwd: bench.folder }),
    help: () => bench.handbill(['--help']),
  });
  const [helpMs, emptyMs] = [median(help.map((of) => of.wallMs)), median(empty.map((of) => of.wallMs))];
  const [helpUs, emptyUs] = [median(help.map((of) => of.cpuUs)), median(empty.map((of) => of.cpuUs))];
  const against = '--help against an empty script';
  const goal = { atMost: 2 };
  bench.add({ id: 'help-ms', what: '--help, on the clock', value: helpMs, unit: 'ms' });
  bench.add({ id: 'empty-ms', what: 'empty script, on the clock', value: emptyMs, unit: 'ms' });
  bench.add({
    id: 'help-against-empty',
    what: `${against}, on the clock`,
    value: helpMs / emptyMs,
    unit: 'times',
    goal,
  });
  bench.add({ id: 'help-against-empty-cpu', what: `${against}, CPU`, value: helpUs / emptyUs, unit: 'times', goal });
}
