import type { WinnerRule } from '../model.ts';
import { durationMs } from '../util/units.ts';
import { DEFAULTS } from './defaults.ts';
import type { Report } from './legs.ts';
import type { CampaignFile } from './written.ts';

/** A week: what came back after that says nothing about the message any more. */
const LONGEST_WAIT_MS = 7 * 24 * 3_600_000;

/** By what `winner` says that the winner of a test is found; null where a person names it. */
export function readWinnerRule({ test, winner }: Partial<CampaignFile>, report: Report): WinnerRule | null {
  if (typeof winner !== 'object') return null;
  const { by, variant, wait, tie, minimum } = winner;
  const asked = (['wait', 'tie', 'minimum'] as const).find((key) => winner[key] !== undefined);
  if (by === 'manual' || (by === undefined && asked === undefined)) {
    if (asked === undefined) return null;
    const message = `"winner.${asked}" says how the winner is found, and with "by: manual" you name it.`;
    report(`/winner/${asked}`, 'invalid-value', message, 'Remove one of the two.');
    return null;
  }
  if (variant !== undefined) {
    const message = '"winner.variant" names the winner, so that nothing is left to be found.';
    report('/winner/variant', 'invalid-value', message, 'Remove it, or what else "winner" says.');
  }
  if (typeof test === 'object' && test.by === 'manual') {
    const message = '"test.by: manual" says that you name the winner, and "winner" says how it is found.';
    report('/test/by', 'invalid-value', message, 'Remove one of the two.');
  }
  if (test === undefined) {
    const hint = 'Add "test" with the share that gets the variants first, or remove "winner".';
    report('/winner', 'invalid-value', 'No recipients are outside the test, so none would get the winner.', hint);
  }
  const waitMs = wait === undefined ? DEFAULTS.winnerWaitMs : durationMs(wait);
  if (waitMs === null || waitMs > LONGEST_WAIT_MS) {
    report('/winner/wait', 'invalid-value', `A wait of "${wait}" is longer than a week.`);
  }
  return {
    by: by ?? DEFAULTS.winnerBy,
    waitMs: waitMs ?? DEFAULTS.winnerWaitMs,
    tie: tie ?? DEFAULTS.winnerTie,
    minimum: minimum ?? DEFAULTS.winnerMinimum,
  };
}
