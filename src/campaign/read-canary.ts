import type { Canary, Threshold } from '../model.ts';
import { durationMs, share } from '../util/units.ts';
import { DEFAULTS } from './defaults.ts';
import type { Report } from './legs.ts';
import type { Merged } from './merge.ts';
import type { CanaryFile, SendFile } from './written.ts';

/** A week: for a longer pause, use another occurrence. */
const LONGEST_MS = 7 * 24 * 3_600_000;

/** `send.canary`: one step, a list of steps, or a mapping with pause and gate; null without one. */
export function readCanary(merged: Merged, report: Report): Canary | null {
  const written = merged.file.send?.canary;
  if (written === undefined || written === 'none') return null;
  const file = isMapping(written) ? written : { steps: written };
  const at = file === written ? '/send/canary/steps' : '/send/canary';
  // Steps that are missing or wrong were reported by the schema.
  const steps = listOf(file.steps ?? []);
  const read = steps.map((step, i) => stepOf(step, steps.length === 1 ? at : `${at}/${i}`, report));
  const good = read.filter((step) => step !== null);
  checkOrder(good, at, report);
  return {
    steps: good,
    pauseMs: durationOf('/send/canary/pause', 'A pause', file.pause, DEFAULTS.canaryPauseMs, report),
    gate: {
      accepted: gateOf('accepted', file.gate?.accepted, report) ?? DEFAULTS.canaryAccepted,
      delivered: gateOf('delivered', file.gate?.delivered, report),
      optedOut: gateOf('optedOut', file.gate?.optedOut, report),
      waitMs: durationOf('/send/canary/gate/wait', 'A wait', file.gate?.wait, DEFAULTS.canaryWaitMs, report),
    },
  };
}

function isMapping(written: NonNullable<SendFile['canary']>): written is CanaryFile {
  return typeof written === 'object' && !Array.isArray(written);
}

function listOf<T>(written: T | readonly T[]): readonly T[] {
  return Array.isArray(written) ? written : [written as T];
}

function stepOf(written: number | string, pointer: string, report: Report): Threshold | null {
  if (typeof written === 'number') return { count: written };
  const part = share(written);
  if (part !== null && part > 0 && part < 1) return { share: part };
  report(pointer, 'invalid-value', `"${written}" is not a step: write a count, or a share above 0% and below 100%.`);
  return null;
}

/** A count and a share cannot be compared before the list is known; two of a kind can. */
function checkOrder(steps: readonly Threshold[], pointer: string, report: Report): void {
  const counts = steps.flatMap((step) => ('count' in step ? [step.count] : []));
  const shares = steps.flatMap((step) => ('share' in step ? [step.share] : []));
  for (const values of [counts, shares]) {
    if (values.every((value, i) => i === 0 || value > (values[i - 1] ?? 0))) continue;
    const message = 'The steps of a canary grow: each says how many have been sent to in all.';
    report(pointer, 'invalid-value', message, 'For example: [100, 1%, 10%]');
    return;
  }
}

function durationOf(pointer: string, what: string, written: string | undefined, usual: number, report: Report): number {
  const ms = written === undefined ? usual : durationMs(written);
  if (ms !== null && ms <= LONGEST_MS) return ms;
  report(pointer, 'invalid-value', `${what} of "${written}" is longer than a week.`);
  return usual;
}

function gateOf(
  key: 'accepted' | 'delivered' | 'optedOut',
  written: string | undefined,
  report: Report,
): number | null {
  if (written === undefined) return null;
  const part = share(written);
  if (part === null) report(`/send/canary/gate/${key}`, 'invalid-value', `"${written}" is not a share up to 100%.`);
  return part;
}
