import { CHANNEL_TABLE } from '../content/channels.ts';
import type { AddressKind, Campaign, Step, StepMessage } from '../model.ts';

/** The step that a message was written for. */
export function channelStepsOf(campaign: Campaign): (message: StepMessage, variant: string | null) => Step {
  const variants = new Map(campaign.variants.map(({ name, step }) => [name, step]));
  const fallbacks = new Map(campaign.fallbacks.map((step) => [step.channel, step]));
  return ({ step, channel }, variant) => {
    if (step > 0) return fallbacks.get(channel) ?? campaign;
    return (variant === null ? undefined : variants.get(variant)) ?? campaign;
  };
}

/** What the addresses of a step are: the list's own, unless a fallback has a column for its channel. */
export function addressKindOf({ recipients }: Campaign, step: Step & { readonly to?: string | null }): AddressKind {
  const hasColumn = typeof step.to === 'string';
  return recipients.kind === 'contact' && !hasColumn ? 'contact' : CHANNEL_TABLE[step.channel].address;
}
