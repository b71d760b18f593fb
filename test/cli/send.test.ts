import { expect, it } from 'vitest';
import { commandRunner } from '../helpers/here.ts';
import { createProject } from '../helpers/project.ts';

const runCommand = commandRunner();

const CAMPAIGN =
  'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{name}}" }\nrecipients: people.csv\n';

it('says so when the list has no recipients', async () => {
  using project = createProject({ 'hello/campaign.yaml': CAMPAIGN, 'hello/people.csv': 'msisdn,name\n' });
  const { status, stderr, stdout } = await runCommand(['send', 'hello'], { cwd: project.root });
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining('there are no recipients') });
  expect(stdout).toContain('  0 recipients.');
});

it('sends on, and says that nothing was left, when it is started again', async () => {
  using project = createProject({
    'hello/campaign.yaml': CAMPAIGN,
    'hello/people.csv': 'msisdn,name\n+447700900123,Ann\n+447700900124,Ben\n',
  });
  const send = (...more: string[]) => runCommand(['send', 'hello', '--format', 'json', ...more], { cwd: project.root });
  const first = await send('--limit', '1');
  expect(JSON.parse(first.stdout)).toMatchObject({ state: 'partial', totals: { accepted: 1, pending: 1 } });
  const second = await send();
  expect(JSON.parse(second.stdout)).toMatchObject({
    state: 'finished',
    totals: { accepted: 2 },
    requests: { posted: 2 },
  });
  const third = await send();
  expect(third.stderr).toContain('nothing was posted');
  expect(JSON.parse(third.stdout)).toMatchObject({ totals: { accepted: 2 }, requests: { posted: 2 } });
  const line = `This occurrence is finished: nothing was posted. handbill report ${JSON.parse(third.stdout).run} shows it.\n`;
  for (const format of ['text', 'brief']) {
    expect(await send('--format', format)).toMatchObject({ status: 0, stdout: '', stderr: line });
  }
  const quiet = await send('--quiet');
  expect(quiet).toMatchObject({ status: 0, stdout: '', stderr: '' });
});

it('says at its end what has come back, as the report does, also where nothing was left', async () => {
  using project = createProject({
    'handbill.yaml': 'defaultCountry: GB\n',
    'hello/campaign.yaml': CAMPAIGN,
    'hello/people.csv': 'msisdn,name\n+447700900123,Ann\n+447700900124,Ben\n',
    'replies.csv': 'from,text\n+447700900123,yes\n',
  });
  const send = (...more: string[]) => runCommand(['send', 'hello', '--format', 'json', ...more], { cwd: project.root });
  const first = await send('--limit', '1');
  expect(JSON.parse(first.stdout).deliveries).toEqual({});
  const told = await runCommand(['listen', '--from', 'replies.csv', '--quiet'], { cwd: project.root });
  expect(told).toMatchObject({ status: 0, stdout: '', stderr: '' });
  for (const end of [await send(), await send()]) {
    const report = JSON.parse(end.stdout);
    expect(report).toMatchObject({ deliveries: { replied: 1 }, replies: { recipients: 1, review: 0 } });
  }
});

/** A list of 11 rows; the sandbox answers the seventh with the status that its number ends in. */
const listWith = (...seventh: string[]): string =>
  ['011', '012', '013', '014', '015', '016', ...seventh, '021', '022', '023', '024']
    .map((end) => `+447700900${end},Ann ${end}\n`)
    .join('');

const projectWith = (status: number) =>
  createProject({ 'hello/campaign.yaml': CAMPAIGN, 'hello/people.csv': `msisdn,name\n${listWith(`${status}`)}` });

it.each([
  ['the row is taken out of the list', 'removed', 403],
  ['the row is left out by recipients.where', 'excluded', 307],
])('names the row that halted it after others were accepted, and goes on when %s', async (_how, reason, status) => {
  using project = projectWith(status);
  const run = (...args: string[]) => runCommand([...args, '--format', 'json'], { cwd: project.root });
  const place = { file: 'hello/people.csv', line: 8 };
  for (const first of [true, false]) {
    const halted = await run('send', 'hello');
    const { halt, run: id } = JSON.parse(halted.stdout);
    expect({ status: halted.status, halt }).toMatchObject({ status: 5, halt: { at: place } });
    expect(halt.message).toMatch(/ The answer was to hello\/people\.csv:8\.(?: It says: .+)?$/);
    expect(halt.next).toMatch(/^\d+ messages of this run were accepted before, so it is probably this recipient: /);
    if (first) continue;
    const text = (await runCommand(['report', id], { cwd: project.root })).stdout.replace(/\s+/g, ' ');
    expect(text).toContain('The answer was to hello/people.csv:8. ');
    expect(text).toMatch(/and send again with --allow input-changed\. .* handbill send hello --allow input-changed /);
    expect(text).not.toContain(`${status}`);
  }
  if (reason === 'removed') {
    project.write('hello/people.csv', `msisdn,name\n${listWith()}`);
  } else {
    const where = `where: { name: { $ne: "Ann ${status}" } }`;
    project.write('hello/campaign.yaml', CAMPAIGN.replace('people.csv', `{ csv: people.csv, ${where} }`));
  }
  const { stdout } = await run('send', 'hello', '--allow', 'input-changed');
  expect(JSON.parse(stdout)).toMatchObject({
    state: 'finished',
    totals: { accepted: 10, skipped: 1 },
    reasons: { skipped: { [reason]: 1 } },
  });
});

it('goes on without the recipient in doubt whose answer halted it', async () => {
  using project = projectWith(302);
  const run = () => runCommand(['send', 'hello', '--format', 'json'], { cwd: project.root });
  const { halt } = JSON.parse((await run()).stdout);
  expect(halt.message).toMatch(/ The answer was to hello\/people\.csv:8\.(?: It says: .+)?$/);
  expect(halt.next).toContain(
    'it is probably this recipient, who is in doubt: send again, and the others are sent to.',
  );
  expect(halt.at).toBeUndefined();
  const again = await run();
  expect(again.status).toBe(4);
  expect(JSON.parse(again.stdout)).toMatchObject({ halt: null, totals: { accepted: 10, inDoubt: 1, pending: 0 } });
});
