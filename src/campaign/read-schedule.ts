import { type Diagnostic, problem } from '../errors.ts';
import type { Schedule } from '../model.ts';
import { checkTimeZone } from './check-values.ts';
import { DEFAULTS } from './defaults.ts';
import type { Merged } from './merge.ts';

/**
 * When a campaign goes out by itself; null where it says nothing, or something wrong. The reader of cron expressions is
 * loaded only for campaigns that have one.
 */
export async function readSchedule(
  merged: Merged,
): Promise<{ readonly schedule: Schedule | null; readonly diagnostics: readonly Diagnostic[] }> {
  const written = merged.file.schedule;
  if (written?.cron === undefined) return { schedule: null, diagnostics: [] };
  const diagnostics: Diagnostic[] = [];
  const report = (pointer: string, message: string, hint: string | undefined): void => {
    const where = merged.where(pointer) ?? {};
    diagnostics.push(problem('invalid-value', message, { ...where, ...(hint === undefined ? {} : { hint }) }));
  };
  // The zone of the campaign is checked where it is read; here it only has to be one.
  const inherited = checkTimeZone(merged.file.timeZone ?? DEFAULTS.timeZone);
  const zone = written.timeZone === undefined ? inherited : checkTimeZone(written.timeZone);
  if (!('value' in zone) && written.timeZone !== undefined) report('/schedule/timeZone', zone.message, zone.hint);
  const timeZone = 'value' in zone ? zone.value : DEFAULTS.timeZone;
  const { readCron } = await import('../util/cron.ts');
  const reading = readCron(written.cron, timeZone);
  if ('message' in reading) report('/schedule/cron', reading.message, reading.hint);
  if (diagnostics.length > 0) return { schedule: null, diagnostics };
  const missed = written.missed ?? DEFAULTS.missed;
  return {
    schedule: { cron: written.cron, timeZone, missed, asksCatchUp: written.missed === 'catch-up' },
    diagnostics,
  };
}
