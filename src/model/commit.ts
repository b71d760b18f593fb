import type { Diagnostic } from '../errors.ts';

export type { ReportCommit as Commit } from './result-types.ts';

export interface GitRule {
  /** All files of the campaign must be committed. */
  readonly clean: boolean;
  /** One of these must be checked out; null: any. */
  readonly branches: readonly string[] | null;
  readonly where: Pick<Diagnostic, 'at' | 'source'>;
}
