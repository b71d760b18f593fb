import type { Channel } from '../model.ts';
import { listedForm } from '../util/address-form.ts';
import { isTest } from '../util/occurrence-name.ts';
import type { Connection } from './connection.ts';
import type { AnswerNames, FollowedMessage, Reach, ReachRules } from './ledger.ts';
import { postedFromOf } from './reading.ts';
import { type Cap, FELL_BACK, type RunIdentity, type RunRecord } from './records.ts';

interface Source extends OtherRun {
  /** The run is active: its rows may still change. */
  readonly isLive: boolean;
  /** Added to the row it is the number of the message. */
  readonly base: number;
  /** It was started or amended since: another source has its rows. */
  isReplaced: boolean;
  /** Later steps that began while a live run was running: how many there are, and which are in the index. */
  laterSteps: number;
  readonly indexed: Set<number>;
}

/** The contact history that a claim checks in its own transaction (failures.md, A2). */
export function reachOf(connection: Connection, own: RunIdentity, rules: ReachRules): Reach {
  const runs = otherRuns(connection, own, rules);
  const rows = reachRows(connection);
  const sources: Source[] = [];
  const byNumber = new Map<number, Source>();
  const purged: RunIdentity[] = [];

  // The version before the runs, and the runs before their rows: the next refresh finds what changes in between.
  let seenVersion = connection.version();
  let seenRuns = runs.signature();
  const begun = runs.read();
  const index = createReachIndex(begun.reduce((sum, run) => sum + run.rows, 0));
  const times = createTimes();
  let hasExcluded = false;
  let hasFollowed = false;
  let base = 0;
  const add = (run: OtherRun, isLive: boolean): void => {
    hasExcluded ||= run.isExcluded || run.isSame;
    hasFollowed ||= run.isFollowed;
    const former = byNumber.get(run.number);
    if (former !== undefined) former.isReplaced = true;
    const source: Source = { ...run, isLive, base, isReplaced: false, laterSteps: 0, indexed: new Set() };
    byNumber.set(run.number, source);
    sources.push(source);
    base += rows.lastRow(run.list) + 1;
    if (base > MOST_ROWS) throw new Error('the ledger has more rows than can be numbered');
    const sinceMs = Math.min(
      run.isCounted ? (rules.sinceMs ?? 0) : Number.MAX_SAFE_INTEGER,
      run.isSame ? (rules.sameSinceMs ?? 0) : Number.MAX_SAFE_INTEGER,
    );
    if (!run.isPurged) fill(index, rows, source, times, sinceMs);
    else if (run.isExcluded || run.isFollowed || rows.wasReachedSince(run.list, sinceMs)) purged.push(run);
  };
  for (const run of begun) add(run, run.isRunning);

  /** Messages that may be the last recipient's: several rules ask about the same recipient in turn. */
  const found: number[] = [];
  let askedTo: string | null = null;
  let askedKey: string | null = null;
  const find = (to: string, key: string): readonly number[] => {
    if (to === askedTo && key === askedKey) return found;
    found.length = 0;
    index.find(listedForm(key), found);
    if (to !== key) index.find(listedForm(to), found);
    [askedTo, askedKey] = [to, key];
    return found;
  };
  const sentAt = (source: Source, message: number, to: string, key: string): number =>
    rows.reachedAt(source.list, message - source.base, key, to);
  /** Whether `max` of these messages count towards a cap. Reads the ledger only if there are that many. */
  const isUsedUp = (messages: readonly number[], to: string, key: string, { max, sinceMs, topic }: Cap): boolean => {
    if (messages.length < max) return false;
    const counted = messages.filter((message) => {
      const source = sourceOf(sources, message);
      const isAboutThis = topic === undefined || source.topic === topic;
      return source.isCounted && isAboutThis && !source.isReplaced && times.newest(message) >= sinceMs;
    });
    if (counted.length < max) return false;
    let had = 0;
    return counted.some((message) => sentAt(sourceOf(sources, message), message, to, key) >= sinceMs && ++had >= max);
  };

  return {
    purged,
    excludedBy(to, key) {
      if (!hasExcluded) return null;
      const messages = find(to, key);
      // Reports the newest run.
      for (let i = messages.length - 1; i >= 0; i--) {
        const message = messages[i] ?? 0;
        const source = sourceOf(sources, message);
        if (source.isReplaced) continue;
        if (source.isExcluded && sentAt(source, message, to, key) >= 0) return source;
        // Another row of the same person has another time, and so another key.
        if (source.isSame && sentAt(source, message, key, key) >= 0) return source;
      }
      return null;
    },
    followed(key) {
      if (!hasFollowed) return null;
      for (const message of find(key, key)) {
        const source = sourceOf(sources, message);
        if (!source.isFollowed || source.isReplaced) continue;
        const sent = rows.lastStep(source.list, message - source.base, key);
        if (sent !== null) return { run: source.number, ...sent };
      }
      return null;
    },
    replyTo: (message, names) => rows.reply(message.postedFrom ?? own.environment, message, names),
    cappedBy(to, key, caps) {
      const messages = find(to, key);
      for (const cap of caps) if (isUsedUp(messages, to, key, cap)) return cap;
      return null;
    },
    refresh() {
      const now = connection.version();
      if (now === seenVersion) return;
      askedTo = null;
      const runsNow = runs.signature();
      if (runsNow !== seenRuns) {
        for (const run of runs.read()) {
          const known = byNumber.get(run.number);
          if (known === undefined || known.list !== run.list || known.starts !== run.starts) add(run, true);
        }
      }
      for (const source of sources) {
        if (source.isLive && !source.isReplaced) addLaterSteps(index, rows, source, times);
      }
      seenRuns = runsNow;
      seenVersion = now;
    },
  };
}

/** Reads a run into the index: all its recipients if its rows may still change, else those it reached. */
function fill(index: ReachIndex, rows: ReachRows, source: Source, times: Times, sinceMs: number): void {
  const add: AddPerson = (person, row, sentMs) => {
    index.add(listedForm(person), source.base + row);
    times.note(source.base + row, sentMs);
  };
  // A follow-up also waits for recipients who are still to be sent to.
  if (source.isLive || source.isFollowed) {
    rows.all(source.list, add);
    addLaterSteps(index, rows, source, times);
    return;
  }
  // `exclude` has no period: the time of the message does not matter.
  const fromMs = source.isExcluded ? 0 : sinceMs;
  rows.reached(source.list, fromMs, add);
}

/** A later step of a live run can begin at any time, and its address is known only then. */
function addLaterSteps(index: ReachIndex, rows: ReachRows, source: Source, times: Times): void {
  const steps = rows.laterSteps(source.list);
  if (steps === source.laterSteps) return;
  source.laterSteps = steps;
  rows.allLater(source.list, (person, row, step) => {
    const which = step * ROWS + row;
    if (source.indexed.has(which)) return;
    source.indexed.add(which);
    index.add(listedForm(person), source.base + row);
    times.note(source.base + row, Number.POSITIVE_INFINITY);
  });
}

/** Row numbers are below this. */
const ROWS = 2 ** 32;

/** The index numbers messages in 32 bits. */
const MOST_ROWS = ROWS - 1;

/** The last run that begins before this message. */
function sourceOf(sources: readonly Source[], message: number): Source {
  let [low, high] = [0, sources.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((sources[middle]?.base ?? 0) <= message) low = middle;
    else high = middle - 1;
  }
  const source = sources[low];
  if (source === undefined) throw new Error('a message in the index is of a run');
  return source;
}

type Times = ReturnType<typeof createTimes>;

/** Messages that share one time: a run sends them within seconds. */
const BLOCK = 1024;

function createTimes() {
  const newest: number[] = [];
  return {
    note(message: number, sentMs: number): void {
      const block = Math.floor(message / BLOCK);
      while (newest.length <= block) newest.push(Number.NEGATIVE_INFINITY);
      if (sentMs > (newest[block] ?? 0)) newest[block] = sentMs;
    },
    /** The latest time at which a message near this one was sent: if it is too old, the ledger is not read. */
    newest: (message: number): number => newest[Math.floor(message / BLOCK)] ?? Number.NEGATIVE_INFINITY,
  };
}

interface OtherRun extends RunIdentity, Pick<RunRecord, 'number' | 'list' | 'starts' | 'rows' | 'topic' | 'isCounted'> {
  readonly isRunning: boolean;
  readonly isPurged: boolean;
  readonly isExcluded: boolean;
  /** It is another run of the campaign itself, whose rows have times. */
  readonly isSame: boolean;
  readonly isFollowed: boolean;
}

/** Other runs that a rule asks about; `signature` changes when a run was begun, started or amended. */
function otherRuns(connection: Connection, own: RunIdentity, rules: ReachRules) {
  const sums = connection.query(
    `SELECT count(*), sum(starts), sum(list) FROM runs WHERE environment = ? AND state <> 'loading'`,
  );
  const all = connection.query(
    `SELECT number, campaign, occurrence, list, starts, rows, state, counted, finished_at, purged_at, topic FROM runs
      WHERE environment = ? AND state <> 'loading' ORDER BY number`,
  );
  const isExcluded = (campaign: string, occurrence: string): boolean =>
    rules.exclude.some((e) => e.campaign === campaign && (e.occurrence === null || e.occurrence === occurrence));
  const { environment } = own;

  return {
    signature: () => (sums.get(environment) ?? []).join(' '),
    read: () =>
      all.all(environment).flatMap((row): OtherRun[] => {
        const campaign = String(row[1]);
        const occurrence = String(row[2]);
        if (campaign === own.campaign && occurrence === own.occurrence) return [];
        // A test message may go to an address that is also on the list.
        if (isTest(occurrence)) return [];
        // Without an end it may have been killed, and its last claims have to be read from the rows.
        const ended = row[8] ?? null;
        const isSince = (ms: number | null): boolean => ms !== null && (ended === null || Number(ended) >= ms);
        const run = {
          environment,
          campaign,
          occurrence,
          number: Number(row[0]),
          list: Number(row[3]),
          starts: Number(row[4]),
          rows: Number(row[5]),
          isRunning: row[6] === 'running',
          isPurged: (row[9] ?? null) !== null,
          topic: (row[10] ?? null) as string | null,
          isExcluded: isExcluded(campaign, occurrence),
          isCounted: isSince(rules.sinceMs) && row[7] !== 0,
          isSame: campaign === own.campaign && isSince(rules.sameSinceMs ?? null),
          isFollowed: campaign === rules.follows && occurrence === own.occurrence,
        };
        return run.isExcluded || run.isCounted || run.isSame || run.isFollowed ? [run] : [];
      }),
  };
}

/**
 * Messages by hash of the recipient. May return one of another recipient with the same hashes (once in 10^12 look-ups),
 * but misses none: a caller that must be sure reads the ledger.
 */
export type ReachIndex = ReturnType<typeof createReachIndex>;

/** Initial size at most: most runs are older than the period of a cap, and not in it. */
const MOST_EXPECTED = 1 << 21;
const LEAST_EXPECTED = 1 << 10;

/** At most five in six slots are taken: a look-up without a result reads some 18 adjacent slots. */
const SLOTS_PER_MESSAGE = 1.2;

/** Slots of two words: a hash of the person, and the message + 1; 0 if free. */
type Table = ReturnType<typeof createTable>;

/**
 * An open-addressing hash table: 9.6 bytes a message, one memory access for each look-up. A temporary table of SQLite
 * takes 4.6 us for a look-up, a Map 150 bytes a message. A table never grows, because the second half of the hash is
 * not stored. When it is full, another one, half as large as all before, takes what follows.
 */
export function createReachIndex(expected: number) {
  let last = createTable(Math.min(Math.max(expected, LEAST_EXPECTED), MOST_EXPECTED));
  const tables = [last];
  let size = 0;
  // An array instead of a pair: nothing is allocated for a look-up.
  const hashes = new Uint32Array(2);
  return {
    /**
     * @param person - a key or an address; other names of the person are not known
     * @param message - whole, 0 to 2^32 - 2
     */
    add(person: string, message: number): void {
      if (last.room === 0) {
        last = createTable(Math.ceil(size / 2));
        tables.push(last);
      }
      hash(person, hashes);
      const { words } = last;
      let at = placeOf(last, hashes);
      while (words[at + 1] !== 0) at = at + 2 === words.length ? 0 : at + 2;
      words[at] = hashes[0] ?? 0;
      words[at + 1] = message + 1;
      last.room -= 1;
      size += 1;
    },
    /** Adds messages that may be this person's to `messages`, unless they are there. */
    find(person: string, messages: number[]): void {
      hash(person, hashes);
      const wanted = hashes[0];
      for (const table of tables) {
        const { words } = table;
        let at = placeOf(table, hashes);
        for (let held = words[at + 1] ?? 0; held !== 0; held = words[at + 1] ?? 0) {
          if (words[at] === wanted && !messages.includes(held - 1)) messages.push(held - 1);
          at = at + 2 === words.length ? 0 : at + 2;
        }
      }
    },
  };
}

function createTable(room: number) {
  const slots = Math.ceil(room * SLOTS_PER_MESSAGE);
  // `room`: how many more messages it takes.
  return { words: new Uint32Array(slots * 2), slots, room };
}

function placeOf({ slots }: Table, hashes: Uint32Array): number {
  return Math.floor(((hashes[1] ?? 0) / 0x1_0000_0000) * slots) * 2;
}

/** cyrb53, a public-domain hash with two 32-bit halves: one is stored, the other gives the slot. */
function hash(person: string, hashes: Uint32Array): void {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let i = 0; i < person.length; i++) {
    const unit = person.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x9e3779b1);
    b = Math.imul(b ^ unit, 0x5f356495);
  }
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  hashes[0] = b;
  hashes[1] = a;
}

/** A row of a run reached a person, or may have; `sentMs` is infinite where it is not known or may change. */
type AddPerson = (person: string, row: number, sentMs: number) => void;

type ReachRows = ReturnType<typeof reachRows>;

/** V8's young generation frees a page of this size: with 4000 rows a start peaked 9 MB higher, and was not faster. */
const PAGE_ROWS = 500;

/** An unknown time counts in any period. */
const UNKNOWN_MS = Number.POSITIVE_INFINITY;

function reachRows(connection: Connection) {
  const { query } = connection;

  /** Reads a query by pages: (list, step, after row, since, how many). */
  const pages = (sql: string, list: number, step: number, sinceMs: number, take: (row: readonly unknown[]) => void) => {
    for (let after = -1; ; ) {
      const rows = query(sql).all(list, step, after, sinceMs, PAGE_ROWS);
      for (const row of rows) take(row);
      if (rows.length < PAGE_ROWS) return;
      after = Number(rows.at(-1)?.[0]);
    }
  };
  const lastStep = (list: number): number => Number(query(LAST_STEP).get(list)?.[0] ?? 0);

  return {
    /** All recipients who may be reached, now or later. */
    all(list: number, add: AddPerson): void {
      pages(ALL_PAGE, list, 0, 0, ([row, key, address]) => {
        if (typeof key === 'string') add(key, Number(row), UNKNOWN_MS);
        if (typeof address === 'string') add(address, Number(row), UNKNOWN_MS);
      });
    },
    /** Recipients reached since an instant, by key and by the address of each step. */
    reached(list: number, sinceMs: number, add: AddPerson): void {
      for (let step = 0; step <= lastStep(list); step++) {
        pages(REACHED_PAGE, list, step, sinceMs, ([row, key, address, sent]) => {
          const sentMs = timeOf(sent);
          if (typeof key === 'string') add(key, Number(row), sentMs);
          if (typeof address === 'string') add(address, Number(row), sentMs);
          for (let former = 0; former < step; former++) {
            const [own] = query(ADDRESS).get(list, former, Number(row)) ?? [];
            if (typeof own === 'string' && own !== key) add(own, Number(row), sentMs);
          }
        });
      }
    },
    allLater(list: number, add: (person: string, row: number, step: number) => void): void {
      for (let step = 1; step <= lastStep(list); step++) {
        pages(ALL_PAGE, list, step, 0, ([row, key, address]) => {
          const person = address ?? key;
          if (typeof person === 'string') add(person, Number(row), step);
        });
      }
    },
    laterSteps: (list: number) => Number(query(LATER_STEPS).get(list)?.[0] ?? 0),
    /** -1 if the list has none. */
    lastRow: (list: number) => Number(query(LAST_ROW).get(list)?.[0] ?? -1),
    /** When the last step of this row reached this key or address. -1: it did not, or the row is another recipient's. */
    reachedAt(list: number, row: number, key: string, to: string): number {
      let isThem = false;
      const names = [listedForm(key), listedForm(to)];
      for (let step = 0; ; step++) {
        const [reached, fellBack, sent, itsKey, address] = query(STATE).get(list, step, row) ?? [];
        // Purged after the run was read: it counts as a match, because a second message is worse than a missing one.
        isThem ||=
          itsKey === null ||
          [itsKey, address].some((one) => typeof one === 'string' && names.includes(listedForm(one)));
        if (reached === 1) return isThem ? timeOf(sent) : -1;
        if (fellBack !== 1) return -1;
      }
    },
    /** The last step of this row; null where the row belongs to another key. */
    lastStep(list: number, row: number, key: string): Omit<FollowedMessage, 'run'> | null {
      let found: Omit<FollowedMessage, 'run'> | null = null;
      for (let step = 0; ; step++) {
        const said = query(FOLLOWED).get(list, step, row);
        if (said === undefined || (step === 0 && said[2] !== key)) return found;
        const [state, reason, , address, channel, messageId, at, resend, postedFrom] = said;
        found = {
          row,
          state: String(state),
          channel: channel as Channel,
          to: typeof address === 'string' ? address : key,
          messageId: typeof messageId === 'string' ? messageId : null,
          claimedAtMs: Number(at ?? 0),
          resend: Number(resend ?? 0),
          ...postedFromOf(postedFrom),
        };
        if (reason !== FELL_BACK) return found;
      }
    },
    /** The answer to a message, or one that came from its address since. */
    reply(
      environment: string,
      { run, row, messageId, claimedAtMs }: FollowedMessage,
      { sender, reference }: AnswerNames,
    ) {
      const [count, optedOut] =
        query(REPLIES).get(run, row, sender, environment, claimedAtMs, messageId, reference) ?? [];
      if (Number(count ?? 0) === 0) return null;
      return Number(optedOut ?? 0) > 0 ? 'opt-out' : 'answer';
    },
    wasReachedSince: (list: number, sinceMs: number) => query(ANY_REACHED).get(list, sinceMs) !== undefined,
  };
}

// Reached: accepted, perhaps accepted, or claimed, and who waits for a second message, because the first may have arrived:
// chains of `=`, as in the schema. The time is that of the claim: an answer or the resolution of a doubt may come days
// later.
const REACHED = `(state = 'accepted' OR state = 'in-doubt' OR state = 'claimed'
    OR resolved_by = 'resend' OR resolved_by = 'resend-changed')`;

const REACHED_PAGE = `SELECT row, key, nullif(address, key), coalesce(claimed_at, updated_at) FROM recipients
  WHERE list = ?1 AND step = ?2 AND row > ?3 AND ${REACHED}
    AND (coalesce(claimed_at, updated_at) IS NULL OR coalesce(claimed_at, updated_at) >= ?4)
  ORDER BY row LIMIT ?5`;

const ALL_PAGE = `SELECT row, key, nullif(address, key), ?4 FROM recipients
  WHERE list = ?1 AND step = ?2 AND row > ?3 AND state <> 'skipped' ORDER BY row LIMIT ?5`;

const STATE = `SELECT coalesce(${REACHED}, false),
    state = 'rejected' AND reason IS NOT DISTINCT FROM 'fell-back', coalesce(claimed_at, updated_at), key, address
  FROM recipients WHERE list = ? AND step = ? AND row = ?`;

const FOLLOWED = `SELECT state, reason, key, address, coalesce(channel, (SELECT runs.channel FROM runs WHERE runs.list = recipients.list)),
    message_id, coalesce(claimed_at, updated_at), resend, posted_from
  FROM recipients WHERE list = ? AND step = ? AND row = ?`;

// Replies to the row, replies from the address, and those that name the message but came in too recently to be joined.
const REPLIES = `SELECT count(*), max(CASE coalesce(reviewed_as, meaning) WHEN 'opt-out' THEN 1 ELSE 0 END) FROM replies
  WHERE (run = ?1 AND row = ?2)
    OR (sender = ?3 AND environment = ?4 AND coalesce(happened_at, received_at) >= ?5)
    OR (run IS NULL AND row IS NULL AND environment = ?4 AND (message_id = ?6 OR reference = ?7))`;

const ADDRESS = 'SELECT address FROM recipients WHERE list = ? AND step = ? AND row = ?';

const LAST_ROW = 'SELECT max(row) FROM recipients WHERE list = ? AND step = 0';

const LAST_STEP = 'SELECT max(step) FROM recipients WHERE list = ?';

const LATER_STEPS = 'SELECT count(*) FROM recipients WHERE list = ? AND step > 0';

const ANY_REACHED = `SELECT 1 FROM recipients
  WHERE list = ? AND ${REACHED}
    AND (coalesce(claimed_at, updated_at) IS NULL OR coalesce(claimed_at, updated_at) >= ?) LIMIT 1`;

function timeOf(value: unknown): number {
  return typeof value === 'number' ? value : UNKNOWN_MS;
}
