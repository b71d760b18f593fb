/** One textual change of a source file. */
export interface Edit {
  /** Path below the project's root. */
  readonly file: string;
  /** Is in the file exactly once. */
  readonly was: string;
  readonly is: string;
}

/** Tests that must be green as the sources are, and red with a bug planted. */
export interface Proof {
  /** A test file or folder, relative to `test/`. */
  readonly in: string;
  /** Regular expression over titles; all tests when absent. */
  readonly only?: string;
  /** Needs the full set (`HANDBILL_FULL=1`). */
  readonly full?: true;
}

interface Bug {
  /** Of letters, digits and hyphens; its name on the command line. */
  readonly name: string;
  /** What is wrong with it, in a few words. */
  readonly planted: string;
  readonly proof: Proof;
}

/** A bug that a developer could write, in one place or in several, and the test that must notice it. */
export type Mutant = Bug & (Edit | { readonly edits: readonly Edit[] });

/** @param more - what is wrong with it, where it is planted, and its proof */
export function mutant<T extends Omit<Bug, 'name'>>(name: string, more: T) {
  return { name, ...more };
}

export function edit(file: string, was: string, is: string): Edit {
  return { file, was, is };
}

export function editsOf(mutant: Mutant): readonly Edit[] {
  return 'edits' in mutant ? mutant.edits : [mutant];
}

/** The same for equal proofs. */
export function proofName(proof: Proof): string {
  return `${proof.in}${proof.only === undefined ? '' : ` -t '${proof.only}'`}${proof.full === true ? ' (full)' : ''}`;
}
