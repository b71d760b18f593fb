import { type Code, type Diagnostic, EXIT, type ExitStatus } from '../errors.ts';
import { checkTlsEnvironment } from '../http/credentials.ts';
import { isAtLeast } from '../ledger/open.ts';
import type { Settled } from './options.ts';

/** What is checked; a closed set, which schemas/doctor.schema.json lists too. */
export const CHECKS = [
  'node',
  'handbill',
  'time-zones',
  'clock',
  'terminal',
  'certificates',
  'project',
  'schemas',
  'campaign',
  'git',
  'ledger',
  'disk',
  'locks',
  'purge',
  'environment',
  'key',
  'connection',
  'approval',
  'suppressions',
  'webhooks',
] as const;

export type CheckName = (typeof CHECKS)[number];

/** The result of one check. */
export interface DoctorCheck {
  /** What was checked: a word of a closed set, which schemas/doctor.schema.json lists. */
  readonly check: string;
  /** Which of several: the name of an environment; null if there is only one. */
  readonly of: string | null;
  /** `problem`: some command would be refused, or would do harm. `skipped`: there is nothing to check, or it was not asked for. */
  readonly status: 'ok' | 'warning' | 'problem' | 'skipped';
  readonly message: string;
  /** What to do. */
  readonly hint: string | null;
  readonly code: Code | null;
}

type Rest = Partial<Pick<DoctorCheck, 'of' | 'hint' | 'code'>>;

export function found(check: CheckName, status: DoctorCheck['status'], message: string, rest: Rest = {}): DoctorCheck {
  return { check, of: null, hint: null, code: null, ...rest, status, message };
}

/** A diagnostic as a check, with its place in front. */
export function asCheck(
  check: CheckName,
  { code, severity, message, at, hint }: Diagnostic,
  rest: Rest = {},
): DoctorCheck {
  const line = at?.line === undefined ? '' : `:${at.line}${at.column === undefined ? '' : `:${at.column}`}`;
  const place = at === undefined ? '' : `${at.file}${line}: `;
  const status = severity === 'error' ? 'problem' : 'warning';
  return found(check, status, `${place}${message}`, { ...rest, code, hint: hint ?? WITHOUT_HINT[check] ?? null });
}

/** What to do where the diagnostic does not say it. */
const WITHOUT_HINT: Partial<Record<CheckName, string>> = {
  project: 'handbill validate shows the line.',
  campaign: 'handbill validate shows the line.',
  suppressions: 'Check `suppressions`, and the file that it names.',
};

/** 7 if the ledger cannot be used, which is worse than an error in a file. */
export function exitOf(checks: readonly DoctorCheck[]): ExitStatus {
  const problems = checks.filter(({ status }) => status === 'problem');
  if (problems.length === 0) return EXIT.done;
  return problems.some(({ code }) => code?.startsWith('ledger-') === true) ? EXIT.ledger : EXIT.refused;
}

/** What this process runs on. */
interface Runtime {
  readonly node: string;
  readonly sqlite: string;
  readonly handbill: string;
  /** Offset that the runtime gives for a zone at a moment: `GMT+01:00`; null where it does not know the zone. */
  readonly offsetAt: (timeZone: string, atMs: number) => string | null;
}

/** Node, its SQLite and its time zones, the clock, and environment variables that weaken security. */
export function checkRuntime(runtime: Runtime, context: Pick<Settled, 'env' | 'now'>): readonly DoctorCheck[] {
  const tls = checkTlsEnvironment(context.env);
  return [
    checkNode(runtime),
    found('handbill', 'ok', `handbill ${runtime.handbill}`),
    checkZones(runtime),
    checkYear(context.now()),
    tls === null ? found('certificates', 'ok', 'Certificates are verified.') : asCheck('certificates', tls),
  ];
}

function checkNode({ node, sqlite }: Runtime): DoctorCheck {
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

/** Known offsets: a build of Node with few or no time zones knows only UTC, and would shift every window. */
const KNOWN_OFFSETS = [
  ['Europe/London', Date.UTC(2026, 0, 1), 'GMT+00:00'],
  ['Europe/London', Date.UTC(2026, 6, 1), 'GMT+01:00'],
  ['Australia/Lord_Howe', Date.UTC(2026, 6, 1), 'GMT+10:30'],
] as const;

function checkZones({ offsetAt }: Runtime): DoctorCheck {
  const wrong = KNOWN_OFFSETS.find(([zone, atMs, offset]) => offsetAt(zone, atMs) !== offset);
  if (wrong === undefined) return found('time-zones', 'ok', 'Time zones and their summer times are known.');
  const hint = 'Use a build of Node.js with full ICU data, and leave NODE_ICU_DATA unset.';
  const message = `This Node.js does not know what time it is in ${wrong[0]}: windows and schedules would be wrong.`;
  return found('time-zones', 'problem', message, { code: 'invalid-time-zone', hint });
}

/** No clock that runs correctly is before this version of handbill, or a hundred years after it. */
const EARLIEST_MS = Date.UTC(2026, 0, 1);
const LATEST_MS = Date.UTC(2126, 0, 1);

function checkYear(nowMs: number): DoctorCheck {
  const shown = new Date(nowMs).toISOString();
  if (nowMs >= EARLIEST_MS && nowMs < LATEST_MS) return found('clock', 'ok', `The clock says ${shown}.`);
  return found('clock', 'problem', `The clock says ${shown}, which cannot be.`, { code: 'clock', hint: SET_CLOCK });
}

export const SET_CLOCK = 'Set the clock, and let a time server keep it.';

/** The offset that this Node gives. */
export function offsetHere(timeZone: string, atMs: number): string | null {
  try {
    const parts = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' }).formatToParts(atMs);
    return parts.find(({ type }) => type === 'timeZoneName')?.value ?? null;
  } catch {
    return null;
  }
}
