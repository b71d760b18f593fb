import type { Connection } from './connection.ts';
import type { Ledger } from './ledger.ts';
import type { BudgetPlace, BudgetSpent, ClaimBudget, ClaimRequest, ResultRecord, RunRecord } from './records.ts';

export type BudgetStore = ReturnType<typeof budgetStore>;
export type Spending = NonNullable<ReturnType<BudgetStore['begin']>>;

/**
 * Money spent of the budgets of environments: one counter for each period. A claim adds its message's cost to the
 * period in which it is made. A result that nothing was sent takes it back from the same period, so this process
 * remembers its open claims. An unknown outcome stays counted: the counter is never too low (failures.md, A7).
 */
export function budgetStore(connection: Connection) {
  const find = connection.query(
    'SELECT spent_micros FROM budgets WHERE environment = ? AND period = ? AND currency = ?',
  );
  const findAll = connection.query(
    'SELECT currency, spent_micros FROM budgets WHERE environment = ? AND period = ? ORDER BY currency',
  );
  const add = connection.statement(
    `INSERT INTO budgets (environment, period, currency, spent_micros) VALUES (?, ?, ?, ?)
      ON CONFLICT (environment, period, currency) DO UPDATE SET spent_micros = budgets.spent_micros + excluded.spent_micros`,
  );
  const raise = connection.statement(
    `INSERT INTO budgets (environment, period, currency, spent_micros) VALUES (?, ?, ?, ?)
      ON CONFLICT (environment, period, currency) DO UPDATE SET spent_micros = excluded.spent_micros
      WHERE budgets.spent_micros < excluded.spent_micros`,
  );
  const spent = ({ environment, period, currency }: BudgetPlace): number =>
    Number(find.get(environment, period, currency)?.[0] ?? 0);
  /** Budget that claims of this process took and that have no result yet. */
  const open = new Map<string, BudgetSpent>();
  const seen = new Map<string, BudgetSpent>();

  return {
    spent,
    spentIn: (environment, period) =>
      findAll.all(environment, period).map(([currency, micros]) => ({
        environment,
        period,
        currency: String(currency),
        spentMicros: Number(micros),
      })),
    spentHere: () => [...seen.values()],
    raiseSpent: (all, nowMs) => {
      if (all.length === 0) return;
      connection.write(nowMs, all.length, () => {
        for (const { environment, period, currency, spentMicros } of all) {
          raise(environment, period, currency, spentMicros);
        }
      });
    },

    /** Adds what the claims of one transaction cost to an environment's budget, and takes back what was not sent. */
    begin({ environment }: RunRecord, budget: ClaimBudget | undefined, nowMs: number) {
      if (budget === undefined) return null;
      const { maxMicros, currency } = budget;
      const here: BudgetPlace = { environment, period: budget.periodOf(nowMs), currency };
      const changes = new Map<string, BudgetSpent>();
      const begun = new Map<string, BudgetSpent>();
      const ended: string[] = [];
      const change = (of: BudgetPlace, micros: number): void => {
        const name = nameOf(of);
        changes.set(name, { ...of, spentMicros: (changes.get(name)?.spentMicros ?? 0) + micros });
      };
      let before: number | null = null;
      /** No other process writes meanwhile, so this stays true until the transaction ends. */
      const left = (): number => {
        before ??= spent(here);
        return maxMicros - before - (changes.get(nameOf(here))?.spentMicros ?? 0);
      };
      const costOf = ({ costMicros }: ClaimRequest): number => costMicros ?? Number.POSITIVE_INFINITY;
      return {
        /** The budget has room for this message. One whose cost is not known never fits. */
        fits: (claim: ClaimRequest): boolean => costOf(claim) <= left(),
        fitsAll: (claims: readonly ClaimRequest[]): boolean =>
          claims.reduce((sum, claim) => sum + costOf(claim), 0) <= left(),
        claimed(list: number, claim: ClaimRequest): void {
          const spentMicros = costOf(claim);
          change(here, spentMicros);
          begun.set(rowName(list, claim), { ...here, spentMicros });
        },
        recorded(list: number, result: ResultRecord): void {
          const name = rowName(list, result);
          const added = open.get(name);
          if (added === undefined || result.from !== 'claimed') return;
          ended.push(name);
          if (NOT_SENT.has(result.state)) change(added, -added.spentMicros);
        },
        write(): void {
          for (const [name, one] of changes) {
            if (one.spentMicros !== 0) add(one.environment, one.period, one.currency, one.spentMicros);
            if (name === nameOf(here) && before === null) before = spent(here) - one.spentMicros;
          }
        },
        /** Called once the transaction is on disk. */
        done(): void {
          for (const name of ended) open.delete(name);
          for (const [name, one] of begun) open.set(name, one);
          const spentMicros = (before ?? 0) + (changes.get(nameOf(here))?.spentMicros ?? 0);
          if (before !== null) seen.set(nameOf(here), { ...here, spentMicros });
        },
      };
    },
  } satisfies Partial<Ledger> & { readonly begin: unknown };
}

/** After these results the API has not taken the message. A doubt stays counted, also where it is resolved later. */
const NOT_SENT: ReadonlySet<ResultRecord['state']> = new Set(['pending', 'rejected', 'failed']);

function nameOf({ environment, period, currency }: BudgetPlace): string {
  return JSON.stringify([environment, period, currency]);
}

function rowName(list: number, { step, row }: Pick<ClaimRequest, 'step' | 'row'>): string {
  return `${list} ${step} ${row}`;
}
