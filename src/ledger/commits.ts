import { problem } from '../errors.ts';
import { formsOf, listedForm } from '../util/address-form.ts';
import type { BudgetStore, Spending } from './budgets.ts';
import type { Connection, ManyRows, SuppressionForms } from './connection.ts';
import type { doubtStore } from './doubts.ts';
import type { ClaimPolicy, Ledger, Reach } from './ledger.ts';
import { LedgerError } from './ledger-error.ts';
import { ownChannel } from './lists.ts';
import {
  type AsideRow,
  type ClaimAnswer,
  type ClaimRequest,
  type ClaimSkip,
  FELL_BACK,
  type HeldShards,
  type ResultRecord,
  type RunRecord,
  type StepFacts,
  type WorkerStore,
} from './records.ts';
import { optOuts } from './replies.ts';
import type { RunStore } from './runs.ts';
import { ACTIVE, ACTIVE_HASH, counting } from './suppressions.ts';

/** Longer texts of the API are cut when they are kept with a refusal. */
const ERROR_LENGTH = 2048;

/**
 * The hot path: outcomes and claims. Each claim is a compare-and-set with all its conditions, so it is right even if
 * the lock of the run is lost (failures.md, J4). It sees an opt-out during the run (failures.md, A2, K3).
 * @param workers - null: workers share no run
 */
export function commitStore(
  connection: Connection,
  runs: RunStore,
  lateAnswer: ReturnType<typeof doubtStore>['lateAnswer'],
  workers: Pick<WorkerStore, 'holds'> | null,
  { pauseOf }: Pick<Ledger, 'pauseOf'>,
  beginSpending: BudgetStore['begin'],
): Pick<Ledger, 'commit' | 'skip' | 'defer'> {
  /** After a full disk nothing more is claimed. Outcomes of requests in flight are still written (failures.md, H1). */
  let full: LedgerError | null = null;
  const steps = stepStore(connection);
  const checkUnder = suppressionCheck(connection);
  const { optOut } = optOuts(connection);
  const claim = connection.statement(
    counting(
      `UPDATE recipients SET state = 'claimed', claimed_at = ?1, resolved_by = NULL, posted_from = ?8, version = ?9
      WHERE list = ?2 AND step = 0 AND row = ?3 AND state = 'pending' AND key = ?4 AND address = ?5
      AND attempts = coalesce(?6, attempts)
      AND NOT EXISTS (SELECT 1 FROM suppressions WHERE suppressions.address = ?5 AND COUNTS)`,
      '?1',
      '?7',
    ),
  );
  // A counted attempt was recorded as a crash: this result is not the current claim's (failures.md, J5).
  const record = connection.statement(
    `UPDATE recipients SET state = ?1, reason = ?2, attempts = ?3, http_status = ?4, message_id = ?5, error = ?6,
      updated_at = ?7 WHERE list = ?8 AND step = ?9 AND row = ?10 AND state = ?11 AND attempts < ?3`,
  );
  const setAside = connection.statement(
    `UPDATE recipients SET state = ?, reason = ?, updated_at = ?
      WHERE list = ? AND step = ? AND row = ? AND state = 'pending'`,
  );
  const setSuppressed = connection.statement(
    `UPDATE recipients SET state = 'skipped', reason = 'suppressed', address = ?, updated_at = ?
      WHERE list = ? AND step = ? AND row = ? AND state = 'pending'`,
  );
  const setReached = connection.statement(
    counting(
      `UPDATE recipients SET state = ?10, reason = ?1, address = ?2, updated_at = ?3
      WHERE list = ?4 AND step = ?5 AND row = ?6 AND state = 'pending' AND key = ?7 AND attempts = coalesce(?8, attempts)
      AND NOT EXISTS (SELECT 1 FROM suppressions WHERE suppressions.address = ?2 AND COUNTS)`,
      '?3',
      '?9',
    ),
  );
  // Only for doubts, of which there are few.
  const keepTextHash = connection.statement(
    `UPDATE recipients SET text_hash = ? WHERE list = ? AND step = ? AND row = ? AND state = 'in-doubt'`,
  );
  const suppressed = connection.query(ACTIVE);
  const look = connection.query(
    'SELECT state, key, address, attempts FROM recipients WHERE list = ? AND step = ? AND row = ?',
  );

  const hasAll = (held: HeldShards, list: number, claims: readonly ClaimRequest[]): boolean =>
    shardsOf(held, claims).every((shard) => workers?.holds(list, shard, held.worker) === true);

  const recordOne = (run: RunRecord, list: number, r: ResultRecord, now: number, spending: Spending | null): void => {
    const { row, step, from, attempts, httpStatus, messageId, next } = r;
    // Only `next` lets a refused row fall back: otherwise the next step would lack its facts.
    if (r.reason === FELL_BACK || (next !== undefined && (from !== 'claimed' || r.state !== 'rejected'))) {
      throw new Error(`Row ${row} falls back, but it is ${r.state} (${r.reason}) after being ${from}.`);
    }
    if (r.optOut !== undefined) optOut(listedForm(r.optOut.to), 'provider', now, r.optOut.topic);
    const error = r.error === null ? null : r.error.slice(0, ERROR_LENGTH);
    const reason = next === undefined ? r.reason : FELL_BACK;
    if (record(r.state, reason, attempts, httpStatus, messageId, error, now, list, step, row, from) === 1) {
      spending?.recorded(list, r);
      if (next !== undefined) steps.begin(run, list, r);
      if (r.textHash !== undefined && r.textHash !== null) keepTextHash(r.textHash, list, step, row);
      return;
    }
    const [state, , , counted] = look.get(list, step, row) ?? [];
    // No other process moves a claimed row to these states: the caller has mixed up its rows.
    const strange = state === 'deferred' || (state === 'pending' && from === 'claimed');
    if (state === undefined || (strange && Number(counted) < attempts)) {
      throw new Error(`Row ${row} has a result, but it is ${String(state ?? 'unknown')} and not ${from}.`);
    }
    // The lock was lost and another start took the row for a crash. What the API said is better than a doubt.
    if (from === 'claimed') lateAnswer(list, { ...r, error }, now);
  };

  const claimOne = (
    run: RunRecord,
    list: number,
    request: ClaimRequest,
    isSuppressed: IsSuppressed,
    { rules, reach }: Pick<Batch, 'rules' | 'reach'>,
    now: number,
  ): ClaimAnswer => {
    const { row, step, to, key, attempts, facts, byReport = false } = request;
    const listed = isSuppressed(to, key);
    const reached = reachedBy(reach, rules, request, now);
    if (byReport) {
      // A recipient who is skipped by a rule keeps the message that was accepted: only a claim starts the fallback.
      if (listed || suppressed.get(to, now, run.topic ?? '') !== undefined) return 'suppressed';
      if (reached !== null) return reached;
      if (!steps.fallBack(list, row, step - 1, key)) return 'taken';
    }
    if (reached !== null && !listed) {
      const state = reached === 'follow-up-later' ? 'deferred' : 'skipped';
      if (setReached(reached, to, now, list, step, row, key, attempts ?? null, run.topic ?? '', state) === 1)
        return reached;
    }
    const claimed =
      !listed &&
      reached === null &&
      (step > 0 || facts !== undefined
        ? steps.claim(run, list, request, now)
        : claim(now, list, row, key, to, attempts ?? null, run.topic ?? '', run.postedFrom, run.version) === 1);
    if (claimed) return 'claimed';
    // Another process moved the row before it could fall back: this step does not exist, and the result is dropped.
    const found = look.get(list, step, row) ?? look.get(list, 0, row);
    if (found === undefined || found[1] !== key || (step === 0 && found[2] !== to && found[3] === 0)) {
      throw new Error(`Row ${row} of the ledger is not the recipient that was to be claimed.`);
    }
    if (found[0] !== 'pending' || (attempts !== undefined && found[3] !== attempts)) return 'taken';
    // Pending and the right person, so nothing but the suppression is left.
    return setSuppressed(to, now, list, step, row) === 1 ? 'suppressed' : 'taken';
  };

  /** Inside a transaction in which `reach` was refreshed. */
  const writeEach = (
    run: RunRecord,
    { results, claims, rules, reach, held }: Batch,
    now: number,
    spending: Spending | null,
  ): readonly ClaimAnswer[] => {
    const { list, state } = runs.listOf(run);
    if (list !== run.list) throw replaced(connection.path);
    for (const result of results) recordOne(run, list, result, now, spending);
    if (claims.length === 0) return [];
    if (held !== null && !(state === 'running' && hasAll(held, list, claims))) return claims.map(() => 'stopped');
    if (state !== 'running') throw new Error(`Run ${run.id} is ${state}, so nothing is claimed.`);
    // In the transaction of the claim: once a pause is committed, nothing is claimed until it ends (failures.md, A6).
    if (pauseOf(run) !== null) return claims.map(() => 'paused');
    const isSuppressed = checkUnder(run, rules, now);
    return claims.map((request) => {
      // The row stays as it is, even where a rule would skip the recipient: the start halts (failures.md, A7).
      if (spending?.fits(request) === false) return 'over-budget';
      const answer = claimOne(run, list, request, isSuppressed, { rules, reach }, now);
      if (answer === 'claimed') spending?.claimed(list, request);
      return answer;
    });
  };

  /** One transaction, with what it spends: the budget's counter changes together with the rows, or not at all. */
  const transact = <T>(
    run: RunRecord,
    { results, claims, rules }: Batch,
    nowMs: number,
    work: (now: number, spending: Spending | null) => T,
  ): T => {
    const [result, spending] = connection.write(nowMs, results.length + claims.length, (now) => {
      const begun = beginSpending(run, rules?.budget, now);
      const done = work(now, begun);
      begun?.write();
      return [done, begun] as const;
    });
    spending?.done();
    return result;
  };

  const write = (run: RunRecord, batch: Batch, nowMs: number): readonly ClaimAnswer[] =>
    transact(run, batch, nowMs, (now, spending) => {
      // Read again inside the transaction, when no other process can write.
      refresh(batch, now);
      return writeEach(run, batch, now, spending);
    });

  /**
   * On a shared ledger: all usual outcomes and claims in one round trip, the rest by `writeRest`. Null if a row belongs
   * to another recipient by now, or the budget may not have room for all claims: then row by row.
   */
  const writeMany = (
    run: RunRecord,
    batch: Batch,
    now: number,
    many: ManyRows,
    writeRest: (rest: Batch) => readonly ClaimAnswer[],
    spending: Spending | null = null,
  ): readonly ClaimAnswer[] | null => {
    const { results, claims, rules, reach, held } = batch;
    const free = claims.filter(
      (one) =>
        isFirst(one) && rules?.isListed?.(one.to, one.key, now) !== true && reachedBy(reach, rules, one, now) === null,
    );
    if (free.length > 0 && spending?.fitsAll(free) === false) return null;
    const cut = results.map((r) => (r.error === null ? r : { ...r, error: r.error.slice(0, ERROR_LENGTH) }));
    const inUse = held === null ? null : { worker: held.worker, shards: shardsOf(held, free) };
    const done = many.commit(run, cut, free, suppressionForms(free, rules), now, inUse);
    if (done === null) return null;
    const { recorded, claimed } = done;
    if (spending !== null) {
      for (const result of results) if (recorded?.has(result.row) !== false) spending.recorded(run.list, result);
      for (const claim of free) if (claimed?.has(claim.row) !== false) spending.claimed(run.list, claim);
    }
    if (recorded === null && claimed === null && free.length === claims.length) return claims.map(() => 'claimed');
    const granted = claimed ?? new Set(free.map(({ row }) => row));
    const [late, left] = [
      recorded === null ? [] : results.filter(({ row }) => !recorded.has(row)),
      claims.filter(({ row }) => !granted.has(row)),
    ];
    if (late.length === 0 && left.length === 0) return claims.map(() => 'claimed');
    const answers = writeRest({ ...batch, results: late, claims: left });
    const others = new Map(answers.map((answer, i) => [left[i]?.row, answer]));
    return claims.map(({ row }) => others.get(row) ?? 'claimed');
  };

  /** Null: row by row. */
  const writeQuickly = (run: RunRecord, batch: Batch, nowMs: number): readonly ClaimAnswer[] | null => {
    const { many } = connection;
    const { results, claims, reach, rules } = batch;
    if (many === null || !results.every(isSimple) || !isEachOnce(results) || !isEachOnce(claims)) return null;
    if (rules?.budget === undefined && (reach === null || claims.length === 0)) {
      return writeMany(run, batch, nowMs, many, (rest) => write(run, rest, nowMs));
    }
    // Read in the transaction of the claims, which takes several round trips.
    try {
      return transact(run, batch, nowMs, (now, spending) => {
        refresh(batch, now);
        const writeRest = (rest: Batch) => writeEach(run, rest, now, spending);
        const answers = writeMany(run, batch, now, many, writeRest, spending);
        if (answers === null) throw ROW_BY_ROW;
        return answers;
      });
    } catch (error) {
      if (error === ROW_BY_ROW) return null;
      throw error;
    }
  };

  const putAside = (run: RunRecord, state: 'skipped' | 'deferred', rows: readonly AsideRow[], nowMs: number): void =>
    connection.write(nowMs, rows.length, (now) => {
      const { list } = runs.listOf(run);
      if (list !== run.list) throw replaced(connection.path);
      for (const { row, step, reason } of rows) setAside(state, reason, now, list, step, row);
    });

  return {
    commit(run, results, claims, nowMs, rules) {
      const { reach = null, held = null } = rules ?? {};
      // A run that another process began is read before the transaction, so that others do not wait for it.
      if (claims.length > 0) reach?.refresh();
      const batch: Batch = { results, claims, rules, reach, held };
      const resultsAlone: Batch = { ...batch, claims: [] };
      const displaced = claims.length > 0 ? connection.displacement() : null;
      if (displaced !== null) throw displaced;
      if (full !== null && claims.length > 0) {
        write(run, resultsAlone, nowMs);
        throw full.asRecorded();
      }
      try {
        return writeQuickly(run, batch, nowMs) ?? write(run, batch, nowMs);
      } catch (error) {
        if (!(error instanceof LedgerError) || error.kind !== 'full') throw error;
        full = error;
        connection.makeRoom();
        write(run, resultsAlone, nowMs);
        throw error.asRecorded();
      }
    },
    skip: (run, rows, nowMs) => putAside(run, 'skipped', rows, nowMs),
    defer: (run, rows, nowMs) => putAside(run, 'deferred', rows, nowMs),
  };
}

/** Ends a transaction in which a row belongs to another recipient, or a claim has no room: row by row finds which. */
const ROW_BY_ROW = new Error('it has to be written row by row');

/**
 * The lock was lost and another start replaced the list. Row numbers mean other recipients now, so no answer is
 * recorded; the claimed rows are already in doubt (failures.md, J4).
 */
function replaced(path: string): LedgerError {
  const message = 'The list of the run was replaced by another process while it was being sent to.';
  const hint = 'Run one command at a time on it; run it again to continue.';
  return new LedgerError('other', problem('ledger-unusable', message, { at: { file: path }, hint }));
}

interface Batch {
  readonly results: readonly ResultRecord[];
  readonly claims: readonly ClaimRequest[];
  readonly rules: ClaimPolicy | undefined;
  readonly reach: Reach | null;
  readonly held: HeldShards | null;
}

/** Inside the transaction: what other runs and reports say of those to be claimed. */
function refresh({ reach, claims }: Batch, nowMs: number): void {
  if (reach === null || claims.length === 0) return;
  reach.refresh();
  reach.unreachable?.ask(
    claims.map(({ to }) => to),
    nowMs,
  );
}

function suppressionForms(claims: readonly ClaimRequest[], rules: ClaimPolicy | undefined): SuppressionForms {
  const hasher = rules?.hasher ?? null;
  const all = claims.flatMap(({ row, to, key }) => {
    const forms = rules?.isListed === undefined ? [] : formsOf(to, key);
    const hashed = forms.map((form) => ({ row, form, hash: hasher === null ? null : hasher.hash(form) }));
    return forms.includes(to) ? hashed : [{ row, form: to, hash: null }, ...hashed];
  });
  return { all, hashKey: hasher?.keyId ?? null };
}

/** The shards that contain these rows; -1 means a shard that this worker does not have. */
function shardsOf(held: HeldShards, claims: readonly ClaimRequest[]): readonly number[] {
  return [...new Set(claims.map(({ row }) => held.of(row) ?? -1))];
}

/** Step 0, with nothing that the row does not already contain. */
function isFirst({ step, facts, byReport = false }: ClaimRequest): boolean {
  return step === 0 && facts === undefined && !byReport;
}

/** Usually a row is in a batch once. Entries for the same row are written one after the other. */
function isEachOnce(all: readonly { readonly row: number }[]): boolean {
  return new Set(all.map(({ row }) => row)).size === all.length;
}

function isSimple({ step, reason, next, textHash = null, optOut }: ResultRecord): boolean {
  return step === 0 && reason !== FELL_BACK && next === undefined && textHash === null && optOut === undefined;
}

/** The rule that skips or defers this recipient: the environment's fence, or one about other runs or reports. */
function reachedBy(
  reach: Reach | null,
  rules: ClaimPolicy | undefined,
  request: ClaimRequest,
  nowMs: number,
): ClaimSkip | 'follow-up-later' | null {
  const { to, key, caps } = request;
  if (reach?.unreachable?.has(to) === true) return 'unreachable';
  if (rules?.isFenced?.(to) === true) return 'fenced';
  if (reach === null) return null;
  if (reach.excludedBy(to, key) !== null) return 'excluded';
  const followUp = reach.followUp?.(key, nowMs) ?? null;
  if (followUp !== null) return followUp;
  return caps !== undefined && reach.cappedBy(to, key, caps) !== null ? 'frequency-cap' : null;
}

/** Writes for channel steps and variants, which few recipients need: outside the hot path. Inside a transaction. */
function stepStore(connection: Connection) {
  // Step 0 goes to the address that was loaded. Later steps and repeated messages take the given address, which an
  // amended list may have changed; it must not be suppressed. Their variant is that of step 0 (schema.ts).
  const claim = connection.statement(
    counting(
      `UPDATE recipients SET state = 'claimed', claimed_at = ?1, resolved_by = NULL, address = ?2, posted_from = ?9, version = ?10
      WHERE list = ?3 AND step = ?4 AND row = ?5 AND state = 'pending' AND key = ?6 AND (step > 0 OR address = ?2)
      AND attempts = coalesce(?7, attempts)
      AND NOT EXISTS (SELECT 1 FROM suppressions WHERE suppressions.address = ?2 AND COUNTS)`,
      '?1',
      '?8',
    ),
  );
  const claimWith = connection.statement(
    counting(
      `UPDATE recipients SET state = 'claimed', claimed_at = ?1, resolved_by = NULL, address = ?2, channel = ?9,
      variant = CASE step WHEN 0 THEN ?8 ELSE variant END, parts = ?10, encoding = ?11, cost_micros = ?12, posted_from = ?14,
      version = ?15
      WHERE list = ?3 AND step = ?4 AND row = ?5 AND state = 'pending' AND key = ?6
      AND (step > 0 OR attempts > 0 OR address = ?2)
      AND attempts = coalesce(?7, attempts)
      AND NOT EXISTS (SELECT 1 FROM suppressions WHERE suppressions.address = ?2 AND COUNTS)`,
      '?1',
      '?13',
    ),
  );
  const fill = connection.statement(
    `UPDATE recipients SET address = ?, channel = ?, parts = ?, encoding = ?, cost_micros = ?
      WHERE list = ? AND step = ? AND row = ? AND state = 'pending' AND attempts = 0`,
  );

  const fallBack = connection.statement(
    `UPDATE recipients SET reason = 'fell-back', state = 'rejected', resolved_by = 'report'
      WHERE list = ? AND row = ? AND step = ? AND key = ? AND state = 'accepted'`,
  );

  return {
    /** A report says that an accepted step did not arrive: the next step becomes pending. False if no longer accepted. */
    fallBack: (list: number, row: number, step: number, key: string) => fallBack(list, row, step, key) === 1,

    /** Claims a later step, or a step with facts that the row does not have. */
    claim(run: RunRecord, list: number, request: ClaimRequest, now: number): boolean {
      const { row, step, to, key, attempts = null, facts } = request;
      const topic = run.topic ?? '';
      const last = [topic, run.postedFrom, run.version] as const;
      if (facts === undefined) return claim(now, to, list, step, row, key, attempts, ...last) === 1;
      return claimWith(now, to, list, step, row, key, attempts, facts.variant, ...columnsOf(facts, run), ...last) === 1;
    },

    /** Fills in the step that began when the row of this result fell back. */
    begin(run: RunRecord, list: number, { row, step, next }: ResultRecord): void {
      if (next === undefined || fill(next.to, ...columnsOf(next, run), list, step + 1, row) !== 1) {
        throw new Error(`Row ${row} fell back from step ${step}, but no step follows.`);
      }
    },
  };
}

function columnsOf({ channel, parts, encoding, costMicros }: Omit<StepFacts, 'variant'>, run: RunRecord) {
  return [ownChannel(channel, run), parts, encoding, costMicros] as const;
}

/** Without the address as written, which the claim itself looks up. */
type IsSuppressed = (to: string, key: string) => boolean;

/**
 * Checks that a claim makes in its transaction beside its own statement: other spellings of the address, the key if it
 * is an address, hashes of both, and lists outside the ledger (failures.md, A2, K3). Made once for each transaction, so
 * it costs one query while the ledger holds no hashes.
 *
 * Throws a LedgerError if the ledger holds hashes and their key is missing: another process imported them after this
 * run began, and without the key they match no recipient.
 */
function suppressionCheck(
  connection: Connection,
): (run: RunRecord, rules: ClaimPolicy | undefined, nowMs: number) => IsSuppressed {
  const look = connection.query(
    'SELECT EXISTS (SELECT 1 FROM suppressions), (SELECT key_id FROM suppressed_hashes LIMIT 1)',
  );
  const address = connection.query(ACTIVE);
  const hashed = connection.query(ACTIVE_HASH);
  return (run, rules, now) => {
    const topic = run.topic ?? '';
    const [hasAddresses, keyId] = look.get() ?? [];
    const hasher = rules?.hasher ?? null;
    if (keyId !== null && keyId !== hasher?.keyId) {
      const message = 'Another process has put hashes on the suppression list, and this one does not have their key.';
      const hint = 'Give this command the key too (`suppressionKey` in handbill.yaml), and run it again to continue.';
      const at = { file: connection.path };
      throw new LedgerError('other', problem('missing-suppression-key', message, { at, hint }));
    }
    const isListed = rules?.isListed;
    if (isListed === undefined) return () => false;
    return (to, key) => {
      if (isListed(to, key, now)) return true;
      if (hasAddresses === 0 && keyId === null) return false;
      for (const form of formsOf(to, key)) {
        if (form !== to && address.get(form, now, topic) !== undefined) return true;
        if (keyId !== null && hasher !== null && hashed.get(hasher.hash(form), now, topic) !== undefined) return true;
      }
      return false;
    };
  };
}
