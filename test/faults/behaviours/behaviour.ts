import type { Reason } from '../../../src/http/classify.ts';
import type { HaltRule, OutcomeState } from '../../../src/model.ts';
import type { Said } from '../../oracle/receipts.ts';

/**
 * One thing that a server does on a connection, as plain data. In all texts `{ID}` is the message id that this answer
 * gives out, `{PLANTED}` an id that no recipient may ever get, `{ELSEWHERE}` the origin of a second server, and `{KEY}` the
 * API key that the request brought.
 */
export type Step =
  | { readonly write: string }
  /** A proper answer, with its length. */
  | { readonly answer: readonly [status: number, body?: string, headers?: string] }
  /** A 202 whose body is this text, so many times, compressed. */
  | { readonly gzip: string; readonly times?: number }
  /** The same bytes again and again, until the other side has enough. */
  | { readonly drip: string; readonly everyMs: number }
  /** The same bytes as fast as they are taken. */
  | { readonly flood: string }
  /** These bytes one by one. */
  | { readonly bytes: string; readonly everyMs: number }
  | { readonly waitMs: number }
  /** The end of the connection, or a reset. */
  | 'end'
  | 'reset'
  | 'stop reading'
  | 'read on';

/** What is wrong with a whole connection, from its beginning. */
export interface BadConnection {
  /** Played on the bare connection in place of everything else. */
  readonly plays?: readonly Step[];
  /** Shown in place of the good certificate. */
  readonly certificate?: 'elsewhere' | 'expired' | 'untrusted';
  /** Asks for a client certificate and accepts none. */
  readonly clientCertificate?: boolean;
  readonly tls?: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3';
  /** What it plays is the answer to the request that comes afterwards, as far as a client can tell. */
  readonly answersEarly?: boolean;
  /** A kept connection goes right behind an answer, without a word. */
  readonly leaves?: 'end' | 'reset';
  /** How many connections are so; default 1. */
  readonly times?: number;
}

/** What became of the recipient who was hit. */
export interface Ending {
  readonly outcome: OutcomeState;
  readonly reason: Reason | null;
  readonly httpStatus: number | null;
  /** The rule that stops the start by this answer alone. */
  readonly halt: HaltRule | null;
}

/** One named way to misbehave. */
export interface Behaviour {
  readonly name: string;
  /** Rows of the failure model and of the security rules that it plays. */
  readonly rows: readonly string[];
  /**
   * `request`: when the whole request is there. `half`: when half of a large one is there. `connection`: on the next
   * connection.
   */
  readonly at: 'request' | 'half' | 'connection';
  readonly plays: readonly Step[];
  readonly connection?: BadConnection;
  /** How many requests of this recipient are hit; default: all. */
  readonly times?: number;
  /** Status line that reaches the wire whole; null: none does. */
  readonly status: number | null;
  /** What the answer says of the recipient, where the status does not say it. */
  readonly said?: Said;
  /** The answer gives out an id. */
  readonly givesId?: boolean;
  /** What must become of the recipient. Several where an invisible race decides. */
  readonly expected: readonly Ending[];
  /** The same, when no answer of this start was the API's own yet. */
  readonly asFirstAnswer?: readonly Ending[];
  /** Over TLS; with `h2`, HTTP/2 is offered as well. */
  readonly secure?: true | 'h2';
  /** Only the time limit ends it: it is short then. */
  readonly silent?: boolean;
  /**
   * For `half`: how often some 38 KB are in the request. Default: 60, more than the buffers between two processes hold, so
   * that its end was not sent when its middle is read.
   */
  readonly copies?: number;
  /** Requests per second; default: no limit. */
  readonly rate?: number;
  /** Further lines of the environment in handbill.yaml. */
  readonly environment?: string;
  /** Nothing but a status: the tests of all statuses play it too. */
  readonly plain?: boolean;
  /** Statuses that `environment` says may be sent again. */
  readonly retryStatuses?: readonly number[];
  /** The answer carries what may not be shown: every report is searched. */
  readonly hostile?: boolean;
}

export const ACCEPTED_HEAD = 'HTTP/1.1 202 Accepted\r\ncontent-type: application/json\r\n';

export const accepted = (httpStatus = 202): Ending => ({ outcome: 'accepted', reason: null, httpStatus, halt: null });

export const rejected = (httpStatus: number, reason: Reason = 'status'): Ending => ({
  outcome: 'rejected',
  reason,
  httpStatus,
  halt: null,
});

/** In doubt without a status. */
export const doubt = (reason: Reason): Ending => ({ outcome: 'in-doubt', reason, httpStatus: null, halt: null });

/** In doubt by a status. */
export const doubtOf = (httpStatus: number, reason: Reason = 'status', halt: HaltRule | null = null): Ending => ({
  outcome: 'in-doubt',
  reason,
  httpStatus,
  halt,
});

export const pending = (httpStatus: number, reason: Reason, halt: HaltRule | null = null): Ending => ({
  outcome: 'pending',
  reason,
  httpStatus,
  halt,
});

export const failed = (reason: Reason, halt: HaltRule | null = null): Ending => ({
  outcome: 'failed',
  reason,
  httpStatus: null,
  halt,
});
