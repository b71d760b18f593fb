import type { WorkerShown } from '../send/list-workers.ts';

interface WorkerFigures extends Omit<WorkerShown, 'id' | 'joinedAt' | 'heardAt' | 'run' | 'shards'> {
  readonly shards: number;
}

export const WORKER_METRICS = {
  handbill_worker_alive: 'Whether the worker was heard of within its lease.',
  handbill_worker_silent_seconds: 'How long ago the worker was heard of last.',
  handbill_worker_shards: 'Shards that the worker has.',
  handbill_worker_rows: 'Rows of these shards.',
  handbill_worker_requests: 'Requests that the worker made in the run that it works on.',
} as const;

/** For Prometheus: all are gauges, labelled by host and process. */
export async function workersText(workers: readonly WorkerFigures[]): Promise<string> {
  const { Gauge, Registry } = await import('prom-client');
  const registry = new Registry();
  const figureOf: Readonly<Record<keyof typeof WORKER_METRICS, (one: WorkerFigures) => number>> = {
    handbill_worker_alive: ({ alive }) => (alive ? 1 : 0),
    handbill_worker_silent_seconds: ({ silentSeconds }) => silentSeconds,
    handbill_worker_shards: ({ shards }) => shards,
    handbill_worker_rows: ({ rows }) => rows,
    handbill_worker_requests: ({ posted }) => posted,
  };
  for (const [name, help] of Object.entries(WORKER_METRICS)) {
    const gauge = new Gauge({ name, help, labelNames: ['host', 'pid'], registers: [registry] });
    for (const one of workers) {
      gauge.set({ host: one.host, pid: String(one.pid) }, figureOf[name as keyof typeof WORKER_METRICS](one));
    }
  }
  return await registry.metrics();
}
