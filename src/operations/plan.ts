import { type SignOptions, signBytes } from '../approval/sign.ts';
import { MAX_SIGNATURES, readSignature } from '../approval/signature.ts';
import { loadCampaign } from '../campaign/load.ts';
import { type Diagnostic, problem, refuse } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openExistingLedger } from '../ledger/open.ts';
import { checkList } from '../plan/check.ts';
import { openReach, type Reached } from '../plan/contact-history.ts';
import { duplicatesIn } from '../plan/decide.ts';
import { adviseLength } from '../plan/limits.ts';
import { createPlan, type Plan } from '../plan/plan.ts';
import { loadPrices } from '../plan/prices.ts';
import { openRules } from '../plan/rules.ts';
import { readSealedPlan, type SealedPlan, sealPlan, signedBytes } from '../plan/seal.ts';
import { loadSuppressions } from '../plan/suppression.ts';
import type { Meter } from '../util/meter.ts';
import { findFileAnywhere, readSmallFile } from '../util/paths.ts';
import { jsonText } from '../util/safe.ts';
import { checkApprovers } from './approver-faults.ts';
import { meantOccurrence } from './occurrence.ts';

export interface PlanCommandOptions {
  readonly cwd: string;
  readonly now: () => number;
  /** The process's variables: the key of suppression lists may be among them. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly environment?: string;
  readonly occurrence?: string;
  readonly recipients?: string;
  /** The ledger that suppression, `exclude` and `frequency` ask; default: that of the project. */
  readonly ledger?: string;
  readonly skipInvalid?: boolean;
  /** Called with how far the list was read. */
  readonly meter?: Meter;
  /** Signs the plan as its planner. Default: not signed. */
  readonly sign?: PlanSigning;
}

/** With which key (default: HANDBILL_SIGNING_KEY), and how it may be asked for. */
interface PlanSigning extends Omit<SignOptions, 'cwd'> {
  readonly key?: string;
}

/**
 * Checks every row and records the result in a plan: counts, parts, cost and the hashes of all inputs.
 *
 * @throws HandbillError exit 2 with everything that is wrong; 7 if the ledger cannot be read
 */
export async function plan(target: string, options: PlanCommandOptions): Promise<SealedPlan> {
  const { sealed, made } = await makePlan(target, options);
  const { sign, cwd } = options;
  if (sign === undefined) return sealed;
  await checkApprovers(made.campaign.project, made.environment);
  return (await signPlan(sealed, sign.key, { ...sign, cwd })).plan;
}

/** The plan before it is signed, with what it was made from. */
export async function makePlan(
  target: string,
  options: Omit<PlanCommandOptions, 'sign'>,
): Promise<{ readonly sealed: SealedPlan; readonly made: Plan; readonly warnings: readonly Diagnostic[] }> {
  const { cwd, now } = options;
  const recipients = options.recipients === undefined ? {} : { recipients: options.recipients };
  const ledger = options.ledger === undefined ? {} : { ledger: options.ledger };
  const { campaign } = await loadCampaign(target, { cwd, now: now(), ...recipients, ...ledger });
  const { environment = 'sandbox' } = options;
  const meant = await meantOccurrence(campaign, {
    environment,
    named: options.occurrence,
    nowMs: now(),
    toShow: true,
  });
  const made = await createPlan(campaign, { environment, occurrence: meant.occurrence });
  const skipInvalid = options.skipInvalid === true || campaign.recipients.onInvalid === 'skip';
  const suppressions = await loadSuppressions(campaign, options.env ?? {});
  const prices = await loadPrices(campaign.project);
  using before = await ledgerBefore(made, now());
  const view = {
    duplicates: duplicatesIn(made),
    rules: openRules(made, { suppressions, ...before, now }),
    skipInvalid,
    ...(options.meter === undefined ? {} : { meter: options.meter }),
  };
  const { estimate, inputs } = await checkList(made, view, prices, () => undefined);
  const sealed = sealPlan({
    campaign: { name: campaign.name, file: campaign.file },
    environment: made.environment.name,
    occurrence: made.occurrence,
    recipients: options.recipients ?? null,
    skipInvalid,
    sealedAt: new Date(now()).toISOString(),
    inputs,
    estimate,
  });
  return { sealed, made, warnings: [...meant.warnings, ...adviseLength(campaign, estimate)] };
}

interface Before extends Disposable {
  /** Null: nothing was ever sent from here, and no address suppressed. */
  readonly ledger: Ledger | null;
  readonly reached: Reached | null;
}

/** What the ledger says to suppression, `exclude` and `frequency`. It is read, and never made. */
async function ledgerBefore(made: Plan, nowMs: number): Promise<Before> {
  const ledger = openExistingLedger(made.campaign.project.ledger, { nowMs });
  try {
    return { ledger, reached: await openReach(made, ledger, nowMs), [Symbol.dispose]: () => ledger?.close() };
  } catch (error) {
    ledger?.close();
    throw error;
  }
}

/** A plan as the text of its file. */
export function toText(plan: SealedPlan): string {
  return `${jsonText(plan, 2)}\n`;
}

/**
 * Adds a signature to a plan; one that the same key has made before is replaced.
 *
 * @param key - a private key, or a public key whose private half is in ssh-agent; default: HANDBILL_SIGNING_KEY
 * @throws HandbillError exit 2 if there is no key, or it cannot be used
 */
export async function signPlan(
  sealed: SealedPlan,
  key: string | undefined,
  options: SignOptions,
): Promise<{ readonly plan: SealedPlan; readonly signature: string }> {
  const chosen = key ?? options.env['HANDBILL_SIGNING_KEY'] ?? '';
  if (chosen === '') throw refuse(noKey());
  const made = await signBytes(signedBytes(sealed), chosen, options);
  const others = (sealed.signatures ?? []).filter((one) => keyOf(one) === null || keyOf(one) !== keyOf(made));
  if (others.length >= MAX_SIGNATURES) {
    const hint = 'Make the plan again, and have it signed by those whose signatures count.';
    throw refuse(problem('plan-invalid', `The plan has ${others.length} signatures, and cannot have more.`, { hint }));
  }
  return { plan: { ...sealed, signatures: [...others, made] }, signature: made };
}

function keyOf(signature: string): string | null {
  const read = readSignature(signature);
  return 'problem' in read ? null : read.key.text;
}

function noKey() {
  const hint =
    'Name it, or set HANDBILL_SIGNING_KEY: a private key such as ~/.ssh/id_ed25519, or its .pub file where ssh-agent has it.';
  return problem('usage', 'The key to sign with is missing.', { hint });
}

const MAX_PLAN_BYTES = 1024 * 1024;

/** Reads a plan file; throws `HandbillError` (exit 2) if it is not one. */
export async function readPlanFile(file: string, cwd: string): Promise<SealedPlan> {
  const found = await findFileAnywhere(cwd, file);
  if ('fault' in found) throw refuse(problem(found.fault.code, found.fault.message, { at: { file } }));
  const read = await readSmallFile(found.path, MAX_PLAN_BYTES, file);
  if ('fault' in read) throw refuse(problem(read.fault.code, read.fault.message, { at: { file } }));
  const plan = readSealedPlan(new TextDecoder().decode(read.bytes), file);
  if ('code' in plan) throw refuse(plan);
  return plan;
}
