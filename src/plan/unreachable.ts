import type { Ledger, LedgerUnreachable, Reach } from '../ledger/ledger.ts';
import type { Campaign, Environment, Project, Recipient, UnreachableAddress, UnreachableRule } from '../model.ts';
import { countOf } from '../report/words.ts';
import { listedForm, spellingsOf } from '../util/address-form.ts';
import { iso } from '../util/time.ts';

/**
 * The rule, with the environments whose reports count: all with the identity of the run. Null: no provider among them names
 * permanent codes, so that no report can say that an address is out of use.
 */
export function ruleIn(
  { environments }: Pick<Project, 'environments'>,
  { identity }: Pick<Environment, 'identity'>,
  { after, withinMs }: Pick<UnreachableRule, 'after' | 'withinMs'>,
): LedgerUnreachable | null {
  const all = [...environments.values()].filter((one) => one.identity === identity);
  if (all.every(({ webhook }) => webhook.mapping.permanent.length === 0)) return null;
  return { after, withinMs, environments: all.map(({ name }) => name) };
}

/** Null: the campaign does not ask, or the rule is off. Reads the addresses that fail, which are few. */
export function openUnreachable(
  {
    campaign: { project, unreachable: asked },
    environment,
  }: { readonly campaign: Pick<Campaign, 'project' | 'unreachable'>; readonly environment: Environment },
  ledger: Ledger,
  nowMs: number,
) {
  const rule = asked === null ? null : ruleIn(project, environment, asked);
  if (rule === null) return null;
  const known = ledger.unreachable(rule, nowMs);
  let atClaim: ReadonlyMap<string, unknown> = known;
  return {
    check({ to }: Pick<Recipient, 'to'>): string | null {
      const found = known.size === 0 ? undefined : known.get(listedForm(to));
      return found === undefined ? null : failuresText(found.failures, iso(found.lastAtMs));
    },
    atClaim: {
      ask(addresses, now) {
        atClaim = ledger.unreachable(rule, now, allSpellings(addresses));
      },
      has: (to) => atClaim.size > 0 && atClaim.has(listedForm(to)),
    } satisfies Reach['unreachable'],
  };
}

/** `3 permanent failures, the last on 2026-11-20`. */
export function failuresText(failures: number, last: string): string {
  return `${countOf(failures, 'permanent failure')}, the last on ${last.slice(0, 10)}`;
}

/**
 * The addresses that fail in each environment, by a rule for all campaigns.
 * @param rule - of handbill.yaml; null: it has none
 * @param among - only these; null, the default: every address
 */
export function unreachableIn(
  project: Pick<Project, 'environments'>,
  rule: UnreachableRule | null,
  ledger: Ledger,
  nowMs: number,
  among: readonly string[] | null = null,
): readonly UnreachableAddress[] {
  const own = [...project.environments.values()].filter(({ name, identity }) => name === identity);
  return own.flatMap((environment) => {
    const asked = rule === null ? null : ruleIn(project, environment, rule);
    if (asked === null) return [];
    const found = ledger.unreachable(asked, nowMs, among === null ? null : allSpellings(among));
    return [...found].map(([address, { failures, lastAtMs }]) => ({
      address,
      environment: environment.name,
      failures,
      lastFailure: iso(lastAtMs),
    }));
  });
}

function allSpellings(addresses: readonly string[]): readonly string[] {
  return [...new Set(addresses.flatMap((address) => [address, ...spellingsOf(address)]))];
}
