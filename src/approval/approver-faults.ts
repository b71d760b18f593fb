import { type Diagnostic, EXIT, HandbillError } from '../errors.ts';
import type { Environment, Project, SignerSource } from '../model.ts';
import { isInside } from '../util/paths.ts';

/** A file outside the project may exist only on the machine that sends, so here its absence is a warning. */
export async function approverFaults(
  { root, environments }: Pick<Project, 'root' | 'environments'>,
  only?: Environment,
): Promise<readonly Diagnostic[]> {
  const found: Diagnostic[] = [];
  for (const { name, approval } of only === undefined ? environments.values() : [only]) {
    for (const source of [approval?.approvers, approval?.planners]) {
      if (source === undefined || source === null) continue;
      const { readSigners } = await import('./verify.ts');
      const { diagnostics } = await readSigners(source);
      found.push(...diagnostics.map((one) => (one.code === 'file-not-found' ? absent(one, name, source, root) : one)));
    }
  }
  return found;
}

/** Throws (exit 2) where the signature would not count. Warns if this machine does not know who may sign. */
export async function checkApprovers(project: Project, environment: Environment): Promise<readonly Diagnostic[]> {
  const found = await approverFaults(project, environment);
  if (found.some(({ severity }) => severity === 'error')) throw new HandbillError(EXIT.refused, found);
  return found;
}

function absent(found: Diagnostic, environment: string, source: SignerSource, root: string): Diagnostic {
  const message = `Who may sign plans for ${environment} is not known. ${found.message}`;
  const isElsewhere = 'file' in source && !isInside(root, source.file);
  if (!isElsewhere) return { ...found, message };
  const hint = 'It lies outside of the project, and must be there where plans are approved and sent.';
  return { ...found, severity: 'warning', message, hint };
}
