import type { Campaign, Leg, LegMessage } from '../model.ts';

/** The leg that a message was written for. */
export function legsOf(campaign: Campaign): (message: LegMessage, variant: string | null) => Leg {
  const variants = new Map(campaign.variants.map(({ name, leg }) => [name, leg]));
  const fallbacks = new Map(campaign.fallbacks.map((leg) => [leg.channel, leg]));
  return ({ leg, channel }, variant) => {
    if (leg > 0) return fallbacks.get(channel) ?? campaign;
    return (variant === null ? undefined : variants.get(variant)) ?? campaign;
  };
}
