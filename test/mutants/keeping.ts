import { edit, type Mutant, mutant } from './mutant.ts';

const COMMITS = 'src/ledger/commits.ts';
const STARTS = 'src/ledger/starts.ts';
const SQLITE = 'src/ledger/sqlite-connection.ts';
const OPEN = 'src/ledger/open.ts';
const LOCK = 'src/ledger/lock.ts';
const SCHEMA = 'src/ledger/schema.ts';
const MOVES = 'src/ledger/moves.ts';

const RECOVER = `SET state = 'in-doubt', reason = 'crash', attempts`;
const NO_MOVES = {
  file: SCHEMA,
  was: '  ...TRIGGERS.map(forSqlite),',
  is: "  ...TRIGGERS.filter(({ name }) => name !== 'recipients_move').map(forSqlite),",
};

/** What the ledger promises: FAILURES rules 8, 9, 12 and 13, and section H of its table. */
export const KEEPING: readonly Mutant[] = [
  mutant('requeue-claimed', {
    planted: 'what was claimed when the process died goes back to pending',
    ...edit(STARTS, RECOVER, `SET state = 'pending', reason = NULL, attempts`),
    proof: { in: 'kills/rows.test.ts', only: 'killed after the claim' },
  }),
  mutant('requeue-the-newest-claims', {
    planted: 'the claims of the last moment are taken for not yet sent',
    file: STARTS,
    was: RECOVER,
    is: `SET state = CASE WHEN claimed_at >= (SELECT max(claimed_at) FROM recipients) - 5 THEN 'pending' ELSE 'in-doubt' END,
      reason = CASE WHEN claimed_at >= (SELECT max(claimed_at) FROM recipients) - 5 THEN NULL ELSE 'crash' END, attempts`,
    proof: { in: 'kills/rows.test.ts', only: 'killed after the hook' },
  }),
  mutant('claims-forgotten-by-amend', {
    planted: 'with --allow input-changed, what was in flight at a crash is new again',
    file: 'src/ledger/lists.ts',
    was: '        connection.statement(RECOVER)(now, oldList);\n',
    is: '        void [RECOVER, now];\n',
    proof: { in: 'ledger/amend.test.ts' },
  }),
  mutant('doubts-forgotten-by-amend', {
    planted: 'with --allow input-changed, a recipient in doubt is new again',
    file: 'src/ledger/lists.ts',
    was: `AND (o.state = 'accepted' OR o.state = 'in-doubt' OR o.state = 'rejected'\n      OR`,
    is: `AND (o.state = 'accepted' OR o.state = 'rejected'\n      OR`,
    proof: { in: 'ledger/amend.test.ts' },
  }),
  mutant('doubt-forgotten-by-a-skip', {
    planted: 'a rule skips a recipient who was to be sent to once more, who then counts as never sent to',
    ...edit(SCHEMA, `(NEW.state = 'skipped' OR (NEW.state`, `(FALSE OR (NEW.state`),
    proof: { in: 'ledger/doubts.test.ts', only: 'is in force again' },
  }),
  mutant('doubt-forgotten-by-a-refusal', {
    planted: 'the API refuses a second message, and the recipient counts as never sent to',
    ...edit(SCHEMA, ` OR (NEW.state = 'rejected' AND NEW.reason IS`, ` OR (FALSE AND NEW.reason IS`),
    proof: { in: 'ledger/doubts.test.ts', only: 'is in force again' },
  }),
  mutant('ordered-doubt-forgotten-by-amend', {
    planted: 'a changed list skips a recipient who was to be sent to once more, who then counts as never sent to',
    file: 'src/ledger/lists.ts',
    was: '        connection.statement(SKIPPED_AS_BEFORE)(newList);\n',
    is: '        void SKIPPED_AS_BEFORE;\n',
    proof: { in: 'ledger/doubts.test.ts', only: 'is in force again' },
  }),
  mutant('text-of-the-first-start', {
    planted: 'with --allow input-changed, a row is said to have the text of the first start',
    ...edit(COMMITS, '[topic, run.postedFrom, run.version]', '[topic, run.postedFrom, 1]'),
    proof: { in: 'send/versions.test.ts', only: 'is kept with every row' },
  }),
  mutant('text-lost-by-amend', {
    planted: 'with --allow input-changed, no row knows any more which text it was sent',
    file: 'src/ledger/lists.ts',
    was: ' posted_from = o.posted_from, version = o.version,',
    is: ' posted_from = o.posted_from,',
    proof: { in: 'send/versions.test.ts', only: 'is kept with every row' },
  }),
  mutant('a-list-is-a-text', {
    planted: 'a changed list is counted as another text',
    ...edit('src/ledger/versions.ts', "role !== 'recipients'", "role !== 'day'"),
    proof: { in: 'send/versions.test.ts', only: 'after a change of the list' },
  }),
  mutant('displaced-unnoticed', {
    planted: 'claims are made in a ledger that was removed or replaced',
    ...edit(COMMITS, 'claims.length > 0 ? connection.displacement() : null', 'null'),
    proof: { in: 'processes/displaced.test.ts', only: 'under a running send: its folder is removed' },
  }),
  mutant('displaced-at-the-end', {
    planted: 'a start ends well although its ledger was replaced after the last claim',
    ...edit('src/send/run.ts', "ledger.displacement('last')", 'null'),
    proof: { in: 'processes/displaced.test.ts', only: 'after the last claim' },
  }),
  mutant('displaced-not-saved', {
    planted: 'what a command knows of a ledger that was replaced is not saved',
    ...edit(SQLITE, 'this.copyTo(nameOfCopy(this.path))', 'nameOfCopy(this.path)'),
    proof: { in: 'processes/displaced.test.ts', only: 'an older copy gets its name' },
  }),
  mutant('synchronous-normal', {
    planted: 'synchronous=NORMAL: a commit returns before it is on the disk',
    file: 'src/ledger/sqlite-connection.ts',
    was: `{ set: 'PRAGMA synchronous = FULL', get: 'PRAGMA synchronous', value: 2 }`,
    is: `{ set: 'PRAGMA synchronous = NORMAL', get: 'PRAGMA synchronous', value: 1 }`,
    proof: { in: 'disk/claims.test.ts', only: 'C11' },
  }),
  mutant('posts-after-the-window', {
    planted: 'a window that closes during the commit of a claim does not hold it back',
    ...edit('src/send/group-commit.ts', '(isStopped || isOver(claim, afterMs))', 'isStopped'),
    proof: { in: 'send/window.test.ts', only: 'during the commit of the claim' },
  }),
  mutant('suppression-at-plan-time', {
    planted: 'suppression is looked up when the list is read, and not in the claim',
    ...edit(COMMITS, 'WHERE suppressions.address = ?5 AND COUNTS', "WHERE suppressions.address = '' AND COUNTS"),
    proof: { in: 'send/suppressed.test.ts' },
  }),
  mutant('suppression-files-for-the-first-step-alone', {
    planted: 'the files of a start are looked up when the list is read, and not in the claim',
    file: 'src/ledger/commits.ts',
    was: 'if (isListed(to, key, now)) return true;',
    is: "if (isListed('', '', now)) return true;",
    proof: { in: 'send/suppressed.test.ts', only: 'counts for fallbacks too' },
  }),
  mutant('hashes-at-plan-time', {
    planted: 'hashes are looked up when the list is read, and not in the claim',
    file: 'src/ledger/commits.ts',
    was: 'hashed.get(hasher.hash(form), now, topic) !== undefined',
    is: 'hashed.get(form, now, topic) !== undefined',
    proof: { in: 'send/suppressed.test.ts', only: 'count from then on' },
  }),
  mutant('hashes-without-key-read-over', {
    planted: 'a run without the key goes on when hashes come',
    file: 'src/ledger/commits.ts',
    was: 'if (keyId !== null && keyId !== hasher?.keyId) {',
    is: 'if (keyId === undefined) {',
    proof: { in: 'send/suppressed.test.ts', only: 'stops claiming when hashes come' },
  }),
  mutant('bad-opt-out-read-over', {
    planted: 'a row of a suppression list that is not understood is left out',
    file: 'src/plan/suppression.ts',
    was: 'if (fault !== null && ++total <= NAMED_FAULTS)',
    is: 'if (fault !== null && total > NAMED_FAULTS)',
    proof: { in: 'plan/suppression.test.ts', only: 'everything that is wrong' },
  }),
  mutant('email-case-counts', {
    planted: 'an email address in capitals is another one to a suppression list',
    ...edit('src/util/address-form.ts', "address.includes('@') ? address.toLowerCase() : address", 'address'),
    proof: { in: 'plan/suppression.test.ts', only: 'no recipient on any list' },
  }),
  mutant('claim-anything', {
    planted: 'a claim takes a row in whatever state, and the database lets it',
    edits: [
      { file: COMMITS, was: "AND row = ?3 AND state = 'pending' AND key = ?4", is: 'AND row = ?3 AND key = ?4' },
      NO_MOVES,
    ],
    proof: { in: 'ledger/lock.test.ts', only: 'a lock that was lost' },
  }),
  mutant('moves-not-enforced', {
    planted: 'the trigger that knows the legal moves is gone',
    edits: [NO_MOVES],
    proof: { in: 'ledger/moves.test.ts' },
  }),
  mutant('doubt-resolved-by-nobody', {
    planted: 'the trigger lets a doubt be resolved without the name of a person',
    file: MOVES,
    was: 'sql: `NEW.resolved_by IS NOT NULL AND EXISTS (',
    is: 'sql: `true OR EXISTS (',
    proof: { in: 'ledger/moves.test.ts' },
  }),
  mutant('no-run-lock', {
    planted: 'the run lock is not taken',
    file: 'src/send/run-lock.ts',
    was: 'ledger.lock(identity, despiteWorkers)',
    is: 'ledger.lock({ ...identity, occurrence: String(process.pid) }, despiteWorkers)',
    proof: { in: 'e2e/refusals.test.ts', only: 'is held by one process' },
  }),
  {
    name: 'lock-by-pid-file',
    planted: 'the lock is a file with a process id, which outlives a kill',
    edits: [
      {
        file: LOCK,
        was: `import { basename, dirname, join } from 'node:path';\n`,
        is: `import { basename, dirname, join } from 'node:path';\nimport { rmSync, writeFileSync } from 'node:fs';\n`,
      },
      {
        file: LOCK,
        was: '  const db = lockExclusively(file, TAKE_WAIT_MS);\n  if (db === null) return null;\n',
        is: `  try {
    writeFileSync(\`\${file}.pid\`, String(process.pid), { flag: 'wx' });
  } catch {
    return null;
  }
  const db = { isOpen: true, close: () => rmSync(\`\${file}.pid\`, { force: true }) };
`,
      },
    ],
    proof: { in: 'e2e/refusals.test.ts', only: 'SIGKILL' },
  },
  mutant('lock-file-opened-again', {
    planted: 'the lock file is opened and closed beside SQLite, which drops the lock',
    edits: [
      edit(LOCK, `import { existsSync } from 'node:fs';`, `import { closeSync, existsSync, openSync } from 'node:fs';`),
      {
        file: LOCK,
        was: '  if (db === null) return null;\n',
        is: "  if (db === null) return null;\n  closeSync(openSync(file, 'r'));\n",
      },
    ],
    proof: { in: 'e2e/refusals.test.ts', only: 'is held by one process' },
  }),
  mutant('no-marker', {
    planted: 'nothing remembers that a project was sent from',
    ...edit(SQLITE, '      leaveMarker(this.path);\n', ''),
    proof: { in: 'ledger/open.test.ts', only: 'missing' },
  }),
  mutant('marker-not-synced', {
    planted: 'the marker beside the ledger is written, and not brought to the disk',
    file: 'src/ledger/private-files.ts',
    was: 'content, written);\n    fsyncSync(fd);\n',
    is: 'content, written);\n    if (content.length === 0) fsyncSync(fd);\n',
    proof: { in: 'disk/power-loss.test.ts', only: 'the first start', full: true },
  }),
  mutant('name-of-marker-not-synced', {
    planted: 'the name of the marker is not brought to the disk',
    file: 'src/ledger/private-files.ts',
    was: '  syncFolder(dirname(file));\n',
    is: '  if (content.length === 0) syncFolder(dirname(file));\n',
    proof: { in: 'disk/power-loss.test.ts', only: 'the first start', full: true },
  }),
  mutant('marker-not-asked', {
    planted: 'a ledger that is gone is made anew without a word',
    file: OPEN,
    was: "if (found !== 'ours' && hasMarker(path) && options.allow?.includes('ledger-missing') !== true)\n      throw ledgerMissing(path);",
    is: '',
    proof: { in: 'ledger/open.test.ts', only: 'missing' },
  }),
  mutant('written-after-an-io-error', {
    planted: 'a handle is written on after an I/O error',
    ...edit('src/ledger/ledger-error.ts', `new Set(['io', 'corrupt', 'readonly'])`, `new Set(['corrupt'])`),
    proof: { in: 'disk/errors.test.ts' },
  }),
  mutant('reserve-kept', {
    planted: 'the reserve is not given back when the disk is full',
    ...edit(SQLITE, '    rmSync(reserveOf(this.path), { force: true });\n', ''),
    proof: { in: 'ledger/disk.test.ts', only: 'full disk' },
  }),
  mutant('clock-not-compared', {
    planted: 'a clock that was set back is not noticed',
    ...edit(OPEN, '      checkClock(connection, options.nowMs);\n', ''),
    proof: { in: 'processes/clock.test.ts', only: 'six minutes back' },
  }),
  mutant('any-database-used', {
    planted: 'a database of another program is taken for a ledger',
    edits: [
      { file: OPEN, was: 'if (application !== APPLICATION_ID) {', is: 'if (application === -1) {' },
      { file: OPEN, was: 'if (version !== VERSION || !hasSchema(db)) throw', is: 'if (version === -1) throw' },
    ],
    proof: { in: 'ledger/open.test.ts', only: 'untouched when it is not ours' },
  }),
  mutant('ledger-through-a-link', {
    planted: 'a link in the place of the ledger is followed',
    edits: [
      { file: 'src/ledger/private-files.ts', was: 'if (facts.isSymbolicLink()) {', is: 'if (facts.isFIFO()) {' },
      { file: 'src/ledger/private-files.ts', was: 'if (!facts.isFile()) {', is: 'if (facts.isFIFO()) {' },
    ],
    proof: { in: 'ledger/open.test.ts', only: 'refuses' },
  }),
];
