import { type Code, type Diagnostic, EXIT, type ExitStatus } from '../errors.ts';

/** `problem`: some command would be refused, or would do harm. `skipped`: there is nothing to look at, or it was not asked for. */
export type CheckStatus = 'ok' | 'warning' | 'problem' | 'skipped';

/** What is looked at; a closed set, which schemas/doctor.schema.json lists too. */
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

/** What was found at one look. */
export interface Check {
  readonly check: CheckName;
  /** Which of several: the name of an environment; null where there is one. */
  readonly of: string | null;
  readonly status: CheckStatus;
  readonly message: string;
  /** What to do. */
  readonly hint: string | null;
  readonly code: Code | null;
}

type Rest = Partial<Pick<Check, 'of' | 'hint' | 'code'>>;

export function found(check: CheckName, status: CheckStatus, message: string, rest: Rest = {}): Check {
  return { check, of: null, hint: null, code: null, ...rest, status, message };
}

/** A diagnostic as a check, with its place in front. */
export function asCheck(check: CheckName, { code, severity, message, at, hint }: Diagnostic, rest: Rest = {}): Check {
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

/** 7 where the ledger cannot be used, which is worse than what a file says wrong. */
export function exitOf(checks: readonly Check[]): ExitStatus {
  const problems = checks.filter(({ status }) => status === 'problem');
  if (problems.length === 0) return EXIT.done;
  return problems.some(({ code }) => code?.startsWith('ledger-') === true) ? EXIT.ledger : EXIT.refused;
}
