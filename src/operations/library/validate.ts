import type { Diagnostic } from '../../errors.ts';
import type { Estimate } from '../../plan/estimate.ts';
import { checkNumbers, type ProjectOptions, present, settle } from '../options.ts';

/** How campaigns are checked. */
export interface ValidateOptions extends ProjectOptions {
  /** A list to check instead of that of the campaigns, relative to `cwd`. Default: their own. */
  readonly recipients?: string;
  /** Bad rows are skipped and counted instead of being errors. Default: false. */
  readonly skipInvalid?: boolean;
  /** How many diagnostics of each code are kept; counts are exact anyway. Default: 20. */
  readonly keep?: number;
  /** Called with each diagnostic as it is found, kept or not, and the campaign file that it was found for. */
  readonly onDiagnostic?: (diagnostic: Diagnostic, campaign: string | null) => Promise<void> | void;
}

/** What was found in one campaign file. */
export interface ValidatedFile {
  /** Path as the user would name it. */
  readonly file: string;
  readonly errors: number;
  readonly warnings: number;
  /** What its list comes to; null where it was not read to its end. */
  readonly estimate: Estimate | null;
}

/** What was found in all of them. */
export interface ValidateResult {
  /** No errors. */
  readonly valid: boolean;
  readonly errors: number;
  readonly warnings: number;
  /** In the order in which they were found, at most `keep` of each code. */
  readonly diagnostics: readonly Diagnostic[];
  readonly files: readonly ValidatedFile[];
}

/**
 * `handbill validate`: checks campaigns, every template against every row. Opens no connection and writes nothing. What
 * is wrong comes back as diagnostics; nothing is thrown for it.
 *
 * @param paths - campaign files, folders or names; empty: every `campaigns/**\/campaign.yaml` below `cwd`
 */
export async function validate(paths: readonly string[] = [], options: ValidateOptions = {}): Promise<ValidateResult> {
  checkNumbers(options, { keep: [0, 1e9, 'whole'] });
  const { recipients, skipInvalid, keep, onDiagnostic } = options;
  const settled = settle(options);
  const { validate: check } = await import('../validate.ts');
  const given = present({ recipients, skipInvalid, keep, onDiagnostic });
  const { diagnostics, files, errors, warnings } = await check(paths, { ...settled, now: settled.now(), ...given });
  return { valid: errors === 0, errors, warnings, diagnostics, files };
}
