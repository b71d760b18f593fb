import type { Channel, CharacterSet, JsonObject, KeySource, ListEncoding } from '../model.ts';

/** A campaign file as it was written: it has passed the schema, and nothing more is known of it. */
export interface CampaignFile {
  readonly name: string;
  readonly channel: Channel;
  readonly from?: string;
  readonly accountReference?: string;
  readonly messageType?: string;
  readonly characterSet?: CharacterSet;
  readonly transliterate?: boolean;
  readonly locale?: string;
  readonly timeZone?: string;
  readonly validity?: string;
  readonly metaData?: JsonObject;
  readonly template: string | TemplateFile;
  readonly variables?: Readonly<Record<string, string>>;
  readonly recipientMetaData?: Readonly<Record<string, string>>;
  readonly recipients: string | RecipientsFile;
  readonly send?: SendFile;
  readonly limits?: LimitsFile;
}

export interface TemplateFile {
  readonly file?: string;
  readonly text?: string;
  readonly id?: string;
}

export interface RecipientsFile {
  readonly csv: string;
  readonly to?: string;
  readonly key?: string;
  readonly defaultCountry?: string;
  readonly delimiter?: string;
  readonly encoding?: ListEncoding;
  readonly onInvalid?: 'refuse' | 'skip';
}

export interface SendFile {
  readonly concurrency?: number;
  readonly rate?: string;
  readonly attempts?: number;
  readonly timeout?: string;
  readonly notAfter?: string;
}

export interface LimitsFile {
  readonly maxRecipients?: number;
  readonly maxParts?: number;
  readonly maxCost?: number;
  readonly stopAfter?: { readonly inDoubt?: number | string; readonly rejected?: number | string };
}

/** A project file (handbill.yaml) as it was written. */
export interface ProjectFile {
  readonly ledger?: string;
  readonly prices?: string;
  readonly partials?: string;
  readonly locale?: string;
  readonly timeZone?: string;
  readonly defaults?: Partial<Omit<CampaignFile, 'name' | 'template' | 'recipients'>> & {
    readonly recipients?: Partial<Omit<RecipientsFile, 'csv'>>;
  };
  readonly environments?: Readonly<Record<string, EnvironmentFile>>;
}

export interface EnvironmentFile {
  readonly baseUrl: string;
  readonly apiKey: KeySource;
  readonly rate?: string;
  readonly concurrency?: number;
  readonly proxy?: string;
  readonly wire?: WireFile;
}

export interface WireFile {
  readonly channels?: Partial<Record<Channel, string>>;
  readonly characterSets?: Partial<Record<CharacterSet, string>>;
  readonly response?: {
    readonly messageId?: readonly string[];
    readonly error?: readonly string[];
    readonly failed?: readonly string[];
    readonly accept?: 'json' | 'any';
  };
  readonly retryStatuses?: readonly number[];
  readonly idempotencyHeader?: string;
}
