/** P1: nothing was sent. P2: may have reached the API. P3: the final status is known. P4: all of the answer. */
export type Phase = 'P1' | 'P2' | 'P3' | 'P4';

export interface Attempt {
  readonly phase: Phase;
  /** Final status line, from P3 on. */
  readonly status: number | null;
  /** Error code as the library gave it; explains, never decides. */
  readonly error: AttemptError | null;
  readonly contentType: string | null;
  readonly retryAfter: string | null;
  /** Those of the answer; absent: none came. */
  readonly headers?: Readonly<Record<string, string | string[] | undefined>> | null;
  /** The request as it was posted, with its secrets, and names and values of headers in turn; absent: none was made. */
  readonly sent?: { readonly url: string; readonly headers: readonly string[]; readonly body: string } | null;
  /** The header that holds the message id; null or absent: no header does. */
  readonly headerId?: string | null;
  /** Whole body of the answer in P4, else what came of it. At most 64 KiB. */
  readonly body: string;
  readonly latencyMs: number;
  /** The connection that carried the request; absent where none did. */
  readonly connection?: AnsweringConnection | undefined;
}

/** One connection, as it can be told from others: what is learnt from its answers is kept with it. */
export interface AnsweringConnection {
  /** Nothing more is asked or heard on it. */
  end(): void;
  /** Called when something comes that no request is waiting for. */
  onUnasked: (() => void) | null;
  /** How long something may still come at the end of a start, in ms. */
  lingerMs: number;
  /** Message ids of its newest answers, oldest first; and references of their requests. */
  readonly ids: string[];
  readonly references: string[];
  /** Counts since the last answer that named its own recipient. */
  unprovenIds: number;
  unprovenRecipients: number;
}

export type AttemptError = { readonly code: string; readonly message: string };
