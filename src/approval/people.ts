import type { Signer } from '../model.ts';
import { readSshKey } from '../util/ssh-key.ts';

/**
 * Tells people apart. Entries that share a name or a key are one person, however many keys and names they have: otherwise
 * a person with two keys could approve what they planned themselves. Letter case does not make another name.
 *
 * @param signers - all who may sign, in whatever role
 * @returns the person behind a signature, by its names and the id of its key; the same text for the same person
 */
export function tellApart(
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
