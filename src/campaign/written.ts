import type { CampaignSchema, ProjectSchema } from './schema-types.d.ts';

/** Of what can be written in several ways, the mapping. */
export type Mapping<T> = Exclude<T, string | number | readonly unknown[] | undefined>;

/** A campaign file as it was written: it has passed the schema, and nothing more is known of it. */
export type CampaignFile = CampaignSchema;
/** What a campaign, a variant and a fallback can say about a message. */
export type StepFile = Omit<FallbackFile, 'to'>;
export type FallbackFile = Mapping<CampaignFile['fallback']>;
export type RecipientsFile = Mapping<CampaignFile['recipients']>;
export type SendFile = NonNullable<CampaignFile['send']>;
export type WindowFile = Mapping<SendFile['window']>;

/** A project file (handbill.yaml) as it was written. */
export type ProjectFile = ProjectSchema;
/** Hours of some days, in wall time. */
export type HoursFile = Mapping<NonNullable<ProjectFile['windows']>[string]>;
export type EnvironmentFile = NonNullable<NonNullable<ProjectFile['environments']>[string]>;
export type WebhookFile = NonNullable<EnvironmentFile['webhook']>;
/** Who may sign: named here, or in a file. */
export type SignersFile = NonNullable<EnvironmentFile['approvers']>;
export type WireFile = NonNullable<EnvironmentFile['wire']>;
