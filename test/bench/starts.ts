import { writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Bench, forgetRuns, inTurn, median } from './bench.ts';
import { measure } from './measure.ts';
import { writeCampaign, writeProject } from './project.ts';
import { createSilentApi, halfSend, type SilentApi, timeToFirstRequest } from './starts-run.ts';

const SHORT_REPEATS = 15;
const LONG_REPEATS = 3;

/** Recipients of a small campaign. */
const FEW = 20;

/** How long commands take until they do what they are started for. */
export async function measureStarts(bench: Bench): Promise<void> {
  await measureSmall(bench);
  await using api = await createSilentApi();
  await writeProject(bench.folder, api.url);
  const campaign = await writeCampaign(bench.folder, bench.sizes.rows);
  const first = await timesToFirst(bench, api, campaign, () => forgetRuns(bench.folder));
  const what = `${bench.sizes.rows.toLocaleString('en-GB')} recipients`;
  bench.add({
    id: 'first-request-1m',
    what: `send to ${what}, first request`,
    value: median(first),
    unit: 's',
    goal: { atMost: 10 },
  });
  // The last start left a run of which one request is in doubt.
  const half = Math.floor(bench.sizes.rows / 2);
  halfSend(bench.folder, campaign, half);
  // Each start is killed over its first request, so that the next one has one recipient less to send to.
  const again = await timesToFirst(bench, api, campaign, () => undefined);
  bench.add({
    id: 'resume-first-request-1m',
    what: `the same, killed after ${half.toLocaleString('en-GB')}: first new request`,
    value: median(again),
    unit: 's',
    goal: { atMost: 3 },
  });
}

async function measureSmall(bench: Bench): Promise<void> {
  const folder = join(bench.folder, 'small');
  await mkdir(folder);
  await writeProject(folder, 'http://127.0.0.1:9');
  const campaign = await writeCampaign(folder, FEW);
  const script = join(folder, 'empty.mjs');
  writeFileSync(script, '');
  const { empty, validate } = await inTurn(SHORT_REPEATS, {
    empty: () => measure(script, [], { cwd: folder }),
    validate: () => bench.handbill(['validate', campaign], { cwd: folder }),
  });
  const [validateMs, emptyMs] = [median(validate.map((of) => of.wallMs)), median(empty.map((of) => of.wallMs))];
  const what = `validate, ${FEW} recipients`;
  bench.add({ id: 'validate-small-ms', what: `${what}, on the clock`, value: validateMs, unit: 'ms' });
  bench.add({
    id: 'validate-small-against-empty',
    what: `${what}, against an empty script, on the clock`,
    value: validateMs / emptyMs,
    unit: 'times',
    goal: { atMost: 5 },
  });
}

async function timesToFirst(
  bench: Bench,
  api: SilentApi,
  campaign: string,
  prepare: () => void,
): Promise<readonly number[]> {
  const seconds: number[] = [];
  for (let n = 0; n < LONG_REPEATS; n += 1) {
    prepare();
    seconds.push((await timeToFirstRequest(bench.folder, api, campaign)) / 1000);
  }
  return seconds;
}
