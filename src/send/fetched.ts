import { type Diagnostic, problem } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { ALLOWABLE, type Allowable, type Environment, type Project } from '../model.ts';
import { nextCommand } from '../util/next-command.ts';
import { DAY_MS, iso } from '../util/time.ts';

/** The environments of one identity whose reports are fetched: an original and those that replace it. */
export function fetchedWith({ environments }: Pick<Project, 'environments'>, identity: string): readonly Environment[] {
  return [...environments.values()].filter((one) => one.fetch && one.identity === identity);
}

/** Why no new occurrence may begin: a STOP may be at the API that nothing has read. Null: it may. */
export function staleReports(
  ledger: Ledger | null,
  project: Pick<Project, 'environments'>,
  { identity }: Environment,
  { nowMs, allow }: { readonly nowMs: number; readonly allow: readonly Allowable[] },
): Diagnostic | null {
  if (allow.includes('reports-stale')) return null;
  for (const { name } of fetchedWith(project, identity)) {
    const lastMs = ledger?.events.fetchedMs(name) ?? null;
    if (lastMs !== null && nowMs - lastMs <= DAY_MS) continue;
    const last = lastMs === null ? 'never' : `last at ${iso(lastMs)}, over 24 hours ago`;
    const message = `Reports and replies of ${name} were fetched ${last}: an opt-out may be among those that are missing.`;
    const hint = `Fetch them: ${nextCommand('listen', '--env', name, '--from', 'api')}. Or: ${ALLOWABLE['reports-stale']}`;
    return problem('reports-stale', message, { hint });
  }
  return null;
}
