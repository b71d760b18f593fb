import type { WorkerShown } from '../../run/list-workers.ts';
import { checkNumbers, type ProjectOptions, present, settle } from '../options.ts';

export type { WorkerShown };

/** How a worker works. */
export interface WorkerOptions extends ProjectOptions {
  /** Only runs of this environment of handbill.yaml. Default: `sandbox`. */
  readonly environment?: string;
  /** Requests in flight at most, 1 to 1024. Default: as the environment, then the campaign says (16). */
  readonly concurrency?: number;
  /** Ends when there was nothing to do for so long, in ms. Default: it stays. */
  readonly idleMs?: number;
  /** Ends it in good order: requests in flight are awaited and recorded, the rest goes to others. Default: nothing does. */
  readonly signal?: AbortSignal;
  /** Cuts off what is in flight too: recipients of those requests are in doubt. Default: no signal. */
  readonly cutSignal?: AbortSignal;
  /** Called with a line for what it begins and ends, and for what goes wrong; it holds no address, text or secret. */
  readonly log?: (line: string) => void;
}

/**
 * `handbill worker`: works on the runs that others share (`send` with `workers`) through a shared ledger. Resolves when
 * it is stopped, or had nothing to do for `idleMs`; while the ledger cannot be reached, it waits.
 *
 * @throws HandbillError exit 2 (the ledger is a file, a project file that is wrong), 7 (a ledger that waiting cannot
 * mend)
 */
export async function runWorker(options: WorkerOptions = {}): Promise<void> {
  checkNumbers(options, { concurrency: [1, 1024, 'whole'], idleMs: [0, Number.MAX_SAFE_INTEGER] });
  const { environment, concurrency, idleMs, signal, cutSignal, log } = options;
  const [{ work }, { workerText }] = await Promise.all([import('../worker.ts'), import('../ledger-text.ts')]);
  await work({
    ...settle(options),
    ...present({ environment, concurrency, idleMs, interrupt: signal, abort: cutSignal }),
    onEvent(event) {
      log?.(workerText(event));
    },
  });
}

/**
 * `handbill workers`: who works on what, on a shared ledger; none where nothing was ever sent.
 *
 * @throws HandbillError exit 2 (the ledger is a file, a project file that is wrong), 7 (ledger)
 */
export async function listWorkers(options: ProjectOptions = {}): Promise<readonly WorkerShown[]> {
  const settled = settle(options);
  const [{ projectHere }, { openExistingLedger }, workers] = await Promise.all([
    import('../project-ledger.ts'),
    import('../../ledger/open.ts'),
    import('../../run/list-workers.ts'),
  ]);
  const { project } = await projectHere(settled, settled.ledger);
  const ledger = openExistingLedger(project.ledger, { nowMs: settled.now() });
  try {
    return ledger === null ? [] : workers.listWorkers(ledger);
  } finally {
    ledger?.close();
  }
}
