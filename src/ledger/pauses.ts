import type { Pause } from '../model.ts';
import type { Connection, Value } from './connection.ts';
import type { Ledger } from './ledger.ts';
import type { CampaignPlace, PauseScope } from './records.ts';

/** Pauses. The claim asks `pauseOf` in its transaction; a pause that has ended stays, with who ended it. */
export function pauseStore(connection: Connection): Pick<Ledger, 'pause' | 'resume' | 'pauses' | 'pauseOf'> {
  const active = connection.query(
    `SELECT environment, campaign, reason, who, paused_at,
      coalesce((SELECT name FROM campaigns WHERE id = pauses.campaign), campaign) FROM pauses
      WHERE resumed_at IS NULL ORDER BY number`,
  );
  const pauses = (): readonly Pause[] => active.all().map(toPause);
  const insert = connection.statement(
    'INSERT INTO pauses (environment, campaign, reason, who, paused_at) VALUES (?, ?, ?, ?, ?)',
  );
  const end = connection.statement(
    `UPDATE pauses SET resumed_by = ?1, resumed_at = ?2 WHERE resumed_at IS NULL AND environment = ?3
      AND coalesce(campaign, '') = coalesce(?4, '')`,
  );
  const find = ({ environment, campaign }: PauseScope): Pause | null =>
    pauses().find((one) => one.environment === environment && one.id === campaign) ?? null;

  return {
    pauses,
    pauseOf: (of) => pauseIn(pauses(), of),
    pause: (scope, { reason, who, nowMs }) =>
      connection.write(nowMs, 1, (now) => {
        const before = find(scope);
        if (before !== null) return before;
        insert(scope.environment, scope.campaign, reason, who, now);
        return null;
      }),
    resume: (scope, { who, nowMs }) =>
      connection.write(nowMs, 1, (now) => {
        const before = find(scope);
        end(who, now, scope.environment, scope.campaign);
        return before;
      }),
  };
}

/** The pause that applies. That of the whole environment comes first: to resume the campaign alone would not help. */
export function pauseIn(pauses: readonly Pause[], { environment, campaign }: CampaignPlace): Pause | null {
  const here = pauses.filter((one) => one.environment === environment && (one.id === null || one.id === campaign));
  return here.find(({ id }) => id === null) ?? here[0] ?? null;
}

function toPause([environment, campaign, reason, who, pausedAt, name]: readonly Value[]): Pause {
  return {
    environment: String(environment),
    id: campaign === null ? null : String(campaign),
    campaign: name === null ? null : String(name),
    reason: String(reason),
    who: String(who),
    pausedAtMs: Number(pausedAt),
  };
}
