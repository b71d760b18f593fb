import type { Code } from '../../errors.ts';
import { type ProjectOptions, present, settle } from './options.ts';

/** What is looked at. */
export interface DoctorOptions extends ProjectOptions {
  /** A campaign file, its folder, or its name: it and its project are looked at. Default: the project of `cwd`. */
  readonly campaign?: string;
  /** Only this environment. Default: all. */
  readonly environment?: string;
  /** Connects to the environments; sends neither message nor key. Default: false. */
  readonly online?: boolean;
}

/** What was found. */
export interface DoctorResult {
  /** The version of handbill. */
  readonly handbill: string;
  /** The project's root. */
  readonly root: string;
  readonly checks: readonly DoctorCheck[];
  readonly totals: {
    readonly ok: number;
    readonly warnings: number;
    readonly problems: number;
    readonly skipped: number;
  };
}

/** What was found at one look. */
export interface DoctorCheck {
  /** What was looked at: a word of a closed set, which schemas/doctor.schema.json lists. */
  readonly check: string;
  /** Which of several: the name of an environment; null where there is one. */
  readonly of: string | null;
  /** `problem`: some command would be refused, or would do harm. `skipped`: there is nothing to check, or it was not asked for. */
  readonly status: 'ok' | 'warning' | 'problem' | 'skipped';
  readonly message: string;
  /** What to do. */
  readonly hint: string | null;
  readonly code: Code | null;
}

/**
 * `handbill doctor`: looks at what a start needs - runtime, ledger, environments, keys, clock - and changes nothing. What
 * is wrong comes back as checks; nothing is thrown for it.
 */
export async function doctor(options: DoctorOptions = {}): Promise<DoctorResult> {
  const { campaign, environment, online = false } = options;
  const { doctor: look } = await import('../doctor.ts');
  const here = { ...settle(options), ...present({ campaign, environment }) };
  // A program has no terminal that would be looked at.
  const { version: _, checks, ...facts } = await look({ ...here, online, interactive: false, width: 80 });
  return { ...facts, checks: checks.filter(({ check }) => check !== 'terminal') };
}
