import { arrivalsAt, mostWithin, rateBetween, startArrivals } from './arrivals.ts';
import type { Bench } from './bench.ts';
import { writeCampaign, writeProject } from './project.ts';

const PER_SECOND = 1_000;

/** How well `send.rate` is kept, from the first request to the last, as the server sees it. */
export async function measureRate(bench: Bench): Promise<void> {
  const messages = PER_SECOND * bench.seconds;
  const server = await startArrivals(bench.folder, 0);
  try {
    await writeProject(bench.folder, server.url);
    const campaign = await writeCampaign(bench.folder, messages, `concurrency: 64, rate: ${PER_SECOND}/s`);
    await bench.handbill(['send', campaign, '--env', 'local', '--yes']);
    const arrivals = await arrivalsAt(server.url);
    if (arrivals.length !== messages) throw new Error(`${arrivals.length} of ${messages} arrived.`);
    const reached = rateBetween(arrivals, 0, messages - 1);
    const what = `rate: ${PER_SECOND}/s over ${bench.seconds} s`;
    bench.add({ id: 'rate-reached', what: `${what}, reached`, value: reached, unit: 'messages/s' });
    bench.add({
      id: 'rate-deviation',
      what: `${what}, difference`,
      value: (Math.abs(reached - PER_SECOND) / PER_SECOND) * 100,
      unit: '%',
      goal: { atMost: 1 },
    });
    bench.add({
      id: 'rate-burst',
      what: `${what}, most in any second`,
      value: mostWithin(arrivals, 1_000),
      unit: 'messages',
      goal: { atMost: PER_SECOND * 1.05 },
    });
  } finally {
    server.process.kill('SIGTERM');
  }
}
