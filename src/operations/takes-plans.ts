import type { RunRecord } from '../ledger/records.ts';
import type { Project } from '../model.ts';

/** Where a run is sent by a plan, nobody but the user knows how its file is called. */
export const PLAN_FILE = 'FILE';

/** Whether what continues a run must be an approved plan. */
export function takesPlans({ environment }: Pick<RunRecord, 'environment'>, project: Project): boolean {
  return (project.environments.get(environment)?.approval ?? null) !== null;
}
