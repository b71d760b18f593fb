import { type SignOptions, signBytes } from '../approval/sign.ts';
import { MAX_SIGNATURES, readSignature } from '../approval/signature.ts';
import { problem, refuse } from '../errors.ts';
import { type SealedPlan, signedBytes } from '../plan/seal.ts';

/**
 * Adds a signature to a plan; one that the same key has made before is replaced.
 *
 * @param key - a private key, or a public key whose private half is in ssh-agent; default: HANDBILL_SIGNING_KEY
 * @throws HandbillError exit 2 where there is no key, or it cannot be used
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
