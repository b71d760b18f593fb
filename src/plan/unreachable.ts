import type { Ledger, LedgerUnreachable, Reach } from '../ledger/ledger.ts';
import type { Environment, Project, Recipient, UnreachableRule } from '../model.ts';
import { countOf } from '../report/words.ts';
import { listedForm, spellingsOf } from '../util/address-form.ts';
import { iso } from '../util/time.ts';
import type { Plan } from './plan.ts';

/**
 * The rule, with the environments whose reports count: that of the run and its stand-ins. Null: no provider among them
 * names permanent codes, so that no report can say that an address is out of use.
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
  { campaign: { project, unreachable: asked }, environment }: Plan,
  ledger: Pick<Ledger, 'unreachable'>,
  nowMs: number,
) {
  const rule = asked === null ? null : ruleIn(project, environment, asked);
  if (rule === null) return null;
  const known = ledger.unreachable(rule, nowMs);
  let atClaim: ReadonlyMap<string, unknown> = known;
  return {
    check({ to }: Pick<Recipient, 'to'>): string | null {
      const found = known.size === 0 ? undefined : known.get(listedForm(to));
      return found === undefined ? null : failuresText(found);
    },
    atClaim: {
      ask(addresses, now) {
        atClaim = ledger.unreachable(rule, now, [
          ...new Set(addresses.flatMap((address) => [address, ...spellingsOf(address)])),
        ]);
      },
      has: (to) => atClaim.size > 0 && atClaim.has(listedForm(to)),
    } satisfies Reach['unreachable'],
  };
}

/** `3 permanent failures, the last on 2026-11-20`. */
export function failuresText({ failures, lastAtMs }: { readonly failures: number; readonly lastAtMs: number }): string {
  return `${countOf(failures, 'permanent failure')}, the last on ${iso(lastAtMs).slice(0, 10)}`;
}
