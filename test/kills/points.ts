import { readFileSync } from 'node:fs';
import type { CliOptions, CliResult } from '../helpers/cli.ts';
import { readReceipts } from '../oracle/receipts.ts';
import type { Scene } from '../oracle/scene.ts';
import type { KillsApi } from './api.ts';
import { createKillsScene, type Kind, mostInFlight } from './campaign.ts';
import { badEnd, crashed, receivedOf } from './checks.ts';
import { judgeFinished, SEND, sendUntilFinished } from './finish.ts';
import { inLanes } from './lanes.ts';
import { type Trip, tripEnv } from './trip.ts';

/** What came of a run that was killed at one point. */
export interface PointResult {
  /** Such as `before call 57, exec COMMIT`. */
  readonly point: string;
  /** False when the start ended before it came there. */
  readonly killed: boolean;
  readonly starts: number;
  readonly doubts: number;
  readonly received: number;
  readonly violations: readonly string[];
}

/** How one start is brought to its point. */
export interface PointPlan {
  /** Unique among the scenes of one server. */
  readonly name: string;
  readonly bodies: boolean;
  /** An earlier start, killed too. */
  readonly first?: Partial<CliOptions>;
  /** How the start under test is begun, so that it is killed. */
  readonly more: (scene: Scene) => Partial<CliOptions>;
  /** What the point is called, once the start has ended. */
  readonly pointOf: (scene: Scene) => string;
  readonly kind?: Kind;
}

/** A list so short that its calls can be tried one by one. The third request is answered 429, once. */
export const POINT_ROWS = 6;
export const POINT_CONCURRENCY = 2;
const PROFILE = { latencyMs: 3, faults: 0, busyNumber: 3 };
/** Half of the people cannot receive RCS; of those who share a request some are refused and some are left out. */
const SEVERAL = { ...PROFILE, unsupported: 500, partial: 150 };

/** Starts a run, has it killed at its point, brings it to its end and judges it. */
export async function playPoint(plan: PointPlan, api: KillsApi): Promise<PointResult> {
  const { kind = 'sms' } = plan;
  const address = await api.addressOf(plan.name, kind === 'sms' ? PROFILE : SEVERAL);
  using scene = createKillsScene({ address, rows: POINT_ROWS, concurrency: POINT_CONCURRENCY, timeout: '5s', kind });
  const ends: CliResult[] = [];
  const found: string[] = [];
  if (plan.first !== undefined) ends.push(await scene.send(SEND, plan.first));
  const end = await scene.send(SEND, plan.more(scene));
  ends.push(end);
  const point = plan.pointOf(scene);
  const kills = ends.filter(({ signal }) => signal === 'SIGKILL').length;
  try {
    ends.push(...(await sendUntilFinished(scene)));
    const { bodies } = plan;
    const mostCrashes = kills * mostInFlight(POINT_CONCURRENCY, kind);
    found.push(...(await judgeFinished({ scene, ends, mostCrashes, bodies, steps: kind === 'sms' ? 1 : 2 })));
  } catch (error) {
    found.push(error instanceof Error ? error.message : String(error), ...ends.flatMap((one) => [...badEnd(one)]));
  }
  const doubts = crashed(scene.endings());
  const received = receivedOf(doubts, readReceipts(address.receipts));
  await address.close();
  const killed = end.signal === 'SIGKILL';
  const violations = [...new Set(found)].map((what) => `${point}: ${what}`);
  return { point, killed, starts: ends.length, doubts: doubts.length, received, violations };
}

/** Kill before or after a call, in the first start of a run or in the one after a kill in the middle. */
export type CallSeries = 'before' | 'after' | 'before, when started again';

/** One kill at a call of the portable tripwire; see tripwire.ts for what counts as a call. */
export function callPlan(
  series: CallSeries,
  call: Pick<Trip, 'count' | 'only'>,
  bodies: boolean,
  kind: Kind = 'sms',
): PointPlan {
  const when = series === 'after' ? 'after' : 'before';
  const calls = (scene: Scene): string => scene.path('calls.txt');
  const again = series === 'before, when started again';
  const word = (call.only ?? 'any').replace(/[^a-z]+/gi, '-');
  return {
    name: `${kind}-${again ? 'again' : when}-${word}-${call.count}`,
    // Which recipients share a request is another matter after a kill.
    bodies: bodies && kind !== 'shared',
    kind,
    ...(again ? { first: { env: tripEnv(IN_THE_MIDDLE) } } : {}),
    more: (scene) => ({ env: tripEnv({ ...call, when, list: calls(scene) }) }),
    pointOf: (scene) => `${series} call ${call.count}, ${lastLine(calls(scene))}`,
  };
}

/** Two requests are out, the first was answered. */
const IN_THE_MIDDLE: Partial<Trip> & { readonly count: number } = { only: 'socket send', count: 3, when: 'after' };

/** Tries point after point, two at a time, until a start ends before it comes to its point. */
export async function playPoints(
  planOf: (count: number) => PointPlan,
  api: KillsApi,
  onPoint: (result: PointResult) => void = () => {},
): Promise<readonly PointResult[]> {
  let ended = false;
  function* counts(): Generator<number> {
    for (let count = 1; !ended; count++) yield count;
  }
  return await inLanes(2, counts(), async (count) => {
    const result = await playPoint(planOf(count), api);
    if (!result.killed) ended = true;
    onPoint(result);
    return result;
  });
}

/** Every call of a series, or those whose names hold `only`, one kill each. */
export async function killAtCalls(
  series: CallSeries,
  api: KillsApi,
  onPoint?: (result: PointResult) => void,
  { kind = 'sms', only }: { readonly kind?: Kind; readonly only?: string } = {},
): Promise<readonly PointResult[]> {
  // Bodies are compared at random instants too; here a part is enough.
  return await playPoints(
    (count) => callPlan(series, only === undefined ? { count } : { count, only }, count % 8 === 0, kind),
    api,
    onPoint,
  );
}

function lastLine(file: string): string {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').at(-1) ?? '';
  } catch {
    return 'nothing yet';
  }
}
