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
  expect(stdout).toContain('· 0 recipients');
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
  const told = await runCommand(['reconcile', 'replies.csv', '--quiet'], { cwd: project.root });
  expect(told).toMatchObject({ status: 0, stdout: '', stderr: '' });
  for (const end of [await send(), await send()]) {
    const report = JSON.parse(end.stdout);
    expect(report).toMatchObject({ deliveries: { replied: 1 }, replies: { recipients: 1, review: 0 } });
  }
});
