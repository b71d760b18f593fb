import type { Validation } from '../../operations/check-campaigns.ts';
import type { Kind } from './findings.ts';
import type { RepositoryPath } from './repository.ts';

/** What a format for CI makes its text of. */
export interface ValidationDocument {
  readonly validation: Validation;
  readonly kinds: readonly Kind[];
  readonly pathOf: RepositoryPath;
  /** Of handbill. */
  readonly version: string;
}
