import type { IncomingHttpHeaders } from 'node:http';

/** What a sender can prove itself with. */
export interface Proof {
  readonly headers: IncomingHttpHeaders;
  /** The bytes as they came: a body that was parsed and written again has another signature. */
  readonly body: Buffer;
  /** The segment of the URL behind the path; null without one. */
  readonly segment: string | null;
}

export type Verdict =
  /** `id`: of the request, the same when it is sent again; null where the scheme has none. */
  | { readonly verified: true; readonly id: string | null }
  /** `reason` is for the log and holds nothing that the sender wrote. */
  | { readonly verified: false; readonly reason: string };

/** Says whether whoever sends this knows a secret. Never throws, and takes as long for a near miss as for a far one. */
export type Verifier = (proof: Proof, nowMs: number) => Verdict;
