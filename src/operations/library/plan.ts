import type { Judgement } from '../../approval/judge.ts';
import type { SealedPlan } from '../../plan/seal.ts';
import { asker, type Confirm, type ProjectOptions, present, settle } from '../options.ts';

/** What is planned. */
export interface PlanOptions extends ProjectOptions {
  /** Environment of handbill.yaml. Default: `sandbox`. */
  readonly environment?: string;
  /** Which time the campaign goes out. Default: with a schedule, the instant that is due; else `once`. */
  readonly occurrence?: string;
  /** A list to take instead of the campaign's, relative to `cwd`. Default: its own. */
  readonly recipients?: string;
  /** Bad rows are skipped instead of refusing the plan. Default: as `recipients.onInvalid` says. */
  readonly skipInvalid?: boolean;
  /** Signs the plan as its planner. Default: it is not signed. */
  readonly sign?: SigningKey;
}

/** With what a plan is signed. */
export interface SigningKey {
  /** A private SSH key, or a public one whose private half is in ssh-agent. Default: HANDBILL_SIGNING_KEY in `env`. */
  readonly key?: string;
  /** A person at the terminal of this process can be asked for a passphrase. Default: false. */
  readonly interactive?: boolean;
  /** Called with what ssh-keygen says. */
  readonly onSaid?: (text: string) => void;
}

/** What is signed, and with which key. */
export interface ApproveOptions extends ProjectOptions, SigningKey {
  /** The list, if it is not where the planner had it. Default: that of the plan. */
  readonly recipients?: string;
  /** Does not compare the plan with this checkout. Default: false, it does. */
  readonly unchecked?: boolean;
  /** Asked before anything is signed; refused (exit 2, `not-confirmed`) where the answer is no. Default: no. */
  readonly confirm?: Confirm<ApproveQuestion>;
}

/** What to check. */
export type CheckApprovalOptions = Omit<ApproveOptions, 'confirm' | keyof SigningKey>;

/** What is about to be signed, for the signer; and the result. */
export interface ApproveQuestion {
  readonly plan: SealedPlan;
  /** Its inputs and figures are those of this checkout; false if they were not compared. */
  readonly compared: boolean;
  /** What its signatures come to; null where the environment asks for none. */
  readonly judgement: Judgement | null;
}

/**
 * `handbill plan`: checks every row and makes a plan: counts, parts, cost and the hashes of all inputs.
 * Written to a file as JSON, it is what `send --plan` takes.
 *
 * @param target - a campaign file, its folder, or its name
 * @throws HandbillError exit 2 with everything that is wrong; 7 (ledger)
 */
export async function plan(target: string, options: PlanOptions = {}): Promise<SealedPlan> {
  const { environment, occurrence, recipients, skipInvalid, sign } = options;
  const settled = settle(options);
  const signing = sign === undefined ? undefined : signingOf(sign, settled.env);
  const { plan: make } = await import('../plan.ts');
  const given = present({ environment, occurrence, recipients, skipInvalid, sign: signing });
  return await make(target, { ...settled, ...given });
}

/**
 * Reads a plan from its file.
 *
 * @throws HandbillError exit 2 if it is not a plan, or was changed after it was made
 */
export async function readPlan(file: string, options: Pick<ProjectOptions, 'cwd'> = {}): Promise<SealedPlan> {
  const { readPlanFile } = await import('../plan.ts');
  return await readPlanFile(file, settle(options).cwd);
}

/**
 * `handbill approve`: compares a plan with this checkout and adds a signature to its file.
 *
 * @returns the plan with the new signature, as it is in the file then
 * @throws HandbillError exit 2 where the plan is not of this checkout, the key does not count there, or it was not confirmed
 */
export async function approve(file: string, options: ApproveOptions = {}): Promise<ApproveQuestion> {
  const { key, recipients, unchecked, interactive, onSaid, confirm } = options;
  const ask = asker(confirm);
  const { approve: sign } = await import('../approve.ts');
  const signed = await sign(file, {
    ...settle(options),
    ...present({ key, recipients, unchecked, interactive, onSaid }),
    confirm: (question) => ask(questionOf(question)),
  });
  return questionOf(signed);
}

/**
 * `handbill approve --check`: checks whether a plan is approved, without signing it.
 *
 * @throws HandbillError exit 2 if it is not approved, or is not of this checkout
 */
export async function checkApproval(file: string, options: CheckApprovalOptions = {}): Promise<ApproveQuestion> {
  const { recipients, unchecked } = options;
  const { checkApproval: check } = await import('../approve.ts');
  return questionOf(await check(file, { ...settle(options), ...present({ recipients, unchecked }) }));
}

/** Without the environment, which has functions of its own. */
function questionOf({ plan: sealed, compared, judgement }: ApproveQuestion): ApproveQuestion {
  return { plan: sealed, compared, judgement };
}

function signingOf(
  { key, interactive = false, onSaid }: SigningKey,
  env: Readonly<Record<string, string | undefined>>,
) {
  return { env, interactive, ...present({ key, onSaid }) };
}
