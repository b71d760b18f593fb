import { hash } from 'node:crypto';
import type { Channel } from '../model.ts';
import { isTest } from '../util/occurrence-name.ts';

/** Six bits each of what SHA-256 begins with: 132 bits. */
const CHARACTERS = 22;
/** The beginning of a reference of a message to a tester: readers of the provider's log see that it is a test. */
const TEST_MARK = 'test-';

/**
 * handbill's own id for (environment, campaign, occurrence, recipient key, channel): 22 characters that are safe in a
 * header, a URL and JSON. Never derived from content, so that a corrected template cannot make a recipient look new;
 * 128 bits of SHA-256, so that two recipients never share one. That of a test begins with `test-`.
 *
 * @param resend - how many messages went to earlier addresses of the recipient: a message to a corrected address has
 *   another reference, or an API that knows the first one by it would drop the second
 */
export function createReference(
  identity: { readonly environment: string; readonly campaign: string; readonly occurrence: string },
  channel: Channel,
  resend = 0,
): (key: string) => string {
  const { environment, campaign, occurrence } = identity;
  const parts = [environment, campaign, occurrence, channel, ...(resend === 0 ? [] : [resend])];
  const prefix = `${JSON.stringify(parts)}\n`;
  const referenceOf = (key: string): string => hash('sha256', prefix + key, 'base64url').slice(0, CHARACTERS);
  return isTest(occurrence) ? (key) => `${TEST_MARK}${referenceOf(key)}`.slice(0, CHARACTERS) : referenceOf;
}

/** The reference of a message to a key on a channel; `resend` as for `createReference`. */
export type ReferenceOf = (key: string, channel: Channel, resend?: number) => string;

export function createReferences(identity: Parameters<typeof createReference>[0]): ReferenceOf {
  const byChannel = new Map<Channel, (key: string) => string>();
  return (key, channel, resend = 0) => {
    if (resend > 0) return createReference(identity, channel, resend)(key);
    let referenceOf = byChannel.get(channel);
    if (referenceOf === undefined) {
      referenceOf = createReference(identity, channel);
      byChannel.set(channel, referenceOf);
    }
    return referenceOf(key);
  };
}
