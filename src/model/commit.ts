import type { Diagnostic } from '../errors.ts';

/** Without names and addresses of authors. */
export interface Commit {
  /** The whole hash. */
  readonly commit: string;
  /** Null: a commit was checked out and no branch, and no CI system says which one it is. */
  readonly branch: string | null;
  /** The files of the campaign were as this commit has them. */
  readonly clean: boolean;
}

export interface GitRule {
  /** All files of the campaign must be committed. */
  readonly clean: boolean;
  /** One of these must be checked out; null: any. */
  readonly branches: readonly string[] | null;
  readonly where: Pick<Diagnostic, 'at' | 'source'>;
}
