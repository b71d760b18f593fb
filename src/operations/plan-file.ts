import { problem, refuse } from '../errors.ts';
import { readSealedPlan, type SealedPlan } from '../plan/seal.ts';
import { findFileAnywhere, readSmallFile } from '../util/paths.ts';

const MAX_PLAN_BYTES = 1024 * 1024;

/** Reads a sealed plan; throws `HandbillError` (exit 2) where it is not one. */
export async function readPlanFile(file: string, cwd: string): Promise<SealedPlan> {
  const found = await findFileAnywhere(cwd, file);
  if ('fault' in found) throw refuse(problem(found.fault.code, found.fault.message, { at: { file } }));
  const read = await readSmallFile(found.path, MAX_PLAN_BYTES, file);
  if ('fault' in read) throw refuse(problem(read.fault.code, read.fault.message, { at: { file } }));
  const plan = readSealedPlan(new TextDecoder().decode(read.bytes), file);
  if ('code' in plan) throw refuse(plan);
  return plan;
}
