import type { Channel } from '../content/channels.ts';
import type { CharacterSet } from '../content/sms-parts.ts';
import type { Json, JsonObject } from '../util/json.ts';

/** How one messaging API is spoken to: a provider file, with its defaults (schemas/provider.schema.json). */
export interface Provider {
  /** `twilio`, or the path of the project's own file. */
  readonly name: string;
  readonly title: string;
  /** The file of the project, an input of its messages; null: it comes with handbill. */
  readonly input: { readonly role: 'provider'; readonly file: string; readonly sha256: string } | null;
  readonly vars: Readonly<Record<string, ValueSpec>>;
  readonly secrets: Readonly<Record<string, ValueSpec>>;
  /** With `{var.NAME}` and `{baseUrl}`. */
  readonly url: string;
  readonly auth:
    | { readonly basic: readonly [user: string, password: string] }
    | { readonly header: Readonly<Record<string, string>> }
    | {
        readonly jwt: {
          readonly alg: 'HS256';
          readonly key: string;
          readonly claims: Readonly<Record<string, string>>;
        };
      }
    | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly msisdn: NumberForm;
  readonly channels: Readonly<Partial<Record<Channel, string>>>;
  /** Null: the provider has no word, and nothing is sent; for `auto`: the word of the text. */
  readonly characterSets: Readonly<Record<CharacterSet, string | null>>;
  readonly messageTypes: Readonly<Record<string, string>>;
  /** By the `from` of campaigns. */
  readonly senders: Readonly<Record<string, string>>;
  readonly alphanumericReference: boolean;
  readonly requests: readonly RequestFile[];
  readonly limits: Limits;
  /** Placeholders that must have a value: `{from|var.service}`. */
  readonly needs: readonly string[];
}

export interface ValueSpec {
  readonly description: string;
  readonly example: string | null;
  readonly optional: boolean;
}

/** `e164` keeps the `+`, `digits` has none, `00` has that instead. */
export type NumberForm = 'e164' | 'digits' | '00';
export type AddressForm = 'msisdn' | 'email' | 'contact';

export interface RequestFile {
  /** Null: all of the provider. */
  readonly channels: readonly Channel[] | null;
  readonly kind: 'text' | 'template' | null;
  /** Null: numbers and email addresses. */
  readonly address: AddressForm | null;
  readonly url: string | null;
  readonly body: { readonly json: JsonObject | readonly Json[] } | { readonly form: JsonObject };
}

export interface AnswerRule {
  /** Null: complete answers of 2xx and 4xx. */
  readonly statuses: readonly number[] | null;
  readonly codeAt: string | null;
  readonly codes: readonly string[];
  readonly textAt: string | null;
  readonly text: string | null;
  readonly verdict: 'accepted' | 'refused' | 'opted-out' | 'unsupported' | 'retry' | 'stop' | 'doubt';
}

export interface Limits {
  readonly recipients: number;
  /** In characters. */
  readonly text: number | null;
  /** In seconds. */
  readonly validity: readonly [shortest: number, longest: number] | null;
}

/** The form for a message; null: the provider has none for it. */
export function requestFor(
  { channels, requests }: Provider,
  channel: Channel,
  kind: 'text' | 'template',
  address: AddressForm,
): RequestFile | null {
  if (channels[channel] === undefined) return null;
  const fits = (request: RequestFile): boolean =>
    (request.channels?.includes(channel) ?? true) &&
    (request.kind ?? kind) === kind &&
    (request.address === null ? address !== 'contact' : request.address === address);
  return requests.find(fits) ?? null;
}
