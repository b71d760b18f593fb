import { expect, test } from 'vitest';
import { openLedger } from '../../src/ledger/open.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { claimOf, loadRow, resultOf } from '../ledger/values.ts';
import { handbillHere } from './in-process.ts';

const HOUR = 3_600_000;
/** A Friday, an hour after the window of the week closed in London. */
const FRIDAY = Date.parse('2026-11-20T18:00:00Z');
const WEEKDAYS = 'send: { window: { from: "09:00", to: "17:00", days: weekdays, timeZone: Europe/London } }\n';

/** A campaign of which one recipient is in doubt and another one still to be sent to. */
function given(lines: string): TestProject {
  const project = createProject({
    'handbill.yaml': '',
    'campaign.yaml': `name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: people.csv\n${lines}`,
    'people.csv': 'msisdn\n+447911123401\n+447911123402\n',
  });
  const ledger = openLedger(project.path('.handbill/ledger.db'), { mode: 'write', nowMs: FRIDAY });
  try {
    const identity = { environment: 'sandbox', campaign: 'hello', occurrence: 'once' };
    const draft = ledger.beginLoad(identity, { channel: 'sms', nowMs: FRIDAY });
    ledger.load(draft, [loadRow(0), loadRow(1)]);
    const inputs = [{ role: 'campaign', file: 'campaign.yaml', sha256: 'ab'.repeat(32) }] as const;
    const planFile = ledger.finishLoad(draft, { inputs, identityHash: '', nowMs: FRIDAY });
    const { run } = ledger.start(planFile, FRIDAY);
    ledger.commit(run, [], [claimOf(0)], FRIDAY);
    ledger.commit(run, [resultOf(0, { state: 'in-doubt', reason: 'timeout', messageId: null })], [], FRIDAY);
    ledger.finish(run, { state: 'partial', halt: null, figures: null, nowMs: FRIDAY });
  } finally {
    ledger.close();
  }
  return project;
}

test.each<[label: string, lines: string, afterHours: number, late: boolean]>([
  ['within a day', '', 24, false],
  ['after a day', '', 25, true],
  ['after a day, while the window has not opened since', WEEKDAYS, 48, false],
  ['within a day of the opening of the window', WEEKDAYS, 24 * 3 + 14, false],
  ['more than a day after the opening', WEEKDAYS, 24 * 4, true],
  ['after a day, in the pause of a canary', 'send: { canary: { steps: 1, pause: 40h } }\n', 50, false],
  ['with an end of its own', 'send: { notAfter: "2026-12-24T12:00:00Z" }\n', 200, false],
  ['of a campaign that cannot be read any more', 'send: { window: 5 }\n', 48, true],
])('how to send on what was resolved: %s', async (_, lines, afterHours, late) => {
  using project = given(lines);
  const now = () => FRIDAY + afterHours * HOUR;
  const args = ['doubt', 'resolve', 'hello', '--all', '--as', 'accepted', '--yes'];
  const { status, out } = await handbillHere(project.root, args, { now });
  expect(status).toBe(0);
  expect(out).toMatch(
    late ? /To send on: .*handbill send campaign\.yaml --allow too-late\n/ : /handbill send campaign\.yaml\n/,
  );
});
