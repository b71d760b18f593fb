import { hash } from 'node:crypto';
import type { Channel } from '../model.ts';
import { createPrefixHasher } from '../util/prefix-hash.ts';

/** Six bits each of what SHA-256 begins with: 132 bits. */
const CHARACTERS = 22;

/**
 * handbill's own id for (environment, campaign, occurrence, recipient key, channel): 22 characters that are safe in a
 * header, a URL and JSON. Never derived from content, so that a corrected template cannot make a recipient look new;
 * 128 bits of SHA-256, so that two recipients never share one.
 */
export function createReference(
  identity: { readonly environment: string; readonly campaign: string; readonly occurrence: string },
  channel: Channel,
): (key: string) => string {
  const prefix = `${JSON.stringify([identity.environment, identity.campaign, identity.occurrence, channel])}\n`;
  const begun = createPrefixHasher(prefix);
  return (key) => begun(key) ?? hash('sha256', prefix + key, 'base64url').slice(0, CHARACTERS);
}

/** As `createReference`, for legs on any channel. */
export function createReferences(
  identity: Parameters<typeof createReference>[0],
): (key: string, channel: Channel) => string {
  const byChannel = new Map<Channel, (key: string) => string>();
  return (key, channel) => {
    let referenceOf = byChannel.get(channel);
    if (referenceOf === undefined) {
      referenceOf = createReference(identity, channel);
      byChannel.set(channel, referenceOf);
    }
    return referenceOf(key);
  };
}
