import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { builtIn } from '../../src/campaign/read-provider.ts';
import type { Channel } from '../../src/model.ts';
import type { AddressForm, Provider } from '../../src/providers/provider.ts';
import type { Json, JsonObject } from '../../src/util/json.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'src', 'providers');

/** `NAME.examples.yaml`, as it is written. */
export interface Examples {
  readonly now?: string;
  readonly callback?: string;
  readonly vars?: Readonly<Record<string, string>>;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly accepts?: Accepts;
  readonly requests: readonly RequestExample[];
  readonly answers: readonly AnswerExample[];
  readonly webhooks: readonly WebhookExample[];
  readonly fetches?: readonly FetchExample[];
}

/** A page of a list of the provider file, in the order in which handbill asks for them. */
export interface FetchExample {
  readonly about: string;
  /** Its index in `reports.fetch`. */
  readonly list: number;
  readonly url: string;
  readonly page: JsonObject;
  readonly then: WebhookThen | readonly WebhookThen[];
}

export interface WebhookExample {
  readonly about: string;
  readonly form?: Readonly<Record<string, string>>;
  readonly json?: JsonObject;
  readonly query?: Readonly<Record<string, string>>;
  readonly then: WebhookThen | readonly WebhookThen[];
}

/** A report or a reply, as people would write it. */
export interface WebhookThen {
  readonly state?: string;
  readonly reference?: string;
  readonly messageId?: string;
  readonly to?: string;
  readonly timestamp?: string | null;
  readonly cause?: string | null;
  readonly optsOut?: boolean;
  readonly challenge?: string;
  readonly reply?: {
    readonly from: string;
    readonly to?: string;
    readonly text: string;
    readonly meaning: string;
    readonly reference?: string;
    readonly inReplyTo?: string;
    readonly timestamp?: string | null;
  };
}

/** What tests read of the JSON Schema of the bodies that the API takes. */
export interface Accepts {
  readonly type?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Accepts>>;
  readonly additionalProperties?: boolean | Accepts;
  readonly items?: Accepts;
  readonly anyOf?: readonly Accepts[];
}

export interface AnswerExample {
  readonly about: string;
  readonly recipients?: readonly string[];
  readonly references?: readonly string[];
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Json;
  readonly text?: string;
  readonly then: string | readonly string[];
  readonly messageId?: string | null | readonly (string | null)[];
}

export interface RequestExample {
  readonly about: string;
  readonly message: {
    readonly channel: Channel;
    readonly from?: string;
    readonly text?: string;
    readonly template?: { readonly id: string };
    readonly variables?: JsonObject;
    readonly content?: JsonObject;
    readonly validForSeconds?: number;
    readonly characterSet?: keyof Provider['characterSets'];
    readonly messageType?: string;
  };
  readonly recipients: readonly { readonly to: string; readonly reference: string; readonly variables?: JsonObject }[];
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Known {
  readonly name: string;
  readonly provider: Provider;
  readonly examples: Examples;
}

export function knownProvider(name: string): Known {
  const examples = parse(readFileSync(join(FOLDER, `${name}.examples.yaml`), 'utf8')) as Examples;
  return { name, provider: builtIn(name).provider, examples };
}

export function addressKind(channel: Channel): AddressForm {
  return channel === 'email' ? 'email' : 'msisdn';
}

export function withoutHeaders({ unsubscribe: _, ...content }: { readonly [key: string]: Json }): JsonObject {
  return content;
}
