import { hash } from 'node:crypto';
import type { Channel } from '../model.ts';
import { isTest } from '../util/occurrence-name.ts';

/** Six bits each of what SHA-256 begins with: 132 bits. */
const CHARACTERS = 22;
/** Readers of the provider's log see that it is a test. */
const TEST_MARK = 'test-';

/**
 * 22 characters that are safe in a header, a URL and JSON: 128 bits of SHA-256, never of content, so that a corrected
 * template cannot make a recipient look new. That of a test begins with `test-`.
 *
 * @param resend - messages to earlier addresses: a corrected address gets another reference, or the API may drop it
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
