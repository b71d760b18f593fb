import { Client } from 'undici';
import { type EndpointOptions, prepare } from './endpoint-options.ts';
import { toAttemptError } from './fault.ts';
import { retryAfterMs } from './waits.ts';

/** The answer to a GET; `error`: the code of what went wrong in the place of one. */
export type Page =
  | { readonly status: number; readonly body: string; readonly retryAfterMs: number | null }
  /** `begun`: the API had answered already, so that it takes the page for delivered. */
  | { readonly error: ReturnType<typeof toAttemptError>; readonly begun: boolean };

export type Getter = ReturnType<typeof createGetter>;

/** A page may hold thousands of events. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024;

/** GETs at one origin, over TLS and proxy as for requests. */
export function createGetter(
  options: Pick<EndpointOptions, 'url' | 'headers' | 'authorize' | 'proxy' | 'timeoutMs'> & {
    readonly now: () => number;
  },
) {
  const { origin, headers, connector, timeoutMs } = prepare({ ...options, connections: 1 });
  const client = new Client(origin, { connect: connector, allowH2: false, maxResponseSize: MAX_PAGE_BYTES });
  const accepts = headers.includes('accept') ? [] : ['accept', 'application/json'];
  return {
    /** Asks once. Never rejects, never follows a redirect. `path`: with the query. */
    async get(path: string, signal: AbortSignal): Promise<Page> {
      let begun = false;
      try {
        const authorization = await options.authorize?.();
        const proof = authorization === undefined ? [] : ['authorization', authorization];
        const answer = await client.request({
          method: 'GET',
          path,
          headers: [...headers, ...accepts, ...proof],
          signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
        });
        begun = true;
        const wait = answer.headers['retry-after'];
        return {
          status: answer.statusCode,
          body: await answer.body.text(),
          retryAfterMs: retryAfterMs([wait].flat()[0] ?? null, options.now()),
        };
      } catch (error) {
        return { error: toAttemptError(error), begun };
      }
    },
    [Symbol.asyncDispose]: () => client.destroy(),
  };
}
