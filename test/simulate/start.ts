import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { HandbillError } from '../../src/errors.ts';
import { compilePointers } from '../../src/http/answer.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { NO_SUPPRESSIONS } from '../../src/plan/suppression.ts';
import type { AnswerRule } from '../../src/providers/provider.ts';
import { identityOf, prepareRun } from '../../src/send/prepare.ts';
import { sendRounds } from '../../src/send/rounds.ts';
import { sendRun } from '../../src/send/run.ts';
import type { PreparedStart } from '../../src/send/start.ts';
import type { Ending, Start, StartOptions } from './process.ts';
import { createRules } from './rules.ts';
import { openedFor, type SqliteWatch, sqliteError, type Word } from './sqlite.ts';
import { campaignOf, createSites, createTimers, lock, named, renamed } from './surroundings.ts';
import type { Operation, RowView } from './watch.ts';

/** What a kill is: thrown where the process was, so that it goes no further. */
export class Killed extends Error {}

/** Begins a start; it goes on as the world does. */
export function beginStart(options: StartOptions): Start {
  const { name, plan, folder, world, random, server, view, edition, guard, wait = false, prices = null } = options;
  const suppressions = options.suppressions ?? (() => NO_SUPPRESSIONS);
  const path = join(folder, 'ledger.db');
  const interrupt = new AbortController();
  const death = new AbortController();
  const timers = createTimers(world, random, death.signal);
  const drawn = campaignOf(edition.plan, plan, (key) => rules.begins(key));
  let ending: Ending | null = null;
  let operation: Operation = 'open';
  let ledger: Ledger | null = null;
  let db: DatabaseSync | null = null;
  let faults = 0;
  let ioFailed = false;
  let left = false;
  const sinceMs = world.monotonicMs;

  const kill = (site: string): void => {
    if (death.signal.aborted || ending !== null) return;
    world.cover(`kill:${site}`);
    world.note(() => `${name} KILLED: ${site}`);
    options.onKill();
    left = true;
    death.abort();
    endpoint.die();
    interrupt.abort();
  };
  const sites = createSites(plan, kill);
  const rules = createRules({ name, plan, edition, world, view });

  const decide = (word: Word, run: () => void): void => {
    // Whatever a dead process still tries comes to nothing; the kernel lets go of its locks.
    if (death.signal.aborted && word === 'rollback') run();
    if (death.signal.aborted) throw new Killed();
    if (ioFailed && word !== 'rollback') world.object(`${name} says ${word} after an I/O error`);
    if (word === 'commit') sites.at(`before ${operation}`);
    if (death.signal.aborted) throw new Killed();
    const { fault } = plan;
    const strikes = fault !== null && fault.word === word && fault.operation === operation;
    if (strikes) faults += 1;
    if (strikes && faults >= fault.first && faults < fault.first + fault.times) {
      world.cover(`fault:${fault.kind} ${word}`);
      world.cover(`fault in:${operation}`);
      world.note(() => `${name} ${word} of ${operation} fails: ${fault.kind}`);
      if (fault.kind.startsWith('io')) ioFailed = true;
      left = true;
      // A failed fsync: the bytes may be there all the same.
      if (fault.doneAllTheSame && word === 'commit') {
        run();
        committed();
      }
      rules.ledgerFailed(operation);
      throw sqliteError(fault.kind);
    }
    run();
    if (word !== 'commit') return;
    committed();
    sites.at(`after ${operation}`);
    if (death.signal.aborted) throw new Killed();
  };
  const committed = (): void => {
    if (db === null) return;
    world.note(() => `${name} ${operation} is on the disk`);
    world.cover(`commit:${operation}`);
    if (operation === 'start') {
      rules.started();
      options.onStarted();
    }
    if (operation === 'finishLoad' || operation === 'amend') {
      options.onLoaded();
      if (plan.tooShort && plan.allow.includes('list-too-short')) world.cover('list accepted');
      else if (plan.tooShort) world.object(`${name} takes a list that its campaign refuses`);
    }
    // Who holds the run is written down, and nothing of the run itself.
    if (operation === 'open') return;
    if (synchronous(db) !== SYNCHRONOUS_FULL)
      world.object(`${name} commits ${operation} without bringing it to the disk`);
    const mostClaimed = options.mostClaimed();
    const claimed = (row: RowView): void => {
      rules.claimed(row);
      guard?.claimed(row);
    };
    view.committed(db, { name, operation, mostClaimed, claimed, winner: plan.winner, sinceMs });
    guard?.committed(operation);
    if (operation === 'resolve') options.onSettled?.(db);
    if (operation === 'finishLoad') options.onTakenOver?.(db);
  };
  const watch: SqliteWatch = {
    opened(connection) {
      db = connection;
    },
    decide,
  };

  const connected = server.connect({
    profile: plan.profile,
    environment: plan.environment,
    form: edition.form,
    connections: plan.concurrency,
    timeoutMs: drawn.campaign.send.timeoutMs,
    onlyOwn: plan.onlyOwn,
    watch: {
      ready: () => sites.at('ready'),
      posting(body, asked) {
        sites.at('between claim and post');
        if (death.signal.aborted) return;
        rules.posting(body, asked);
        guard?.posting(asked);
      },
      received: () => sites.at('received'),
      answering(asked, behaviour, attempt) {
        sites.at('answered');
        if (death.signal.aborted) return;
        rules.answered(asked, behaviour, attempt);
        guard?.answered(asked);
      },
      connectFailed: (code) => rules.connectFailed(code),
    },
  });
  const endpoint = options.sabotage.endpoint?.(connected) ?? connected;

  const watched = (real: Ledger): Ledger => {
    if (db === null) throw new Error('The ledger was opened without being watched.');
    const sabotaged = options.sabotage.ledger?.(real, db) ?? real;
    return named(sabotaged, (next) => {
      const before = operation;
      operation = next;
      return () => {
        operation = before;
      };
    });
  };

  const pipeline = async (): Promise<Ending> => {
    const nowMs = world.wallMs;
    const name = view.rows.length > 0 ? plan.renamed : null;
    if (name !== null) world.cover(`renamed:${name}`);
    const campaign = name === null ? drawn : renamed(drawn, name);
    using held = openedFor(watch, () => lock(path, plan, identityOf(campaign), nowMs));
    const own = watched(held.ledger);
    ledger = own;
    guard?.begins();
    const now = (): number => world.wallMs;
    const lists = suppressions();
    const { environment } = campaign;
    const prepared = await prepareRun({
      ledger: own,
      plan:
        options.uncheckedBudget === true ? { ...campaign, environment: { ...environment, budget: null } } : campaign,
      prices,
      suppressions: lists,
      allow: plan.allow,
      retry: plan.retry ?? undefined,
      limit: plan.limit ?? undefined,
      winner: plan.winner ?? undefined,
      nowMs,
      interrupt: interrupt.signal,
    });
    if (prepared.toDo === 0 && prepared.continues && prepared.estimate === null) return { kind: 'nothing-to-do' };
    const [question] = prepared.questions;
    if (question !== undefined) {
      prepared.discard();
      return { kind: 'refused', exit: 2, code: question.code };
    }
    if (options.confirmMs !== undefined) await timers.sleep(options.confirmMs, interrupt.signal);
    if (plan.unconfirmed) {
      prepared.discard();
      return { kind: 'refused', exit: 2, code: 'not-confirmed' };
    }
    const start: PreparedStart = {
      ...prepared,
      plan: campaign,
      ledger: own,
      suppressions: lists,
      listsAgain: { readAtMs: nowMs, read: async () => suppressions() },
      prices,
      concurrency: plan.concurrency,
      ratePerSecond: plan.ratedByEnvironment ? environment.ratePerSecond : plan.ratePerSecond,
      interrupt: interrupt.signal,
      wait,
      now,
      random: () => random.next(),
      timers,
      commit: options.commit ?? null,
      pauseLookMs: 60_000,
    };
    const answers = plan.retryStatuses.map((status): AnswerRule => {
      return { statuses: [status], codeAt: null, codes: [], textAt: null, text: null, verdict: 'retry' };
    });
    const { wire: written } = campaign.environment;
    const wire = compilePointers({ ...written, answers: [...answers, ...written.answers] });
    const first = { run: prepared.finishLoad(), limit: plan.limit, posted: null };
    const end = await sendRounds(first, start, (pass) => sendRun(start, pass, { endpoint, wire, secrets: {} }));
    await endpoint.close(campaign.campaign.send.timeoutMs);
    rules.ended(end.state, end.ledgerError !== null);
    const { state, halt, opensAtMs } = end;
    return { kind: 'sent', state, halt: halt?.rule ?? null, ledgerFailed: end.ledgerError !== null, opensAtMs };
  };

  const gone = pipeline()
    .catch((error: unknown): Ending => endingOf(error))
    .then((said) => {
      ending = death.signal.aborted ? { kind: 'killed' } : said;
      world.note(() => `${name} ended: ${JSON.stringify(ending)}`);
    });

  return {
    name,
    plan,
    rules,
    endpoint,
    get ending() {
      return ending;
    },
    get killed() {
      return death.signal.aborted;
    },
    get mayHaveLeft() {
      return left;
    },
    kill,
    interrupt() {
      if (ending !== null) return;
      world.cover('interrupt');
      world.note(() => `${name} is interrupted`);
      rules.stopped('an interrupt');
      interrupt.abort();
    },
    abort() {
      if (ending !== null) return;
      world.cover('interrupt:second');
      world.note(() => `${name} is interrupted again`);
      rules.stopped('an interrupt');
      interrupt.abort();
      endpoint.abort();
    },
    pause(isPaused) {
      if (ending !== null || ledger === null || ioFailed) return;
      const by = { reason: 'wrong prices', who: 'ann@ops-1', nowMs: world.wallMs };
      const scope = { environment: drawn.environment.identity, campaign: null };
      try {
        if (isPaused) ledger.pause(scope, by);
        else ledger.resume(scope, by);
      } catch (error) {
        if (error instanceof Killed || error instanceof HandbillError) return;
        throw error;
      }
      world.cover(isPaused ? 'paused' : 'resumed');
      world.note(() => (isPaused ? 'everything is paused' : 'it is resumed'));
    },
    suppress(address) {
      if (ending !== null || ledger === null || ioFailed) return;
      try {
        ledger.suppress(address, { reason: null, untilMs: null, source: 'user', nowMs: world.wallMs });
      } catch (error) {
        if (error instanceof Killed || error instanceof HandbillError) return;
        throw error;
      }
      world.cover('suppressed while sending');
      world.note(() => `${address} is suppressed`);
      view.suppressed(address);
    },
    gone,
    get holdsOn() {
      return db?.isOpen === true;
    },
    bury: () => {
      if (db?.isOpen === true) db.close();
    },
  };
}

function endingOf(error: unknown): Ending {
  if (error instanceof HandbillError) {
    return { kind: 'refused', exit: error.exit, code: error.diagnostics[0]?.code ?? 'unknown' };
  }
  return { kind: 'bug', message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

/** 2: SQLite syncs at the end of a transaction; 1: it does not. */
/** https://sqlite.org/pragma.html#pragma_synchronous */
const SYNCHRONOUS_FULL = 2;

function synchronous(db: DatabaseSync): unknown {
  return db.prepare('PRAGMA synchronous').get()?.['synchronous'];
}
