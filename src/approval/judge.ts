import { refuse } from '../errors.ts';
import type { Approval, Signer } from '../model.ts';
import { readSshKey } from '../util/ssh-key.ts';
import { readSignature } from './signature.ts';
import { readSigners, type VerifyOptions, verifySignature } from './verify.ts';

/** A signature that counts. */
export interface Signed {
  /** The first of the signer's names. */
  readonly name: string;
  readonly fingerprint: string;
  readonly role: 'approver' | 'planner';
}

/** The result of checking the signatures of a plan. */
export interface Judgement {
  readonly approved: boolean;
  readonly signed: readonly Signed[];
  /** Why others do not count, a sentence each. */
  readonly refused: readonly string[];
  /** One sentence; empty where no signature is missing. */
  readonly missing: string;
}

type Good = Signed & { readonly names: readonly string[]; readonly keyId: string };

/**
 * As many approvers as the environment asks for must sign, and one more person who may plan. No person counts twice, so enough
 * others than the planner agreed; the role of planner cannot be forged.
 *
 * @param bytes - the signed text
 * @throws HandbillError exit 2 where the file of signers cannot be read, or there is no usable ssh-keygen
 */
export async function judge(
  bytes: Uint8Array,
  signatures: readonly string[],
  rule: Approval,
  options: VerifyOptions,
): Promise<Judgement> {
  const people = await signersOf(rule);
  const good: Good[] = [];
  const refused: string[] = [];
  for (const text of new Set(signatures)) {
    const found = await judgeOne(text, bytes, people, options);
    if (typeof found === 'string') refused.push(`A signature ${found}`);
    else good.push(found);
  }
  const personOf = tellApart([...people.approver, ...people.planner], good);
  const persons = new Map<string, Good>();
  // A person with one approver's signature is an approver, so these come first.
  for (const role of ['approver', 'planner'] as const) {
    for (const one of good.filter((signed) => signed.role === role)) {
      if (!persons.has(personOf(one))) persons.set(personOf(one), one);
    }
  }
  const counted = [...persons.values()];
  const approvers = counted.filter(({ role }) => role === 'approver').length;
  const approved = approvers >= rule.approvals && counted.length > rule.approvals;
  const missing = approved ? '' : missingOf(counted, good.length, rule.approvals);
  const signed = counted.map(({ name, fingerprint, role }) => ({ name, fingerprint, role }));
  return { approved, signed, refused, missing };
}

type People = Readonly<Record<Signed['role'], readonly Signer[]>>;

async function signersOf(rule: Approval): Promise<People> {
  const approvers = await readSigners(rule.approvers);
  const planners = rule.planners === null ? { signers: [], diagnostics: [] } : await readSigners(rule.planners);
  const diagnostics = [...approvers.diagnostics, ...planners.diagnostics];
  if (diagnostics.length > 0) throw refuse(...diagnostics);
  return { approver: approvers.signers, planner: planners.signers };
}

/** Or the rest of a sentence about why it does not count. */
async function judgeOne(
  text: string,
  bytes: Uint8Array,
  people: People,
  options: VerifyOptions,
): Promise<Good | string> {
  const signature = readSignature(text);
  if ('problem' in signature) return signature.problem;
  const { id: keyId, fingerprint } = signature.key;
  let why = '';
  for (const role of ['approver', 'planner'] as const) {
    const verified = await verifySignature(signature, bytes, people[role], options);
    if ('names' in verified) {
      return { name: verified.names[0] ?? '', names: verified.names, fingerprint, role, keyId };
    }
    // A message about a known key is more useful.
    if (why === '' || verified.isKnown) why = verified.problem;
  }
  return `by the key ${fingerprint} does not count: ${why}.`;
}

function missingOf(counted: readonly Signed[], signatures: number, approvals: number): string {
  const needs = approvals === 1 ? 'one approver' : `${approvals} approvers`;
  const rule = `It needs the signatures of the planner and of ${needs}.`;
  if (counted.length === 0) return `It has no valid signature. ${rule}`;
  const names = counted.map(({ name, role }) => (role === 'approver' ? name : `${name} (no approver)`)).join(', ');
  const twice = signatures > counted.length ? ' Several signatures of one person count once.' : '';
  return `Signed so far by ${names}. ${rule}${twice}`;
}

/**
 * Entries that share a name (in any case) or a key are one person: a second key must not approve the plan of the first.
 *
 * @returns the person behind a signature, by its names and the id of its key; the same text for the same person
 */
function tellApart(
  signers: readonly Signer[],
  signatures: readonly { readonly names: readonly string[]; readonly keyId: string }[],
): (signature: { readonly names: readonly string[]; readonly keyId: string }) => string {
  const parents = new Map<string, string>();
  const rootOf = (mark: string): string => {
    let root = mark;
    for (let up = parents.get(root); up !== undefined && up !== root; up = parents.get(root)) root = up;
    return root;
  };
  const join = (marks: readonly string[]): void => {
    const root = rootOf(marks[0] ?? '');
    for (const mark of marks) parents.set(rootOf(mark), root);
  };
  for (const { names, key, authority } of signers) {
    const read = readSshKey(key);
    if (!authority && 'id' in read) join(marksOf(names, read.id));
  }
  for (const { names, keyId } of signatures) join(marksOf(names, keyId));
  return ({ keyId }) => rootOf(`key ${keyId}`);
}

function marksOf(names: readonly string[], keyId: string): readonly string[] {
  return [`key ${keyId}`, ...names.map((name) => `name ${name.toLowerCase()}`)];
}
