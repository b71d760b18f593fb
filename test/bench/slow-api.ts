import { arrivalsAt, rateBetween, startArrivals } from './arrivals.ts';
import type { Bench } from './bench.ts';
import { writeCampaign, writeProject } from './project.ts';

const ANSWER_MS = 200;
const CONCURRENCY = 256;
const MESSAGES = 20_000;
/**
 * Left out at either end: a start has one request in flight until the first is accepted, and doubles them with every
 * round trip up to its concurrency; at the end there is nothing left to put in the place of what was answered.
 */
const EDGE = 0.1;

/** Whether an API that is slow to answer is kept as busy as the campaign allows. */
export async function measureSlowApi(bench: Bench): Promise<void> {
  const server = await startArrivals(bench.folder, ANSWER_MS);
  try {
    await writeProject(bench.folder, server.url);
    const campaign = await writeCampaign(bench.folder, MESSAGES, `concurrency: ${CONCURRENCY}`);
    await bench.handbill(['send', campaign, '--env', 'local', '--yes']);
    const arrivals = await arrivalsAt(server.url);
    if (arrivals.length !== MESSAGES) throw new Error(`${arrivals.length} of ${MESSAGES} arrived.`);
    const steady = rateBetween(arrivals, MESSAGES * EDGE, MESSAGES * (1 - EDGE));
    const most = CONCURRENCY / (ANSWER_MS / 1000);
    const what = `API that answers after ${ANSWER_MS} ms, concurrency ${CONCURRENCY}`;
    const whole = rateBetween(arrivals, 0, MESSAGES - 1);
    bench.add({ id: 'slow-api-rate', what: `${what}, steady`, value: steady, unit: 'messages/s' });
    bench.add({
      id: 'slow-api-share',
      what: `${what}, steady, of what is possible`,
      value: (steady / most) * 100,
      unit: '%',
      goal: { atLeast: 95 },
    });
    const all = { id: 'slow-api-share-all', what: `${what}, start and end included, of what is possible` };
    bench.add({ ...all, value: (whole / most) * 100, unit: '%' });
  } finally {
    server.process.kill('SIGTERM');
  }
}
