import { expect, test } from 'vitest';
import { resolveDoubts } from '../../src/operations/doubt.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { endedRun, withLedger } from '../ledger/given.ts';
import { keyOf, loadRow } from '../ledger/values.ts';
import { handbillHere } from './in-process.ts';

const HOUR = 3_600_000;
/** A Friday, an hour after the window of the week closed in London. */
const FRIDAY = Date.parse('2026-11-20T18:00:00Z');
const WEEKDAYS = 'send: { window: { from: "09:00", to: "17:00", days: weekdays, timeZone: Europe/London } }\n';

const PEOPLE = 'msisdn\n+447911123401\n+447911123402\n';
const VISITS = 'msisdn,visit\n+447911123401,2026-11-20T20:00:00Z\n+447911123402,2026-11-22T20:00:00Z\n';
const NO_TIMES = ['', ''] as const;
const TIMES = ['|2026-11-20T20:00:00Z', '|2026-11-22T20:00:00Z'] as const;

/** A campaign of which one recipient is in doubt and another one still to be sent to. */
function given(lines: string, files = {}, times: readonly [string, string] = NO_TIMES): TestProject {
  const project = createProject({
    'handbill.yaml': '',
    'campaign.yaml': `name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: people.csv\n${lines}`,
    'people.csv': PEOPLE,
    ...files,
  });
  const inputs = [{ role: 'campaign', file: 'campaign.yaml', sha256: 'ab'.repeat(32) }] as const;
  const list = times.map((time, row) => loadRow(row, { key: `${keyOf(row)}${time}`, to: keyOf(row) }));
  const doubt = { state: 'in-doubt', reason: 'timeout', messageId: null } as const;
  withLedger(project.path('.handbill/ledger.db'), FRIDAY, (ledger) =>
    endedRun(ledger, list, [doubt], { inputs, nowMs: FRIDAY }),
  );
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

test.each<[label: string, lines: string, list: string, keys: readonly [string, string], afterHours: number]>([
  ['after notAfter', 'send: { notAfter: "2026-11-20T20:00:00Z" }\n', PEOPLE, NO_TIMES, 3],
  ['after its validity', 'validity: 2h\n', PEOPLE, NO_TIMES, 2],
  ['after the instant of its validity', 'validity: 2026-11-20T20:00:00Z\n', PEOPLE, NO_TIMES, 2],
  ['after the time of its row', 'send: { each: { column: visit, before: 2h } }\n', VISITS, TIMES, 2],
])('a second message is refused %s, and the doubt stays', async (_, lines, list, keys, afterHours) => {
  using project = given(lines, { 'people.csv': list }, keys);
  const resend = ['doubt', 'resolve', 'hello', '--all', '--resend', '--accept-duplicates', '--yes'];
  const at = (hours: number) => ({ now: () => FRIDAY + hours * HOUR });
  const { status, out, err } = await handbillHere(project.root, resend, at(afterHours));
  expect({ status, out }).toEqual({ status: 2, out: '' });
  expect(err).toContain(
    'error[too-late]: It is too late to send again to 1 recipient, the first in line 2: the message could go out until 2026-11-20 20:00',
  );
  expect(err).toContain('Enter what became of the message, --as accepted or --as rejected');
  const asked = { cwd: project.root, verdict: 'resend', acceptDuplicates: true, lines: [2], by: 'ann' } as const;
  const again = resolveDoubts('hello', { ...asked, ...at(afterHours), confirm: true });
  await expect(again).rejects.toMatchObject({ code: 'too-late', exit: 2 });
  expect((await handbillHere(project.root, ['doubt', 'list', 'hello'], at(afterHours))).out).toContain('timeout');
  expect(await handbillHere(project.root, resend, at(afterHours - 1))).toMatchObject({ status: 0 });
});

test('a second message to a row whose time is still to come goes out, also after the time of another one', async () => {
  using project = given('send: { each: { column: visit, before: 2h } }\n', { 'people.csv': VISITS }, [
    TIMES[1],
    TIMES[0],
  ]);
  const resend = ['doubt', 'resolve', 'hello', '--all', '--resend', '--accept-duplicates', '--yes'];
  const now = () => FRIDAY + 2 * HOUR;
  expect(await handbillHere(project.root, resend, { now })).toMatchObject({ status: 0 });
});
