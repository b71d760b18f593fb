import type { SuppressionForms } from './connection.ts';
import type { Reach } from './reach.ts';
import { type ClaimRequest, type ClaimRules, FELL_BACK, type ResultRecord } from './records.ts';
import type { HeldShards } from './worker-store.ts';

/** What is committed together, and the rules of its claims. */
export interface Batch {
  readonly results: readonly ResultRecord[];
  readonly claims: readonly ClaimRequest[];
  readonly rules: ClaimRules | undefined;
  readonly reach: Reach | null;
  readonly held: HeldShards | null;
}

export function formsOf(claims: readonly ClaimRequest[], rules: ClaimRules | undefined): SuppressionForms {
  const hasher = rules?.hasher ?? null;
  const all = claims.flatMap(({ row, to, key }) => {
    const forms = rules?.forms(to, key) ?? [];
    const hashed = forms.map((form) => ({ row, form, hash: hasher === null ? null : hasher.hash(form) }));
    return forms.includes(to) ? hashed : [{ row, form: to, hash: null }, ...hashed];
  });
  return { all, hashKey: hasher?.keyId ?? null };
}

/** The shards that these rows are in; -1 stands for what the worker has not, and nobody has. */
export function shardsOf(held: HeldShards, claims: readonly ClaimRequest[]): readonly number[] {
  return [...new Set(claims.map(({ row }) => held.of(row) ?? -1))];
}

/** The first leg of somebody, with what the row knows already. */
export function isFirst({ leg, facts, byReport = false }: ClaimRequest): boolean {
  return leg === 0 && facts === undefined && !byReport;
}

/** Nobody asks for a row twice at once; where somebody does, one comes after the other. */
export function isEachOnce(all: readonly { readonly row: number }[]): boolean {
  return new Set(all.map(({ row }) => row)).size === all.length;
}

/** An outcome that is written with nothing beside it. */
export function isSimple({ leg, reason, next, textHash = null }: ResultRecord): boolean {
  return leg === 0 && reason !== FELL_BACK && next === undefined && textHash === null;
}

export function reachedBy(reach: Reach, { to, key, caps }: ClaimRequest): 'excluded' | 'capped' | null {
  if (reach.excludedBy(to, key) !== null) return 'excluded';
  return caps !== undefined && reach.cappedBy(to, key, caps) !== null ? 'capped' : null;
}

/** A rule about other runs leaves this one out. */
export function isReached(reach: Reach | null, one: ClaimRequest): boolean {
  return reach !== null && reachedBy(reach, one) !== null;
}
