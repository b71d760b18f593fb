import { CHANNEL_TABLE } from '../content/channels.ts';
import type { AddressKind, Campaign, Leg, LegMessage } from '../model.ts';

/** The leg that a message was written for. */
export function legsOf(campaign: Campaign): (message: LegMessage, variant: string | null) => Leg {
  const variants = new Map(campaign.variants.map(({ name, leg }) => [name, leg]));
  const fallbacks = new Map(campaign.fallbacks.map((leg) => [leg.channel, leg]));
  return ({ leg, channel }, variant) => {
    if (leg > 0) return fallbacks.get(channel) ?? campaign;
    return (variant === null ? undefined : variants.get(variant)) ?? campaign;
  };
}

/** What the addresses of a leg are: the list's own, unless a fallback has a column for its channel. */
export function addressKindOf({ recipients }: Campaign, leg: Leg & { readonly to?: string | null }): AddressKind {
  const hasColumn = typeof leg.to === 'string';
  return recipients.kind === 'contact' && !hasColumn ? 'contact' : CHANNEL_TABLE[leg.channel].address;
}
