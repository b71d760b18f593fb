import { hash } from 'node:crypto';
import { createRequire } from 'node:module';
import { MAX_SIGNATURES } from '../approval/signature.ts';
import { type Diagnostic, problem } from '../errors.ts';
import { type Allowable, type Commit, type InputFile, inputId, PLAN_CODES } from '../model.ts';
import { escapedJson } from '../util/escape.ts';
import { onDemand } from '../util/on-demand.ts';
import { dayMs } from '../util/time.ts';
import type { Estimate } from './estimate.ts';
import SHAPE from './plan-file-shape.json' with { type: 'json' };
import { canonical } from './settings.ts';

/** A plan as a file: people read and approve it, and only this can be sent. */
export interface PlanFile {
  readonly version: 1;
  readonly campaign: { readonly name: string; readonly file: string };
  readonly environment: string;
  readonly occurrence: string;
  /** A list that was named on the command line, as it was written there; null: the campaign's own. */
  readonly recipients: string | null;
  /** Codes that would refuse the run, and that a person allowed (`plan --allow`). */
  readonly allow: readonly Allowable[];
  readonly plannedAt: string;
  /** The commit that it was made from; null: git did not know. */
  readonly commit: Commit | null;
  readonly inputs: readonly InputFile[];
  readonly estimate: Estimate;
  /** SHA-256 over all of the above. */
  readonly fingerprint: string;
  /** SSH signatures of all of the above, the fingerprint included; absent: not signed. */
  readonly signatures?: readonly string[];
}

/** Approves a campaign and its templates until a day. Its version tells it from a plan of one occurrence. */
export interface StandingPlan extends Omit<PlanFile, 'version' | 'occurrence' | 'recipients' | 'allow' | 'estimate'> {
  readonly version: 2;
  /** `until`: the last day on which a run may start, in UTC. */
  readonly standing: { readonly until: string };
}

export type AnyPlanFile = PlanFile | StandingPlan;

export function isStanding(plan: AnyPlanFile): plan is StandingPlan {
  return plan.version === 2;
}

export function createStandingPlan(facts: Omit<StandingPlan, 'version' | 'fingerprint' | 'signatures'>): StandingPlan {
  const content = { version: 2 as const, ...facts };
  return { ...content, fingerprint: fingerprintOf(content) };
}

export function createPlanFile(facts: Omit<PlanFile, 'version' | 'fingerprint' | 'signatures'>): PlanFile {
  const content = { version: 1 as const, ...facts };
  return { ...content, fingerprint: fingerprintOf(content) };
}

export function parsePlanFile(text: string, file: string): AnyPlanFile | Diagnostic {
  const hint = 'Make it again with `handbill plan CAMPAIGN -o FILE`.';
  const invalid = (message: string): Diagnostic => problem('plan-invalid', message, { at: { file }, hint });
  let plan: unknown;
  try {
    plan = JSON.parse(text);
  } catch {
    return invalid('This is not a plan: it is not JSON.');
  }
  if (!isPlan(plan)) return invalid('This is not a plan that handbill wrote.');
  const spelt = textOrNull(plan, (read) => escapedJson(JSON.stringify(read)));
  // People must sign what they read: of a duplicate key, JSON takes the last value. Spaces between the parts do not
  // count: files may be laid out anew, and lines may end otherwise.
  if (spelt !== text.replaceAll(/("(?:[^"\\]|\\.)*")|[ \t\r\n]+/g, '$1')) {
    return invalid('The plan is not spelt as handbill writes it.');
  }
  return isWhole(plan) ? plan : invalid('The plan was changed after it was made.');
}

/** Is the plan as it was made? Its fingerprint says so. */
export function isWhole({ fingerprint, signatures: _, ...content }: AnyPlanFile): boolean {
  return fingerprint === textOrNull(content, fingerprintOf);
}

/** The signed text of a plan: everything except its signatures, in one spelling. */
export function signedBytes({ signatures: _, ...signed }: AnyPlanFile): Uint8Array {
  return new TextEncoder().encode(canonical(signed));
}

/** Null where the plan is nested deeper than the call stack: one that handbill wrote never is. */
function textOrNull(plan: object, textOf: (plan: object) => string): string | null {
  try {
    return textOf(plan);
  } catch {
    return null;
  }
}

/** A standing plan has no key of another plan: an approver would take it for sealed. */
function isPlan(value: unknown): value is AnyPlanFile {
  if (!isShaped()(value)) return false;
  const plan = value as unknown as AnyPlanFile;
  const isOwn = isStanding(plan)
    ? dayMs(plan.standing.until) !== null
    : plan.allow.every((code) => PLAN_CODES.includes(code));
  return isOwn && !Number.isNaN(Date.parse(plan.plannedAt)) && (plan.signatures ?? []).length <= MAX_SIGNATURES;
}

/** Ajv takes 20 ms to load, and few commands read a plan. */
const isShaped = onDemand(() => {
  const { Ajv } = createRequire(import.meta.url)('ajv') as typeof import('ajv');
  return new Ajv({ strict: false }).compile(SHAPE);
});

function fingerprintOf(content: object): string {
  return hash('sha256', canonical(content), 'hex');
}

/** Each as an error that names the file; empty: nothing changed. */
export function changedInputs(
  before: readonly InputFile[],
  now: readonly InputFile[],
  since: string,
): readonly Diagnostic[] {
  const old = new Map(before.map((input) => [inputId(input), input]));
  const found: { readonly input: InputFile; readonly what: string }[] = [];
  for (const input of now) {
    const was = old.get(inputId(input));
    old.delete(inputId(input));
    if (was?.sha256 === input.sha256) continue;
    found.push({ input, what: was === undefined ? 'was added' : 'changed' });
  }
  for (const input of old.values()) found.push({ input, what: 'is gone' });
  // The settings are those in force, so that a change of one of these files changes them too: then only the file is named.
  const roles = new Set(found.map(({ input }) => input.role));
  const isTold = (role: InputFile['role']): boolean =>
    roles.has('provider') ? role === 'settings' || role === 'stand-in' : roles.has('campaign') && role === 'settings';
  return found.filter(({ input }) => !isTold(input.role)).map(({ input, what }) => changed(input, what, since));
}

const NAMES: Readonly<Partial<Record<InputFile['role'], string>>> = {
  settings: 'A setting of the environment or the project',
  recipients: 'The list',
  fence: 'The addresses of `only`',
  redirect: 'The address of `redirect`',
  suppressions: 'The lists that `suppressions` names',
  'stand-in': 'The address or `wire` of the environment',
  guards: 'A limit, or a rule about who is sent to and when,',
};

function changed(input: InputFile, what: string, since: string): Diagnostic {
  if (input.role === 'day') {
    const message = `The day from which dates in \`recipients.where\` count ${what} since ${since}: ${input.file}.`;
    return problem('input-changed', message);
  }
  const name = NAMES[input.role];
  return problem('input-changed', `${name ?? `The ${input.role} file`} ${what} since ${since}.`, {
    at: { file: input.file },
  });
}
