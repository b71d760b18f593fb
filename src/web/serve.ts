import { checkNumbers, withDefaults } from '../operations/options.ts';
import { closedBy } from '../util/closing.ts';
import { SERVE, type ServeOptions } from './options.ts';
import type { Serving } from './start.ts';

/**
 * `handbill serve`: pages over the ledger of a project, live during a run. The ledger is only read, except by actions.
 *
 * @throws HandbillError exit 2: a wrong project file, a `host` of other machines without `allowRemote`, a port that is
 * not available
 */
export async function serve(options: ServeOptions = {}): Promise<Serving> {
  checkNumbers(options, SERVE);
  const { signal, ...given } = withDefaults(options);
  const { startServing } = await import('./start.ts');
  const { close, ...running } = await startServing(given);
  return { ...running, ...closedBy(close, signal) };
}
