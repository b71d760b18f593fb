import { resolve } from 'node:path';
import type { Code, Diagnostic } from '../errors.ts';
import type { Approval, Signer, SignerSource } from '../model.ts';
import { readSshKey } from '../util/ssh-key.ts';
import type { EnvironmentFile, SignersFile } from './written.ts';

/** Where something of the environment is written. */
export type WhereOf = (path: readonly (string | number)[]) => Pick<Diagnostic, 'at' | 'source'>;

type Report = (path: readonly (string | number)[], code: Code, message: string, hint: string) => void;

/**
 * The rule of an environment about who must have signed its plans; null where it has none. It is in handbill.yaml
 * alone, never in a campaign, which would name its own approvers.
 */
export function readApproval(
  written: Pick<Partial<EnvironmentFile>, 'approvers' | 'approvals' | 'planners'>,
  folder: string,
  whereOf: WhereOf,
  report: Report,
): Approval | null {
  const { approvers, approvals = 1, planners } = written;
  if (approvers === undefined) {
    for (const key of ['approvals', 'planners'] as const) {
      if (written[key] === undefined) continue;
      report([key], 'missing-key', `"${key}" says nothing without "approvers".`, 'Add "approvers", or leave it out.');
    }
    return null;
  }
  const signersOf = (from: SignersFile, key: 'approvers' | 'planners'): SignerSource =>
    // As a key file it may lie outside the project, where a commit cannot change it. It is read when it is needed.
    isList(from)
      ? signersIn(from, key, report)
      : { file: resolve(folder, from.file ?? ''), where: whereOf([key, 'file']) };
  const read = {
    approvers: signersOf(approvers, 'approvers'),
    planners: planners === undefined ? null : signersOf(planners, 'planners'),
    approvals,
  };
  const isWhole =
    !isList(approvers) || ('signers' in read.approvers && read.approvers.signers.length === approvers.length);
  if (isWhole && !canBeMet(read)) {
    const message = `Fewer people than the plans need are named: ${approvals} to approve, and one more who plans.`;
    report(['approvers'], 'invalid-value', message, 'Name more people here, or those who plan under "planners".');
  }
  return read;
}

function signersIn(written: SignerList, key: 'approvers' | 'planners', report: Report): SignerSource {
  const signers = written.flatMap(({ name, key: line }, index): readonly Signer[] => {
    // What the schema has refused is not there.
    if (name === undefined || line === undefined) return [];
    const hint = 'Write type and base64 as in the .pub file: ssh-ed25519 AAAA...';
    const read = readSshKey(line);
    if ('problem' in read) {
      report([key, index, 'key'], 'invalid-value', read.problem, hint);
      return [];
    }
    if (read.isCertificate) {
      const message = 'This is a certificate, which expires. Put authorities into a file.';
      report([key, index, 'key'], 'invalid-value', message, hint);
      return [];
    }
    const limits = { authority: false, validAfter: null, validBefore: null, namespaces: null };
    return [{ names: [name], key: read.text, ...limits }];
  });
  return { signers };
}

/** Files are read when they are needed; people named here can be counted now. Several keys of one name are one. */
function canBeMet({ approvers, planners, approvals }: Approval): boolean {
  if ('file' in approvers) return true;
  const approve = namesOf(approvers.signers);
  if (approve.size < approvals) return false;
  if (planners !== null && 'file' in planners) return true;
  const all = new Set([...approve, ...namesOf(planners?.signers ?? [])]);
  return all.size > approvals;
}

function namesOf(signers: readonly Signer[]): ReadonlySet<string> {
  return new Set(signers.flatMap(({ names }) => names.map((name) => name.toLowerCase())));
}

type SignerList = Extract<SignersFile, readonly unknown[]>;

function isList(written: SignersFile): written is SignerList {
  return Array.isArray(written);
}
