import type { WorkerShown } from '../send/list-workers.ts';
import { gaugesText } from './gauges.ts';

/** For Prometheus: labelled by host and process. */
export async function workersText(
  workers: readonly (Omit<WorkerShown, 'id' | 'joinedAt' | 'heardAt' | 'run' | 'shards'> & {
    readonly shards: number;
  })[],
): Promise<string> {
  const samples = workers.flatMap(({ host, pid, alive, silentSeconds, shards, rows, posted }) => {
    const labels = { host, pid: String(pid) };
    return [
      ['handbill_worker_alive', alive ? 1 : 0, labels],
      ['handbill_worker_silent_seconds', silentSeconds, labels],
      ['handbill_worker_shards', shards, labels],
      ['handbill_worker_rows', rows, labels],
      ['handbill_worker_requests', posted, labels],
    ] as const;
  });
  return await gaugesText('workers', samples);
}
