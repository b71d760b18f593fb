import { afterAll, beforeAll, describe } from 'vitest';
import { postgres } from '../helpers/postgres.ts';
import { shareLedgers } from './scratch.ts';

export const FULL = process.env['HANDBILL_FULL'] === '1';

/**
 * The tests of these files once more, on PostgreSQL: what a ledger is asked for is the same, whatever database holds it.
 * They are in groups, so that they can run beside each other.
 */
export function onPostgres(names: readonly string[]): void {
  // Until the tests run: what is about files is left out when they are read.
  shareLedgers('nowhere yet');
  describe('on PostgreSQL', () => {
    beforeAll(async () => shareLedgers(await postgres()));
    afterAll(() => shareLedgers(null));
    for (const name of names) {
      describe(name, async () => {
        // The question makes it another module than the file that is run by itself.
        await import(`./${name}.test.ts?on-postgres`);
      });
    }
  });
}
