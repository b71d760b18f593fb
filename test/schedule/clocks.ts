import fc from 'fast-check';
import { type CronClock, readCron } from '../../src/util/cron.ts';

/** The clock of an expression that is known to be one. */
export function clock(cron: string, zone = 'UTC'): CronClock {
  const reading = readCron(cron, zone);
  if ('message' in reading) throw new Error(reading.message);
  return reading.clock;
}

/** Expressions of what people write, and some of what they do not. */
export const CRONS: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('0', '30', '*/15', '5,35', '*', '10-20/5', '59'),
    fc.constantFrom('*', '1', '2', '0-3', '*/6', '1,13', '23', '9-17/2'),
    fc.constantFrom('*', '*', '*', '1', 'L', '13', '29-31'),
    fc.constantFrom('*', '*', '*', '2', '3,10', '*/4'),
    fc.constantFrom('*', '*', '*', '1-5', 'SUN', '7', '5#2'),
  )
  .map((fields) => fields.join(' '));
export const ZONES = fc.constantFrom('UTC', 'Europe/London', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata');
export const INSTANTS = fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2027, 11, 31) });
