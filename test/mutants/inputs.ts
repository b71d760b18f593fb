import { edit, type Mutant, mutant } from './mutant.ts';

/** Who is sent what, and whether it is still the same: rows H5, J1 and J2 of the table of failures. */
export const INPUTS: readonly Mutant[] = [
  mutant('day-in-utc', {
    planted: 'relative dates count from the day in UTC, and not from that of the zone',
    file: 'src/util/time.ts',
    was: 'return (ms) => Math.floor((ms + offsetMs(ms)) / DAY_MS) * DAY_MS;',
    is: 'return (ms) => Math.floor((ms + 0 * offsetMs(ms)) / DAY_MS) * DAY_MS;',
    proof: { in: 'plan/day.test.ts', only: 'midnight' },
  }),
  mutant('day-of-the-clock', {
    planted: 'relative dates count from the day of each start, and not from that of the occurrence',
    ...edit('src/plan/day.ts', 'instantMs(occurrence) ?? run?.createdAtMs ?? nowMs', 'nowMs'),
    proof: { in: 'plan/day.test.ts', only: 'late start' },
  }),
  mutant('day-not-recorded', {
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
  }),
  mutant('one-time-in-utc', {
    planted: 'a campaign that goes out at one time goes out at that time in UTC',
    ...edit('src/util/wall-time.ts', 'return firstAt(wall, timeZone);', "return firstAt(wall, timeZone && 'UTC');"),
    proof: { in: 'schedule/read-schedule.test.ts', only: 'one time' },
  }),
  mutant('one-time-sent-twice', {
    planted: 'a campaign with one time that is sent by hand before it goes out again then',
    ...edit('src/schedule/occurrence.ts', 'clock.latest(nowMs) ?? clock.next(nowMs);', 'clock.latest(nowMs);'),
    proof: { in: 'schedule/occurrence.test.ts', only: 'one time' },
  }),
  mutant('leap-day-forgotten', {
    planted: 'born on 29 February: no anniversary in most years',
    file: 'src/util/time.ts',
    was: 'return now.getUTCDate() === Math.min(then.getUTCDate(), last);',
    is: 'return now.getUTCDate() === then.getUTCDate() && last > 0;',
    proof: { in: 'plan/day.test.ts', only: '29 February' },
  }),
  mutant('late-run-continued', {
    planted: 'a run from long ago (a restored backup) is continued without a word',
    ...edit('src/send/prepare.ts', 'const LATE_MS = 24 * 3_600_000;', 'const LATE_MS = 24 * 3_600_000_000;'),
    proof: { in: 'send/late.test.ts', only: '24 hours' },
  }),
  mutant('validity-of-each-start', {
    planted: 'a validity counts from each start and not from the first',
    edits: [
      { file: 'src/send/work.ts', was: 'const startMs = run.startedAtMs ?? now();', is: 'const startMs = now();' },
    ],
    proof: { in: 'send/validity.test.ts' },
  }),
  mutant('reference-from-content', {
    planted: 'the reference is made from the text as well as from the person',
    file: 'src/plan/expand.ts',
    was: 'onWire(referenceOf(decision.key, message.channel, decision.resend))',
    is: `onWire(referenceOf(\`\${decision.key} \${message.text}\`, message.channel))`,
    proof: { in: 'processes/concurrency.test.ts', only: 'starts that overlap' },
  }),
  mutant('reference-without-occurrence', {
    planted: 'two occurrences of a campaign use the same references',
    ...edit('src/plan/expand.ts', 'campaign, occurrence, channel, ...(resend', 'campaign, channel, ...(resend'),
    proof: { in: 'plan/expand.test.ts', only: 'reference' },
  }),
  mutant('duplicates-sent', {
    planted: 'two rows of one person are two recipients',
    ...edit('src/plan/decide.ts', 'if (left !== null) return left;', "if (left !== null && key === '') return left;"),
    proof: { in: 'send/duplicates.test.ts' },
  }),
  mutant('changed-input-sent', {
    planted: 'a run is continued with whatever the files hold now',
    ...edit('src/send/prepare.ts', 'if (changes.length === 0) {', 'if (changes.length >= 0) {'),
    proof: { in: 'processes/inputs.test.ts', only: 'between two starts' },
  }),
  mutant('list-not-compared', {
    planted: 'the list that is sent from may be another one than was checked',
    ...edit('src/send/producer.ts', 'expected: start.list,', ''),
    proof: { in: 'processes/inputs.test.ts', only: 'the list is changed while it is being sent' },
  }),
  mutant('identity-not-compared', {
    planted: 'with --allow input-changed even another key is taken, so that all recipients look new',
    file: 'src/send/prepare.ts',
    was: 'if (existing.identityHash === identityHash(plan.campaign)) return;',
    is: 'if (existing.number > 0) return;',
    proof: { in: 'e2e/refusals.test.ts', only: 'is refused even with --allow input-changed' },
  }),
  mutant('list-guards-not-asked', {
    planted: 'a list that is too old, too short or of another size is sent to',
    file: 'src/plan/check.ts',
    was: '...guard.judge(stream.facts()),',
    is: "...guard.judge(stream.facts()).filter(({ severity }) => severity === 'warning'),",
    proof: { in: 'send/list-guard.test.ts', only: 'all refuse' },
  }),
  mutant('list-guard-of-less-only', {
    planted: 'a list that has grown beyond its limit is sent to',
    file: 'src/plan/list-guard.ts',
    was: 'const changed = Math.abs(rows - last.rows) / last.rows;',
    is: 'const changed = (last.rows - rows) / last.rows;',
    proof: { in: 'send/list-guard.test.ts', only: 'exactly' },
  }),
  mutant('amended-list-unguarded', {
    planted: 'a list that replaces that of a run is not asked about',
    file: 'src/plan/list-guard.ts',
    was: "role === 'recipients' && sha256 === list.sha256",
    is: "role === 'recipients' && sha256 !== ''",
    proof: { in: 'send/list-guard.test.ts', only: 'begun with the list' },
  }),
  mutant('empty-list-uses-up-an-occurrence', {
    planted: 'due takes a list without a row, and the occurrence is over',
    ...edit('src/operations/due.ts', '      isDue: true,\n      onEvent', '      isDue: false,\n      onEvent'),
    proof: { in: 'send/list-guard.test.ts', only: 'refuses a list without a row' },
  }),
  mutant('dirty-taken-for-clean', {
    planted: 'a template that was changed and not committed counts as committed',
    file: 'src/plan/provenance.ts',
    was: 'if (blob === undefined ? file.mayBeUntracked : await isAsCommitted(file, blob)) continue;',
    is: 'if (blob === undefined ? file.mayBeUntracked : true) continue;',
    proof: { in: 'plan/provenance.test.ts', only: 'a changed template' },
  }),
  mutant('branch-not-asked', {
    planted: 'a clean checkout of any branch is sent where main is asked for',
    file: 'src/plan/provenance.ts',
    was: 'if (branches === null || (branch !== null && branches.includes(branch))) return [];',
    is: 'if (branches === null || branch !== null) return [];',
    proof: { in: 'cli/provenance.test.ts', only: 'continue a run' },
  }),
  mutant('commit-of-the-first-start', {
    planted: 'only the commit of the first start is kept',
    file: 'src/ledger/versions.ts',
    was: 'commits: eachOnce([...one.commits, commit])',
    is: 'commits: one.commits.length > 0 ? one.commits : [commit]',
    proof: { in: 'cli/provenance.test.ts' },
  }),
  mutant('sample-sent-to', {
    planted: 'the invented people of a sample are sent to where the list is not there',
    ...edit('src/operations/send-once.ts', 'sends })', 'sends, withSample: true })'),
    proof: { in: 'cli/sample.test.ts', only: 'never sends' },
  }),
  mutant('dry-run-of-a-sample', {
    planted: 'a dry run shows the sample, and the start that it is of refuses',
    ...edit('src/operations/preview.ts', 'withSample: !isStart,', 'withSample: true,'),
    proof: { in: 'cli/sample.test.ts', only: 'never sends' },
  }),
  mutant('key-in-another-spelling', {
    planted: 'a key that is the address is another person when the list writes the address otherwise',
    file: 'src/recipients/recipient.ts',
    was: 'key.length === 0 || (key.length === 1 && key[0] === to) ? null',
    is: 'key.length === 0 ? null',
    proof: { in: 'cli/two-spellings.test.ts', only: 'gets no second message' },
  }),
  mutant('required-cell-empty', {
    planted: 'an empty cell of a required column is sent to',
    file: 'src/recipients/columns.ts',
    was: 'return holdsNothing(cell) ? required === true ||',
    is: 'return holdsNothing(cell) ? required === false &&',
    proof: { in: 'cli/sample.test.ts', only: 'contract' },
  }),
  mutant('piped-list-sent', {
    planted: 'a list from a pipe is not refused where a run would need it again',
    file: 'src/campaign/sources.ts',
    was: "if (options.recipients === '-') {",
    is: "if (options.recipients === '-' && options.pipedList !== null) {",
    proof: { in: 'cli/piped-list.test.ts', only: 'with the same bytes' },
  }),
  mutant('former-name-not-asked', {
    planted: 'a campaign whose file or name the ledger knows under another id is sent, to the same people again',
    file: 'src/plan/campaign-id.ts',
    was: 'if (campaign.isIdWritten) return null;',
    is: 'if (campaign.isIdWritten || known.length > 0) return null;',
    proof: { in: 'send/campaign-id.test.ts', only: 'taken out again' },
  }),
  mutant('former-name-asked-once', {
    planted: 'a campaign that another process sent under its old name while the question waited is sent again',
    edits: [{ file: 'src/ledger/runs.ts', was: 'const why = refusal(campaigns());', is: 'const why = refusal([]);' }],
    proof: { in: 'send/campaign-id.test.ts', only: 'while the question waits' },
  }),
  mutant('file-not-recorded', {
    planted: 'the ledger does not keep from which file a campaign was sent',
    edits: [
      {
        file: 'src/ledger/runs.ts',
        was: 'putCampaign(own.id, own.name, own.file)',
        is: "putCampaign(own.id, own.name, '')",
      },
    ],
    proof: { in: 'send/campaign-id.test.ts', only: 'by its file is refused' },
  }),
  mutant('exclude-by-the-name-of-the-file', {
    planted: '`exclude` looks for the name of a campaign, not for its id',
    ...edit('src/campaign/rules.ts', 'return { campaign, id: named.id,', 'return { campaign, id: named.name,'),
    proof: { in: 'send/campaign-id.test.ts', only: 'is excluded' },
  }),
  mutant('pause-by-the-name', {
    planted: 'a pause of a campaign that was renamed stops what is sent under its name as id',
    ...edit('src/operations/pause.ts', '?.id ?? null;', '?.name ?? null;'),
    proof: { in: 'send/campaign-id.test.ts', only: 'is excluded' },
  }),
  mutant('renamed-campaign-divides-anew', {
    planted: 'with a new name other people are held out',
    ...edit('src/campaign/channel-steps.ts', 'file.id ?? file.name', 'file.name'),
    proof: { in: 'send/campaign-id.test.ts', only: 'holds out' },
  }),
];
