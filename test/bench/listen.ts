import type { Bench } from './bench.ts';
import { loadListen } from './listen-load.ts';

const EVENTS = 20_000;
const EVENTS_PER_SECOND = 2_000;
const SILENT = 200;

/**
 * Events one by one, each on the disk before its answer: at a steady pace with a crowd that holds connections open, then
 * as fast as it goes.
 */
export async function measureListen(bench: Bench): Promise<void> {
  const steady = await loadListen(bench.folder, { events: EVENTS, perSecond: EVENTS_PER_SECOND, silent: SILENT });
  const what = `listen, ${EVENTS_PER_SECOND} events/s beside ${SILENT} silent connections`;
  bench.add({
    id: 'listen-steady-rate',
    what: `${what}, on the clock`,
    value: steady.perSecond,
    unit: 'events/s',
  });
  bench.add({
    id: 'listen-steady-cpu',
    what,
    value: steady.cpuUs / EVENTS,
    unit: 'us CPU per event',
    // A core has a million microseconds a second.
    goal: { atMost: 1e6 / EVENTS_PER_SECOND },
  });
  bench.add({ id: 'listen-steady-p99', what: `${what}, 99% answered within`, value: steady.p99Ms, unit: 'ms' });
  bench.add({
    id: 'listen-steady-peak',
    what: `${what}, peak memory`,
    value: steady.peakBytes / 1e6,
    unit: 'MB',
    goal: { atMost: 200 },
  });
  const fast = await loadListen(bench.folder, { events: EVENTS, perSecond: null, silent: 0 });
  const flatOut = 'listen, as fast as it goes';
  bench.add({ id: 'listen-rate', what: `${flatOut}, on the clock`, value: fast.perSecond, unit: 'events/s' });
  bench.add({ id: 'listen-cpu', what: flatOut, value: fast.cpuUs / EVENTS, unit: 'us CPU per event' });
}
