import type { CampaignSchema, ProjectSchema, ProviderSchema } from './schema-types.d.ts';

export type Mapping<T> = Exclude<T, string | number | readonly unknown[] | undefined>;

/** As written: it has passed the schema only. */
export type CampaignFile = CampaignSchema;
export type StepFile = Omit<FallbackFile, 'to'>;
/** The campaign's own, or a variant's. */
export type MessageFile = StepFile & Pick<CampaignFile, 'locale' | 'fallback'>;
export type FallbackFile = Mapping<CampaignFile['fallback']>;
export type RecipientsFile = Mapping<CampaignFile['recipients']>;
export type WindowFile = Mapping<NonNullable<CampaignFile['send']>['window']>;
export type ProjectFile = ProjectSchema;
export type ProviderFile = ProviderSchema;
/** Wall time. */
export type HoursFile = Mapping<NonNullable<ProjectFile['windows']>[string]>;
export type EnvironmentFile = NonNullable<NonNullable<ProjectFile['environments']>[string]>;
export type WebhookFile = NonNullable<EnvironmentFile['webhook']>;
export type SignersFile = NonNullable<EnvironmentFile['approvers']>;
export type WireFile = NonNullable<EnvironmentFile['wire']>;
