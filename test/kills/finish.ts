import type { CliResult } from '../helpers/cli.ts';
import { FORMS } from '../oracle/forms.ts';
import type { Scene } from '../oracle/scene.ts';
import { badEnd, damage, keysOnDisk, previewedBodies } from './checks.ts';

export const SEND = ['--format', 'json'];

/** Starts a run again until it is finished; throws when it never is. Returns how each start ended. */
export async function sendUntilFinished(scene: Scene): Promise<CliResult[]> {
  const ends: CliResult[] = [];
  for (;;) {
    const end = await scene.goOn(SEND);
    ends.push(end);
    if (hasFinished(end)) return ends;
    if (ends.length >= MOST_STARTS || [...badEnd(end)].length > 0) {
      throw new Error(`not finished after ${ends.length} more starts; the last: ${end.status} ${end.stderr}`);
    }
  }
}

/** A stop rule ends a start after a few doubts in a row; a list full of faults needs some starts. */
const MOST_STARTS = 20;

export function hasFinished({ signal, stdout }: CliResult): boolean {
  return signal === null && stdout.startsWith('{') && (JSON.parse(stdout) as SendJson).state === 'finished';
}

interface SendJson {
  readonly state: string;
  readonly startedAt: string;
}

export interface Finished {
  readonly scene: Scene;
  /** How each start ended, in order; the last one finished the run. */
  readonly ends: readonly CliResult[];
  /** How many rows may be in doubt because of kills. */
  readonly mostCrashes: number;
  /** Compare every body with its preview; costs one more process. */
  readonly bodies: boolean;
  /** Steps of the campaign. */
  readonly steps?: number;
}

/** Everything that is said against a run that was killed and has been brought to its end. */
export async function judgeFinished({ scene, ends, mostCrashes, bodies, steps = 1 }: Finished): Promise<string[]> {
  const last = ends.at(-1);
  if (last === undefined) throw new Error('no start');
  const { startedAt } = JSON.parse(last.stdout) as SendJson;
  const { timeless } = FORMS[scene.form];
  const receipts = scene.evidence().receipts.map((one) => ({ ...one, text: timeless(one.text) }));
  const previewed = bodies ? { previewed: await previewedBodies(scene, startedAt), receipts } : {};
  return [
    ...scene.violations({ mostCrashes, steps, ...previewed }),
    ...ends.flatMap((end) => [...badEnd(end)]),
    ...damage(scene.ledger),
    ...keysOnDisk(scene),
  ];
}
