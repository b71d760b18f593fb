import { isDeepStrictEqual } from 'node:util';
import { type Commit, type InputFile, inputId } from '../model.ts';
import type { RunRecord, Version } from './records.ts';

/** The versions of a run including these inputs, and their number. */
export function withInputs(known: readonly Version[], all: readonly InputFile[], sinceMs: number) {
  const inputs = all.filter(({ role }) => role !== 'recipients');
  const wanted = contentOf(inputs);
  const at = known.findIndex((one) => isDeepStrictEqual(contentOf(one.inputs), wanted));
  if (at >= 0) return { version: at + 1, versions: known };
  return { version: known.length + 1, versions: [...known, { inputs, commits: [], sinceMs }] };
}

function contentOf(inputs: readonly InputFile[]): ReadonlySet<string> {
  return new Set(inputs.map((input) => `${inputId(input)}\n${input.sha256}`));
}

export function withCommit({ versions, version }: RunRecord, commit: Commit): readonly Version[] {
  return versions.map((one, i) => (i + 1 === version ? { ...one, commits: eachOnce([...one.commits, commit]) } : one));
}

export function commitsOf(versions: readonly Version[]): readonly Commit[] {
  return eachOnce(versions.flatMap(({ commits }) => commits));
}

function eachOnce(commits: readonly Commit[]): readonly Commit[] {
  return commits.filter((one, i) => commits.findIndex((other) => isDeepStrictEqual(one, other)) === i);
}
