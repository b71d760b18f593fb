import type {
  Budget,
  Channel,
  CharacterSet,
  ColumnContract,
  ColumnType,
  DeliveryState,
  EventField,
  FollowUp,
  HmacScheme,
  JsonObject,
  KeySource,
  ListEncoding,
  ListSpec,
  PlainKeys,
  ReplyRules,
  Scheme,
  SenderRule,
  Variables,
  WinnerMetric,
  Wire,
} from '../model.ts';

/** A campaign file as it was written: it has passed the schema, and nothing more is known of it. */
export interface CampaignFile extends StepFile, WrittenKeys {
  readonly name: string;
  readonly id?: string;
  readonly locale?: string;
  readonly timeZone?: string;
  readonly validity?: string;
  readonly variants?: readonly VariantFile[];
  readonly holdout?: string;
  readonly test?: string | { readonly share: string; readonly by?: 'manual' };
  readonly winner?: string | WinnerFile;
  readonly seed?: string;
  readonly fallback?: FallbackFile | readonly FallbackFile[];
  readonly recipientMetaData?: Readonly<Record<string, string>>;
  readonly recipients: string | RecipientsFile | readonly InlineRow[];
  readonly send?: SendFile;
  readonly limits?: LimitsFile;
  readonly suppressions?: string | readonly string[];
  readonly exclude?: string | readonly string[];
  readonly after?: FollowUpFile;
  readonly frequency?: 'exempt' | 'none' | FrequencyFile | readonly FrequencyFile[];
  readonly schedule?: ScheduleFile;
}

type WrittenKeys = { readonly [K in keyof PlainKeys]?: Exclude<PlainKeys[K], null> };

/** What a campaign, a variant and a fallback can say about a message. */
export interface StepFile {
  readonly channel?: Channel;
  readonly from?: string;
  readonly characterSet?: CharacterSet;
  readonly transliterate?: boolean;
  readonly template?: string | TemplateFile;
  readonly variables?: Variables<string>;
  readonly content?: JsonObject;
}

interface VariantFile extends Omit<StepFile, 'channel'> {
  readonly name?: string;
  readonly weight?: number;
  readonly where?: RecipientsFile['where'];
}

export interface FallbackFile extends StepFile {
  readonly to?: string;
}

interface TemplateFile {
  readonly file?: string;
  readonly text?: string;
  readonly id?: string;
  readonly needs?: readonly string[];
}

/** A recipient that is listed in the campaign: names of columns with their values. */
export type InlineRow = Readonly<Record<string, string | number | boolean>>;

export interface RecipientsFile {
  readonly csv?: string;
  readonly list?: readonly InlineRow[];
  readonly contacts?: readonly string[];
  readonly to?: string;
  readonly contact?: string;
  readonly key?: string | readonly string[];
  readonly headerRow?: number;
  readonly duplicates?: 'refuse' | 'skip' | 'keep';
  readonly defaultCountry?: string;
  readonly timeZone?: string;
  readonly delimiter?: string;
  readonly encoding?: ListEncoding;
  readonly escaped?: boolean;
  readonly columns?: Readonly<Record<string, ColumnType | Partial<ColumnContract>>>;
  readonly sample?: string;
  readonly where?: JsonObject;
  readonly onInvalid?: 'refuse' | 'skip';
  readonly alsoInvalid?: ListSpec['alsoInvalid'];
  readonly maxAge?: string;
}

export interface SendFile {
  readonly concurrency?: number;
  readonly rate?: string;
  readonly attempts?: number;
  readonly timeout?: string;
  readonly recipientsPerRequest?: number;
  readonly window?: 'none' | 'always' | WindowFile;
  readonly notAfter?: string;
  readonly canary?: 'none' | number | string | readonly (number | string)[] | CanaryFile;
}

interface WinnerFile {
  readonly by?: 'manual' | WinnerMetric;
  readonly variant?: string;
  readonly wait?: string;
  readonly tie?: 'first' | 'none';
  readonly minimum?: number;
}

export interface WindowFile extends Partial<HoursFile> {
  readonly timeZone?: string;
  readonly unknown?: string;
  readonly countries?: boolean;
}

/** Hours of some days, in wall time. */
export interface HoursFile {
  readonly from: string;
  readonly to: string;
  readonly days?: 'weekdays' | readonly string[];
  readonly holidays?: readonly string[];
}

export interface CanaryFile {
  readonly steps?: number | string | readonly (number | string)[];
  readonly pause?: string;
  readonly gate?: {
    readonly accepted?: string;
    readonly delivered?: string;
    readonly optedOut?: string;
    readonly wait?: string;
  };
}

interface FrequencyFile {
  readonly max: number;
  readonly per: string;
  readonly of?: 'all' | 'topic';
}

interface LimitsFile {
  readonly minRecipients?: number;
  readonly change?: string;
  readonly maxRecipients?: number;
  readonly maxParts?: number;
  readonly maxCost?: number;
  readonly stopAfter?: { readonly inDoubt?: number | string; readonly rejected?: number | string };
}

interface FollowUpFile {
  readonly campaign?: string;
  readonly wait?: string;
  readonly unless?: FollowUp['unless'][number] | FollowUp['unless'];
}

interface ScheduleFile {
  readonly cron?: string;
  readonly at?: string;
  readonly timeZone?: string;
  readonly missed?: 'catch-up' | 'skip';
}

/** A project file (handbill.yaml) as it was written. */
export interface ProjectFile {
  readonly ledger?: string;
  readonly prices?: string;
  /** By country; over the table that comes with handbill. */
  readonly senders?: Readonly<Record<string, SenderRule>>;
  /** By country, and `other`; over the table that comes with handbill. */
  readonly windows?: Readonly<Record<string, HoursFile | readonly HoursFile[]>>;
  readonly partials?: string;
  readonly suppressions?: string | readonly string[];
  readonly suppressionKey?: KeySource;
  readonly testers?: readonly string[];
  readonly webhook?: { readonly path?: string; readonly replies?: Partial<ReplyRules> };
  readonly defaultCountry?: string;
  readonly locale?: string;
  readonly timeZone?: string;
  readonly defaults?: Partial<
    Omit<
      CampaignFile,
      | 'name'
      | 'id'
      | 'template'
      | 'content'
      | 'variants'
      | 'holdout'
      | 'test'
      | 'winner'
      | 'seed'
      | 'fallback'
      | 'recipients'
      | 'schedule'
      | 'suppressions'
    >
  > & { readonly recipients?: Omit<RecipientsFile, 'csv' | 'sample' | 'list' | 'contacts' | 'columns' | 'where'> };
  readonly environments?: Readonly<Record<string, EnvironmentFile>>;
}

export interface WebhookFile {
  readonly scheme?: Scheme['kind'];
  readonly secrets?: readonly KeySource[];
  readonly tolerance?: string;
  readonly hmac?: Partial<Omit<HmacScheme, 'kind' | 'toleranceMs' | 'timestampHeader' | 'idHeader'>> & {
    readonly timestampHeader?: string;
    readonly idHeader?: string;
  };
  readonly events?: readonly string[];
  readonly fields?: Readonly<Partial<Record<EventField, string | readonly string[]>>>;
  readonly states?: Readonly<Record<string, DeliveryState>>;
  readonly unsupported?: readonly (string | number)[];
}

export interface EnvironmentFile {
  readonly baseUrl: string;
  readonly apiKey: KeySource;
  readonly standsInFor?: string;
  readonly rate?: string;
  readonly concurrency?: number;
  readonly proxy?: string;
  readonly webhook?: WebhookFile;
  readonly wire?: WireFile;
  readonly approvers?: SignersFile;
  readonly approvals?: number;
  readonly planners?: SignersFile;
  readonly standingApprovals?: { readonly longest?: string; readonly folder?: string };
  readonly countries?: readonly string[];
  readonly budget?: { readonly max: number; readonly per: Budget['per'] };
  readonly only?: string | readonly string[];
  readonly redirect?: string | readonly string[];
  readonly git?: { readonly clean?: boolean; readonly branch?: string | readonly string[] };
}

/** Who may sign: named here, or in a file. */
export type SignersFile = readonly { readonly name?: string; readonly key?: string }[] | { readonly file?: string };

export interface WireFile {
  readonly channels?: Partial<Record<Channel, string>>;
  readonly characterSets?: Partial<Record<CharacterSet, string>>;
  readonly messageTypes?: Readonly<Record<string, string>>;
  readonly msisdn?: Wire['msisdn'];
  readonly emailField?: string;
  readonly content?: string | Partial<Record<Channel, string>>;
  readonly contentNames?: Readonly<Record<string, string>>;
  readonly referenceName?: string;
  readonly validityDigits?: number;
  readonly response?: Partial<Omit<Wire['response'], 'messageIdRequired' | 'recipientStatus'>> & {
    readonly recipientStatus?: Partial<Wire['response']['recipientStatus']>;
  };
  readonly unsupportedChannel?: Partial<Wire['unsupportedChannel']>;
  readonly tooLargeStatuses?: readonly number[];
  readonly retryStatuses?: readonly number[];
  readonly idempotencyHeader?: string;
}
