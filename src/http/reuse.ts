import { type Diagnostic, warning } from '../errors.ts';

export interface Reuse {
  readonly isAllowed: boolean;
  answeredAgain(): void;
  /** The API ended a connection unannounced, `sinceMs` after the answer before. */
  closed(sinceMs: number): void;
}

/** A connection that ends later was idle for too long. */
const SOON_MS = 1000;
const TOO_OFTEN = 2;
/** After so many answers on connections that were used again, an end counts as an exception. */
const PROVEN = 10;

/**
 * A request in transit when the API closes the connection is in doubt, because it may have been read (failures.md, C4).
 * An API that closes each connection after its answer, without `Connection: close`, would put every second recipient in
 * doubt. So if connections end soon after an answer, twice without ten answers on reused connections in between, each
 * connection is used for one request for the rest of the start. A trial within the start would put a request on a used
 * connection, and may cost a doubt: only the next start tries again.
 */
export function createReuse(onNotice: (notice: Diagnostic) => void): Reuse {
  let isAllowed = true;
  let ends = 0;
  let answers = 0;
  return {
    get isAllowed() {
      return isAllowed;
    },
    answeredAgain() {
      answers += 1;
      if (answers < PROVEN) return;
      ends = 0;
    },
    closed(sinceMs) {
      if (!isAllowed || sinceMs > SOON_MS) return;
      ends += 1;
      answers = 0;
      if (ends < TOO_OFTEN) return;
      isAllowed = false;
      onNotice(
        warning(
          'connection-limit',
          'Connections ended within a second of an answer, by a close or a reset that was not announced: from now on each is used for one request.',
          {
            hint: 'Let the API, or the proxy before it, keep its connections open, or say `Connection: close` in the answer.',
          },
        ),
      );
    },
  };
}
