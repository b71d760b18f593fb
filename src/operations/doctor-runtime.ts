import { checkTlsEnvironment } from '../http/tls-environment.ts';
import { isAtLeast } from '../ledger/open.ts';
import type { CommandContext } from './context.ts';
import { asCheck, type Check, found } from './doctor-check.ts';

/** What this process runs on. */
export interface Runtime {
  readonly node: string;
  readonly sqlite: string;
  readonly handbill: string;
  /** Offset that the runtime gives for a zone at a moment: `GMT+01:00`; null where it does not know the zone. */
  readonly offsetAt: (timeZone: string, atMs: number) => string | null;
}

/** Node, its database and its time zones, the clock, the terminal, and variables that weaken everything. */
export function checkRuntime(
  runtime: Runtime,
  context: Pick<CommandContext, 'env' | 'now' | 'interactive' | 'width'>,
): readonly Check[] {
  const tls = checkTlsEnvironment(context.env);
  return [
    checkNode(runtime),
    found('handbill', 'ok', `handbill ${runtime.handbill}`),
    checkZones(runtime),
    checkYear(context.now()),
    context.interactive
      ? found('terminal', 'ok', `A terminal of ${context.width} columns: questions can be asked.`)
      : found('terminal', 'skipped', 'No terminal: nobody is asked, and sending to an environment needs --yes.'),
    tls === null ? found('certificates', 'ok', 'Certificates are verified.') : asCheck('certificates', tls),
  ];
}

function checkNode({ node, sqlite }: Runtime): Check {
  const hint = 'Run handbill with Node.js 24 in its newest version.';
  if (!isAtLeast(node, [24])) {
    return found('node', 'problem', `Node.js ${node} is older than handbill needs (24).`, {
      code: 'runtime-too-old',
      hint,
    });
  }
  if (!isAtLeast(sqlite, [3, 51, 3])) {
    const message = `Node.js ${node} brings SQLite ${sqlite}; the ledger needs 3.51.3 or newer.`;
    return found('node', 'problem', message, { code: 'ledger-unusable', hint });
  }
  return found('node', 'ok', `Node.js ${node} with SQLite ${sqlite}`);
}

/** Known answers: builds of Node with few or no time zones know UTC alone, and would move every window. */
const KNOWN_OFFSETS = [
  ['Europe/London', Date.UTC(2026, 0, 1), 'GMT+00:00'],
  ['Europe/London', Date.UTC(2026, 6, 1), 'GMT+01:00'],
  ['Australia/Lord_Howe', Date.UTC(2026, 6, 1), 'GMT+10:30'],
] as const;

function checkZones({ offsetAt }: Runtime): Check {
  const wrong = KNOWN_OFFSETS.find(([zone, atMs, offset]) => offsetAt(zone, atMs) !== offset);
  if (wrong === undefined) return found('time-zones', 'ok', 'Time zones and their summer times are known.');
  const hint = 'Use a build of Node.js with full ICU data, and leave NODE_ICU_DATA unset.';
  const message = `This Node.js does not know what time it is in ${wrong[0]}: windows and schedules would be wrong.`;
  return found('time-zones', 'problem', message, { code: 'invalid-time-zone', hint });
}

/** This handbill is not older than that, and nobody sends with it in a hundred years. */
const EARLIEST_MS = Date.UTC(2026, 0, 1);
const LATEST_MS = Date.UTC(2126, 0, 1);

function checkYear(nowMs: number): Check {
  const shown = new Date(nowMs).toISOString();
  if (nowMs >= EARLIEST_MS && nowMs < LATEST_MS) return found('clock', 'ok', `The clock says ${shown}.`);
  return found('clock', 'problem', `The clock says ${shown}, which cannot be.`, { code: 'clock', hint: SET_CLOCK });
}

export const SET_CLOCK = 'Set the clock, and let a time server keep it.';

/** As this Node knows it. */
export function offsetHere(timeZone: string, atMs: number): string | null {
  try {
    const parts = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' }).formatToParts(atMs);
    return parts.find(({ type }) => type === 'timeZoneName')?.value ?? null;
  } catch {
    return null;
  }
}
