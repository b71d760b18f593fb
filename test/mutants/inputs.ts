import type { Mutant } from './mutant.ts';

/** Who is sent what, and whether it is still the same: rows H5, J1 and J2 of the table of failures. */
export const INPUTS: readonly Mutant[] = [
  {
    name: 'day-in-utc',
    planted: 'relative dates count from the day in UTC, and not from that of the zone',
    edits: [
      {
        file: 'src/util/time.ts',
        was: 'return (ms) => Math.floor((ms + offsetMs(ms)) / DAY_MS) * DAY_MS;',
        is: 'return (ms) => Math.floor((ms + 0 * offsetMs(ms)) / DAY_MS) * DAY_MS;',
      },
    ],
    proof: { in: 'plan/day.test.ts', only: 'midnight' },
  },
  {
    name: 'day-of-the-clock',
    planted: 'relative dates count from the day of each start, and not from that of the occurrence',
    edits: [
      {
        file: 'src/plan/day.ts',
        was: 'instantMs(occurrence) ?? run?.createdAtMs ?? nowMs',
        is: 'nowMs',
      },
    ],
    proof: { in: 'plan/day.test.ts', only: 'late start' },
  },
  {
    name: 'day-not-recorded',
    planted: 'a run that continues after midnight takes another day',
    edits: [
      {
        file: 'src/plan/day.ts',
        was: "run?.inputs.find(({ role }) => role === 'day')?.file",
        is: "run?.inputs.find(({ role }) => role === 'settings')?.file",
      },
      { file: 'src/plan/day.ts', was: 'run?.createdAtMs ?? nowMs', is: 'nowMs' },
    ],
    proof: { in: 'send/relative-dates.test.ts', only: 'after midnight' },
  },
  {
    name: 'one-time-in-utc',
    planted: 'a campaign that goes out at one time goes out at that time in UTC',
    edits: [
      {
        file: 'src/util/wall-time.ts',
        was: 'return firstAt(wall, timeZone);',
        is: "return firstAt(wall, timeZone && 'UTC');",
      },
    ],
    proof: { in: 'schedule/read-schedule.test.ts', only: 'one time' },
  },
  {
    name: 'one-time-sent-twice',
    planted: 'a campaign with one time that is sent by hand before it goes out again then',
    edits: [
      {
        file: 'src/schedule/occurrence.ts',
        was: 'clock.latest(nowMs) ?? clock.next(nowMs);',
        is: 'clock.latest(nowMs);',
      },
    ],
    proof: { in: 'schedule/occurrence.test.ts', only: 'one time' },
  },
  {
    name: 'leap-day-forgotten',
    planted: 'born on 29 February: no anniversary in most years',
    edits: [
      {
        file: 'src/util/time.ts',
        was: 'return now.getUTCDate() === Math.min(then.getUTCDate(), last);',
        is: 'return now.getUTCDate() === then.getUTCDate() && last > 0;',
      },
    ],
    proof: { in: 'plan/day.test.ts', only: '29 February' },
  },
  {
    name: 'late-run-continued',
    planted: 'a run from long ago (a restored backup) is continued without a word',
    edits: [
      {
        file: 'src/send/prepare.ts',
        was: 'const LATE_MS = 24 * 3_600_000;',
        is: 'const LATE_MS = 24 * 3_600_000_000;',
      },
    ],
    proof: { in: 'send/late.test.ts', only: '24 hours' },
  },
  {
    name: 'validity-of-each-start',
    planted: 'a validity counts from each start and not from the first',
    edits: [
      { file: 'src/send/work.ts', was: 'const startMs = run.startedAtMs ?? now();', is: 'const startMs = now();' },
    ],
    proof: { in: 'send/validity.test.ts' },
  },
  {
    name: 'reference-from-content',
    planted: 'the reference is made from the text as well as from the person',
    edits: [
      {
        file: 'src/plan/expand.ts',
        was: 'onWire(referenceOf(decision.key, message.channel, decision.resend))',
        is: `onWire(referenceOf(\`\${decision.key} \${message.text}\`, message.channel))`,
      },
    ],
    proof: { in: 'processes/concurrency.test.ts', only: 'starts that overlap' },
  },
  {
    name: 'reference-without-occurrence',
    planted: 'two occurrences of a campaign use the same references',
    edits: [
      {
        file: 'src/plan/expand.ts',
        was: 'campaign, occurrence, channel, ...(resend',
        is: 'campaign, channel, ...(resend',
      },
    ],
    proof: { in: 'plan/expand.test.ts', only: 'reference' },
  },
  {
    name: 'duplicates-sent',
    planted: 'two rows of one person are two recipients',
    edits: [
      {
        file: 'src/plan/decide.ts',
        was: 'if (left !== null) return left;',
        is: "if (left !== null && key === '') return left;",
      },
    ],
    proof: { in: 'send/duplicates.test.ts' },
  },
  {
    name: 'changed-input-sent',
    planted: 'a run is continued with whatever the files hold now',
    edits: [{ file: 'src/send/prepare.ts', was: 'if (changes.length === 0) {', is: 'if (changes.length >= 0) {' }],
    proof: { in: 'processes/inputs.test.ts', only: 'between two starts' },
  },
  {
    name: 'list-not-compared',
    planted: 'the list that is sent from may be another one than was checked',
    edits: [
      {
        file: 'src/send/producer.ts',
        was: 'expected: start.list,',
        is: '',
      },
    ],
    proof: { in: 'processes/inputs.test.ts', only: 'the list is changed while it is being sent' },
  },
  {
    name: 'identity-not-compared',
    planted: 'with --allow input-changed even another key is taken, so that all recipients look new',
    edits: [
      {
        file: 'src/send/prepare.ts',
        was: 'if (existing.identityHash === identityHash(plan.campaign)) return;',
        is: 'if (existing.number > 0) return;',
      },
    ],
    proof: { in: 'e2e/refusals.test.ts', only: 'is refused even with --allow input-changed' },
  },
  {
    name: 'list-guards-not-asked',
    planted: 'a list that is too old, too short or of another size is sent to',
    edits: [
      {
        file: 'src/plan/check.ts',
        was: '...guard.judge(stream.facts()),',
        is: "...guard.judge(stream.facts()).filter(({ severity }) => severity === 'warning'),",
      },
    ],
    proof: { in: 'send/list-guard.test.ts', only: 'all refuse' },
  },
  {
    name: 'list-guard-of-less-only',
    planted: 'a list that has grown beyond its limit is sent to',
    edits: [
      {
        file: 'src/plan/list-guard.ts',
        was: 'const changed = Math.abs(rows - last.rows) / last.rows;',
        is: 'const changed = (last.rows - rows) / last.rows;',
      },
    ],
    proof: { in: 'send/list-guard.test.ts', only: 'exactly' },
  },
  {
    name: 'amended-list-unguarded',
    planted: 'a list that replaces that of a run is not asked about',
    edits: [
      {
        file: 'src/plan/list-guard.ts',
        was: "one.role === 'recipients' && one.sha256 === sha256",
        is: "one.role === 'recipients' && sha256 !== ''",
      },
    ],
    proof: { in: 'send/list-guard.test.ts', only: 'begun with the list' },
  },
  {
    name: 'empty-list-uses-up-an-occurrence',
    planted: 'due takes a list without a row, and the occurrence is over',
    edits: [
      {
        file: 'src/operations/due.ts',
        was: '      isDue: true,\n      onEvent',
        is: '      isDue: false,\n      onEvent',
      },
    ],
    proof: { in: 'send/list-guard.test.ts', only: 'refuses a list without a row' },
  },
  {
    name: 'dirty-taken-for-clean',
    planted: 'a template that was changed and not committed counts as committed',
    edits: [
      {
        file: 'src/plan/provenance.ts',
        was: 'if (blob === undefined ? file.mayBeUntracked : await isAsCommitted(file, blob)) continue;',
        is: 'if (blob === undefined ? file.mayBeUntracked : true) continue;',
      },
    ],
    proof: { in: 'plan/provenance.test.ts', only: 'a changed template' },
  },
  {
    name: 'branch-not-asked',
    planted: 'a clean checkout of any branch is sent where main is asked for',
    edits: [
      {
        file: 'src/plan/provenance.ts',
        was: 'if (branches === null || (branch !== null && branches.includes(branch))) return [];',
        is: 'if (branches === null || branch !== null) return [];',
      },
    ],
    proof: { in: 'cli/provenance.test.ts', only: 'continue a run' },
  },
  {
    name: 'commit-of-the-first-start',
    planted: 'only the commit of the first start is kept',
    edits: [
      {
        file: 'src/ledger/versions.ts',
        was: 'commits: eachOnce([...one.commits, commit])',
        is: 'commits: one.commits.length > 0 ? one.commits : [commit]',
      },
    ],
    proof: { in: 'cli/provenance.test.ts' },
  },
  {
    name: 'sample-sent-to',
    planted: 'the invented people of a sample are sent to where the list is not there',
    edits: [{ file: 'src/operations/send-once.ts', was: 'sends: true }', is: 'sends: true, withSample: true }' }],
    proof: { in: 'cli/sample.test.ts', only: 'never sends' },
  },
  {
    name: 'dry-run-of-a-sample',
    planted: 'a dry run shows the sample, and the start that it is of refuses',
    edits: [{ file: 'src/operations/preview.ts', was: 'withSample: !isStart,', is: 'withSample: true,' }],
    proof: { in: 'cli/sample.test.ts', only: 'never sends' },
  },
  {
    name: 'required-cell-empty',
    planted: 'an empty cell of a required column is sent to',
    edits: [
      {
        file: 'src/recipients/columns.ts',
        was: 'return holdsNothing(cell) ? required === true ||',
        is: 'return holdsNothing(cell) ? required === false &&',
      },
    ],
    proof: { in: 'cli/sample.test.ts', only: 'contract' },
  },
  {
    name: 'piped-list-sent',
    planted: 'a list from a pipe is not refused where a run would need it again',
    edits: [
      {
        file: 'src/campaign/sources.ts',
        was: "if (options.recipients === '-') {",
        is: "if (options.recipients === '-' && options.pipedList !== null) {",
      },
    ],
    proof: { in: 'cli/piped-list.test.ts', only: 'refuses it' },
  },
  {
    name: 'former-name-not-asked',
    planted: 'a campaign whose file or name the ledger knows under another id is sent, to the same people again',
    edits: [
      {
        file: 'src/plan/campaign-id.ts',
        was: 'if (campaign.isIdWritten) return null;',
        is: 'if (campaign.isIdWritten || known.length > 0) return null;',
      },
    ],
    proof: { in: 'send/campaign-id.test.ts', only: 'taken out again' },
  },
  {
    name: 'former-name-asked-once',
    planted: 'a campaign that another process sent under its old name while the question waited is sent again',
    edits: [
      { file: 'src/ledger/campaigns.ts', was: 'const why = refusal(campaigns());', is: 'const why = refusal([]);' },
    ],
    proof: { in: 'send/campaign-id.test.ts', only: 'while the question waits' },
  },
  {
    name: 'file-not-recorded',
    planted: 'the ledger does not keep from which file a campaign was sent',
    edits: [
      { file: 'src/ledger/campaigns.ts', was: 'put(own.id, own.name, own.file)', is: "put(own.id, own.name, '')" },
    ],
    proof: { in: 'send/campaign-id.test.ts', only: 'by its file is refused' },
  },
  {
    name: 'exclude-by-the-name-of-the-file',
    planted: '`exclude` looks for the name of a campaign, not for its id',
    edits: [
      {
        file: 'src/campaign/rules.ts',
        was: 'return { campaign, id: named.id,',
        is: 'return { campaign, id: named.name,',
      },
    ],
    proof: { in: 'send/campaign-id.test.ts', only: 'is excluded' },
  },
  {
    name: 'pause-by-the-name',
    planted: 'a pause of a campaign that was renamed stops what is sent under its name as id',
    edits: [{ file: 'src/operations/pause.ts', was: '?.id ?? null;', is: '?.name ?? null;' }],
    proof: { in: 'send/campaign-id.test.ts', only: 'is excluded' },
  },
  {
    name: 'renamed-campaign-divides-anew',
    planted: 'with a new name other people are held out',
    edits: [
      {
        file: 'src/campaign/channel-steps.ts',
        was: 'file.id ?? file.name',
        is: 'file.name',
      },
    ],
    proof: { in: 'send/campaign-id.test.ts', only: 'holds out' },
  },
];
