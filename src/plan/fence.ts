import { hash } from 'node:crypto';
import { type Diagnostic, EXIT, HandbillError, problem, warning } from '../errors.ts';
import type { AddressKind, Campaign, Environment, FenceEntry, InputFile, Project, SendRequest } from '../model.ts';
import { ADDRESS_WORDS, addressMessage, createAddressReader } from '../recipients/address.ts';
import { kindOf, listedForm } from '../util/address-form.ts';
import { mask } from '../util/redact.ts';
import { addressKindOf, stepsIn } from './compile.ts';
import { readSuppressionList } from './suppression.ts';

export interface Fence {
  readonly inputs: readonly InputFile[];
  readonly notices: readonly Diagnostic[];
  /** Where messages to addresses of a kind go instead; empty: to their recipients. */
  readonly redirect: ReadonlyMap<AddressKind, string>;
  reaches(to: string): boolean;
  /** Whether all recipients of a finished request may be sent to. It is read from the bytes, not from what made them. */
  holds(request: SendRequest): boolean;
}

/** Null: the environment has neither. Throws HandbillError (exit 2) where an address or file is missing or wrong. */
export async function openFence(environment: Environment, project: FenceProject): Promise<Fence | null> {
  const { identity: name } = environment;
  if (environment.only === null && environment.redirect === null) return null;
  const faults: Diagnostic[] = [];
  const only = environment.only === null ? null : await readOnly(environment.only, name, project, faults);
  const redirect = readRedirect(environment.redirect ?? [], project, faults);
  if (faults.length > 0) throw new HandbillError(EXIT.refused, faults);
  const targets = new Set([...redirect.values()].map(listedForm));
  const isAllowed = (to: string): boolean => only === null || only.has(listedForm(to));
  const notices: Diagnostic[] = [];
  if (only !== null) {
    const who = only.size === 1 ? '1 address' : `${only.size} addresses`;
    const message = `${name} sends to ${who} only (\`only\`); other recipients are skipped as \`fenced\`.`;
    notices.push(warning('fence', message));
  }
  if (redirect.size > 0) {
    const addresses = [...redirect.values()].map(mask).join(' or ');
    notices.push(warning('fence', `${name} sends every message to ${addresses} instead (\`redirect\`).`));
  }
  return {
    inputs: [
      ...(only === null ? [] : [inputOf('fence', `environments.${name}.only`, [...only].sort().join('\n'))]),
      ...[...redirect].map(([kind, to]) =>
        inputOf('redirect', `environments.${name}.redirect (${kind})`, listedForm(to)),
      ),
    ],
    notices,
    redirect,
    reaches: isAllowed,
    holds({ form, body }) {
      const found = form.addressesIn(body);
      return found.length > 0 && found.every((to) => (targets.size > 0 ? targets.has(listedForm(to)) : isAllowed(to)));
    },
  };
}

/** As far as they can be read: a send reports their errors. */
export async function fenceNotes(project: Pick<Project, 'environments'> & FenceProject): Promise<readonly string[]> {
  const notes: string[] = [];
  for (const environment of project.environments.values()) {
    try {
      const fence = await openFence(environment, project);
      notes.push(...(fence?.notices ?? []).map(({ message }) => message));
    } catch (error) {
      if (!(error instanceof HandbillError)) throw error;
    }
  }
  return notes;
}

type FenceProject = Pick<Project, 'defaultCountry' | 'timeZone'>;

function inputOf(role: InputFile['role'], file: string, text: string): InputFile {
  return { role, file, sha256: hash('sha256', text, 'hex') };
}

async function readOnly(
  entries: readonly FenceEntry[],
  name: string,
  { defaultCountry, timeZone }: FenceProject,
  faults: Diagnostic[],
): Promise<ReadonlySet<string>> {
  const addresses = new Set<string>();
  for (const entry of entries) {
    if (entry.path === null) {
      const read = addressOf(entry, 'only', defaultCountry);
      if ('to' in read) addresses.add(listedForm(read.to));
      else faults.push(read);
      continue;
    }
    const before = addresses.size;
    const source = { path: entry.path, file: entry.text, defaultCountry, timeZone };
    const wrong = new Set<number>();
    const { diagnostics } = await readSuppressionList(source, {
      address(form, untilMs, _reason, line) {
        if (untilMs === null) addresses.add(form);
        else wrong.add(line);
      },
      hash: (_written, _untilMs, _reason, line) => wrong.add(line),
    });
    // The reader of suppression lists names the setting of those. What is about no line is about the name of the file.
    for (const { hint, ...rest } of diagnostics) {
      const placed = rest.at?.line === undefined ? { ...rest, ...entry.where } : rest;
      faults.push({ ...placed, hint: hint?.replace('`suppressions`', '`only`') });
    }
    for (const line of wrong) faults.push(problem('fence', UNUSABLE, { at: { file: entry.text, line }, hint: USABLE }));
    if (addresses.size > before || diagnostics.length > 0 || wrong.size > 0) continue;
    const message = `${entry.text} holds no address, so that ${name} could send to no recipient of it.`;
    const hint = 'Add the addresses that may be sent to; without `only` all recipients are sent to.';
    faults.push(problem('fence', message, { ...entry.where, hint }));
  }
  return addresses;
}

function readRedirect(
  entries: readonly FenceEntry[],
  { defaultCountry }: FenceProject,
  faults: Diagnostic[],
): ReadonlyMap<AddressKind, string> {
  const redirect = new Map<AddressKind, string>();
  for (const entry of entries) {
    const read = addressOf(entry, 'redirect', defaultCountry);
    if (!('to' in read)) faults.push(read);
    else if (redirect.has(read.kind)) {
      const message = `\`redirect\` has two ${ADDRESS_WORDS[read.kind].many}.`;
      faults.push(problem('fence', message, { ...entry.where, hint: 'Keep one of each kind.' }));
    } else redirect.set(read.kind, read.to);
  }
  return redirect;
}

export function redirectFaults(
  campaign: Campaign,
  { name, redirect }: Environment,
  fence: Fence | null,
): readonly Diagnostic[] {
  if (fence === null || fence.redirect.size === 0) return [];
  const kinds = new Set(stepsIn(campaign).map((step) => addressKindOf(campaign, step)));
  return [...kinds].flatMap((kind) => {
    if (fence.redirect.has(kind)) return [];
    const message = `${name} has no address to redirect ${ADDRESS_WORDS[kind].many} to, which this campaign is sent to.`;
    const where = redirect?.[0]?.where ?? { at: { file: campaign.file } };
    return [problem('fence', message, { ...where, hint: `Add one to \`redirect\`, for ${campaign.file}.` })];
  });
}

/** The beginning of a redirected message. Round brackets are in every character set of SMS. */
export function redirectMark(to: string): string {
  return `(for ${to}) `;
}

const UNUSABLE = 'The row has a hash or an end (`until`), which a list of the only addresses cannot have.';
const USABLE = 'Write the address itself, and remove the row when its time is over.';

function addressOf(
  { text, where }: FenceEntry,
  key: string,
  defaultCountry: string | null,
): { readonly kind: AddressKind; readonly to: string } | Diagnostic {
  const kind: AddressKind = text.startsWith('contact:') ? 'contact' : kindOf(text);
  const read = createAddressReader(kind, defaultCountry)(kind === 'contact' ? text.replace(/^contact:/, '') : text);
  if (!('problem' in read)) return { kind, to: read.to };
  const message = addressMessage(kind, key, text, read);
  return problem('invalid-address', message, { ...where, hint: read.hint });
}
