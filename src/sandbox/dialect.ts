import type { Message, MessageFault } from './message.ts';
import type { DialectName } from './openapi.ts';

/** The form of requests and answers, where the API's document is silent. */
export interface Dialect {
  readonly name: DialectName;
  /** In a word, for `GET /sandbox`. */
  readonly says: string;
  /** Schema of the OpenAPI description that requests must fit. */
  readonly request: 'Message' | 'PerRecipientMessage';
  /** Status where a message is taken. */
  readonly acceptedStatus: number;
  /** Status where the body is JSON, but not a message. */
  readonly invalidStatus: number;
  /** Status where the recipient's device does not take the channel. */
  readonly unsupportedStatus: number;
  /**
   * When a success response can refuse a recipient: if there are several, always, or never. Otherwise the whole request
   * is refused.
   */
  readonly results: 'several' | 'always' | 'never';
  /** JSON of an answer of success; `refusals` by position of the recipient. */
  readonly accepted: (id: string, message: Message, refusals: Refusals) => string;
  readonly errorType: string;
  /** JSON of an answer of failure. */
  readonly error: (status: number, rest: ErrorRest) => string;
}

/** Why one recipient is not taken. */
export interface Refusal {
  readonly status: number;
  /** In small letters and hyphens; dialects have their own forms of it. */
  readonly code: string;
  readonly detail: string;
  /** Ending that asked for it; null without one. */
  readonly digits: string | null;
}

export type Refusals = ReadonlyMap<number, Refusal>;

/** No recipient is refused. */
export const NO_REFUSALS: Refusals = new Map();

export interface ErrorRest {
  readonly detail: string;
  readonly code?: string;
  readonly errors?: readonly MessageFault[];
}

/** The code of a refusal because of the recipient's device. */
export const UNSUPPORTED = 'channel-not-supported';
