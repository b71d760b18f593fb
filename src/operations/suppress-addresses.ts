import type { ProjectReading } from '../campaign/project.ts';
import { type Diagnostic, EXIT, HandbillError, problem, refuse } from '../errors.ts';
import type { AddressKind, Project } from '../model.ts';
import { otherKeyProblem } from '../plan/suppression.ts';
import { type AddressProblem, createAddressReader } from '../recipients/address.ts';
import { listedForm } from '../suppression/form.ts';
import { type Hasher, readHash, readHasher, type WrittenHash } from '../suppression/hash.ts';
import { mask } from '../util/mask.ts';
import type { Settled } from './options.ts';

/** What was named on a command line, each once, in the form in which it is compared. */
export interface NamedAddresses {
  readonly addresses: readonly string[];
  readonly hashes: readonly WrittenHash[];
}

/**
 * Reads addresses and hashes in any notation; all invalid ones are refused at once.
 *
 * @throws HandbillError exit 2
 */
export function readAddresses(raw: readonly string[], defaultCountry: string | null): NamedAddresses {
  const named = readEach(raw, defaultCountry);
  const addresses = new Set(named.flatMap((one) => ('address' in one ? [one.address] : [])));
  const hashes = new Map(named.flatMap((one) => ('hash' in one ? [[one.hash.hash, one.hash] as const] : [])));
  return { addresses: [...addresses], hashes: [...hashes.values()] };
}

/** One of those that were named, as it was given and in the form in which it is compared. */
export type Named = { readonly given: string } & ({ readonly address: string } | { readonly hash: WrittenHash });

/**
 * As `readAddresses`, each in its place.
 *
 * @throws HandbillError exit 2
 */
export function readEach(raw: readonly string[], defaultCountry: string | null): readonly Named[] {
  const number = createAddressReader('msisdn', defaultCountry);
  const email = createAddressReader('email', null);
  const contact = createAddressReader('contact', null);
  const wrong: Diagnostic[] = [];
  const named: Named[] = [];
  for (const given of raw) {
    const hash = readHash(given);
    if (hash !== null) {
      named.push({ given, hash });
      continue;
    }
    const kind = kindAsWritten(given);
    const read = { msisdn: number, email, contact }[kind];
    const found = read(kind === 'contact' ? given.slice(CONTACT.length) : given);
    if ('problem' in found) wrong.push(noAddress(given, kind, found));
    else named.push({ given, address: listedForm(found.to) });
  }
  if (wrong.length > 0) throw new HandbillError(EXIT.refused, wrong);
  return named;
}

const CONTACT = 'contact:';

function kindAsWritten(text: string): AddressKind {
  if (text.startsWith(CONTACT)) return 'contact';
  return text.includes('@') ? 'email' : 'msisdn';
}

function noAddress(text: string, kind: AddressKind, { problem: why, hint }: AddressProblem): Diagnostic {
  const advice = hint ?? 'Write it with + and the country code, such as +447700900123.';
  const usable =
    kind === 'msisdn' ? advice.replace('`recipients.defaultCountry`', '`defaultCountry` in handbill.yaml') : hint;
  return problem('invalid-address', `"${mask(text)}" ${why}.`, usable === undefined ? {} : { hint: usable });
}

/** The country of numbers on a command line: what the project says, else what it says for its lists. */
export function countryOf({ project, written }: Pick<ProjectReading, 'project' | 'written'>): string | null {
  return project.defaultCountry ?? written.defaults?.recipients?.defaultCountry ?? null;
}

/**
 * The hasher of the project.
 *
 * @throws HandbillError exit 2: its key is not there
 */
export async function hasherOf(project: Project, context: Pick<Settled, 'env'>): Promise<Hasher> {
  const reading = await readHasher(project.suppressionKey, context.env, project.root);
  if ('problem' in reading) throw refuse(reading.problem);
  return reading.hasher;
}

/**
 * Refuses hashes that this project could not compare with any address.
 *
 * @throws HandbillError exit 2
 */
export async function checkHashes(
  hashes: readonly WrittenHash[],
  project: Project,
  context: Pick<Settled, 'env'>,
): Promise<void> {
  if (hashes.length === 0) return;
  const hasher = await hasherOf(project, context);
  const other = hashes.find(({ keyId }) => keyId !== hasher.keyId);
  if (other !== undefined)
    throw refuse(otherKeyProblem(other.keyId, hasher, { file: project.file ?? 'handbill.yaml' }));
}
