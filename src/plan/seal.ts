import { hash } from 'node:crypto';
import { MAX_SIGNATURES } from '../approval/signature.ts';
import { type Diagnostic, problem } from '../errors.ts';
import type { InputFile } from '../model.ts';
import { escapedJson } from '../util/safe.ts';
import type { Estimate } from './estimate.ts';
import { canonical } from './settings.ts';

/** A plan as a file: what was looked at and approved, so that exactly this and nothing else can be sent. */
export interface SealedPlan {
  readonly version: 1;
  readonly campaign: { readonly name: string; readonly file: string };
  readonly environment: string;
  readonly occurrence: string;
  /** A list that was named on the command line, as it was written there; null: the campaign's own. */
  readonly recipients: string | null;
  /** Bad rows were looked at and are to be skipped. */
  readonly skipInvalid: boolean;
  readonly sealedAt: string;
  readonly inputs: readonly InputFile[];
  readonly estimate: Estimate;
  /** SHA-256 over all of the above. */
  readonly seal: string;
  /** SSH signatures of all of the above, the seal included; absent: not signed. */
  readonly signatures?: readonly string[];
}

export function sealPlan(facts: Omit<SealedPlan, 'version' | 'seal' | 'signatures'>): SealedPlan {
  const content = { version: 1 as const, ...facts };
  return { ...content, seal: sealOf(content) };
}

/** Reads a plan file; a diagnostic where it is not one, or was changed after it was sealed. */
export function readSealedPlan(text: string, file: string): SealedPlan | Diagnostic {
  const hint = 'Make it again with `handbill plan CAMPAIGN -o FILE`.';
  const invalid = (message: string): Diagnostic => problem('plan-invalid', message, { at: { file }, hint });
  let plan: unknown;
  try {
    plan = JSON.parse(text);
  } catch {
    return invalid('This is not a plan: it is not JSON.');
  }
  if (!isPlan(plan)) return invalid('This is not a plan that handbill wrote.');
  // What a reader sees in the file must be what is signed: of a duplicate key, the last value would be read.
  if (!isSpelt(plan, withoutSpaces(text))) return invalid('The plan is not spelt as handbill writes it.');
  return isWhole(plan) ? plan : invalid('The plan was changed after it was made.');
}

/** Is the plan what was sealed? */
export function isWhole({ seal, signatures: _, ...content }: SealedPlan): boolean {
  return seal === sealOrNull(content);
}

/** What signatures of a plan are made of: everything in it but themselves, in one spelling. */
export function signedBytes({ signatures: _, ...signed }: SealedPlan): Uint8Array {
  return new TextEncoder().encode(canonical(signed));
}

/** JSON without the spaces between its parts: files may be laid out anew, and lines may end otherwise. */
function withoutSpaces(json: string): string {
  return json.replaceAll(/("(?:[^"\\]|\\.)*")|[ \t\r\n]+/g, '$1');
}

/** As it is written now, or as it was before its strings escaped what a terminal would obey. */
function isSpelt(plan: object, text: string): boolean {
  const plain = textOrNull(plan);
  return plain !== null && (plain === text || escapedJson(plain) === text);
}

/** Null where the plan is nested deeper than the call stack: one that handbill wrote never is. */
function textOrNull(plan: object): string | null {
  try {
    return JSON.stringify(plan);
  } catch {
    return null;
  }
}

/** As `textOrNull`. */
function sealOrNull(content: object): string | null {
  try {
    return sealOf(content);
  } catch {
    return null;
  }
}

function isPlan(value: unknown): value is SealedPlan {
  if (value === null || typeof value !== 'object') return false;
  const plan = value as Partial<Record<keyof SealedPlan, unknown>>;
  const campaign = plan.campaign as Partial<Record<'name' | 'file', unknown>> | null | undefined;
  return (
    plan.version === 1 &&
    typeof campaign?.name === 'string' &&
    typeof campaign.file === 'string' &&
    typeof plan.environment === 'string' &&
    typeof plan.occurrence === 'string' &&
    (plan.recipients === null || typeof plan.recipients === 'string') &&
    typeof plan.skipInvalid === 'boolean' &&
    typeof plan.seal === 'string' &&
    isInstant(plan.sealedAt) &&
    isEstimate(plan.estimate) &&
    areSignatures(plan.signatures) &&
    Array.isArray(plan.inputs) &&
    plan.inputs.every(isInput)
  );
}

/** As `toISOString` writes it. */
function isInstant(value: unknown): boolean {
  return (
    typeof value === 'string' &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value) &&
    !Number.isNaN(Date.parse(value))
  );
}

/** The figures that are shown to approvers; they say nothing about what is sent. */
function isEstimate(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return false;
  const { rows, send, parts, unpriced, costMicros, currency, fallback, waiting } = value as Partial<
    Record<keyof Estimate, unknown>
  >;
  return (
    [rows, send, parts, unpriced].every((figure) => typeof figure === 'number') &&
    (costMicros === null || typeof costMicros === 'number') &&
    (currency === null || typeof currency === 'string') &&
    typeof (fallback ?? null) === 'object' &&
    typeof (waiting ?? null) === 'object'
  );
}

function areSignatures(value: unknown): boolean {
  if (value === undefined) return true;
  return Array.isArray(value) && value.length <= MAX_SIGNATURES && value.every((one) => typeof one === 'string');
}

function isInput(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return false;
  const input = value as Partial<Record<keyof InputFile, unknown>>;
  return [input.role, input.file, input.sha256].every((part) => typeof part === 'string');
}

function sealOf(content: object): string {
  return hash('sha256', canonical(content), 'hex');
}

/** The inputs that differ, each as an error that names the file; empty where nothing changed. */
export function changedInputs(
  before: readonly InputFile[],
  now: readonly InputFile[],
  since: string,
): readonly Diagnostic[] {
  // There is one list and one set of settings: the same bytes may be elsewhere on another machine.
  const id = ({ role, file }: InputFile) => `${role}\n${role === 'settings' || role === 'recipients' ? '' : file}`;
  const old = new Map(before.map((input) => [id(input), input]));
  const found: Diagnostic[] = [];
  for (const input of now) {
    const was = old.get(id(input));
    old.delete(id(input));
    if (was?.sha256 === input.sha256) continue;
    found.push(changed(input, was === undefined ? 'was added' : 'changed', since));
  }
  for (const gone of old.values()) found.push(changed(gone, 'is gone', since));
  return found;
}

function changed(input: InputFile, what: string, since: string): Diagnostic {
  const name = { settings: 'A setting of the environment or the project', recipients: 'The list' }[
    input.role as string
  ];
  return problem('input-changed', `${name ?? `The ${input.role} file`} ${what} since ${since}.`, {
    at: { file: input.file },
  });
}
