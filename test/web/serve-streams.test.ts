import { closeSync, openSync, readdirSync, readlinkSync } from 'node:fs';
import { expect, it } from 'vitest';
import { joinReplies } from '../../src/send/deliveries.ts';
import { startCli } from '../helpers/cli.ts';
import { createProject } from '../helpers/project.ts';
import { ask, NOW, numberOf, recordRun, replyOf, servePages, withLedger } from './serve-ledger.ts';

/** How often this process has a file open. */
function opened(path: string): number {
  const links = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return '';
    }
  });
  return links.filter((link) => link === path).length;
}

it.runIf(process.platform === 'linux')('a HEAD request for a long page leaves nothing open', async () => {
  using project = createProject({
    'handbill.yaml': 'defaultCountry: GB\n',
    'campaigns/hello/campaign.yaml':
      'name: hello\nchannel: sms\nfrom: Shop\ntemplate: hello.hbs\nrecipients: people.csv\n',
    'campaigns/hello/hello.hbs': 'Hello {{name}}.',
    'campaigns/hello/people.csv': `msisdn,name\n${numberOf(1)},Ann\n`,
  });
  const ledger = project.path('.handbill/ledger.db');
  withLedger(ledger, (open) => recordRun(open, { campaign: 'another' }, [{}]));
  await using pages = await servePages(project.root);
  const path = '/campaigns/preview?file=campaigns/hello/campaign.yaml';
  expect((await ask(pages.port, path)).text).toContain('Hello Ann.');
  const before = opened(ledger);
  for (let i = 0; i < 3; i++) expect((await ask(pages.port, path, { method: 'HEAD' })).status).toBe(200);
  expect(opened(ledger)).toBe(before);
});

it('a report shows the replies to its run by what they mean', async () => {
  using project = createProject({ 'handbill.yaml': 'defaultCountry: GB\n' });
  const { id } = withLedger(project.path('.handbill/ledger.db'), (ledger) => {
    const run = recordRun(ledger, { campaign: 'hello' }, [{}, {}]);
    const replies = [replyOf(numberOf(0), 'Yes please', 'answer'), replyOf(numberOf(0), 'Hm', 'review')];
    ledger.events.record(replies, { nowMs: NOW + 5_000, source: 'webhook', environment: 'sandbox' });
    joinReplies(ledger, { startLifts: false, stopEnds: 'everything', now: () => NOW + 5_000 });
    return run;
  });
  await using pages = await servePages(project.root);
  const { text } = await ask(pages.port, `/runs/${id}/report`);
  expect(text).toContain('1 recipient replied, and 1 reply waits for review.');
  expect(text).toContain('2 replies');
  expect(text).not.toContain('Yes please');
});

it.runIf(process.platform === 'linux').each([['serve'], ['listen']])(
  '%s ends when it cannot say where it is',
  async (command) => {
    const webhook = 'environments: { sandbox: { webhook: { secrets: [{ env: SECRET }] } } }\n';
    using project = createProject({ 'handbill.yaml': `defaultCountry: GB\n${webhook}` });
    const stdout = openSync('/dev/full', 'w');
    const env = { SECRET: `whsec_${Buffer.alloc(24, 7).toString('base64')}` };
    const running = startCli([command, '--port', '0'], { cwd: project.root, env, stdout });
    const timer = setTimeout(() => running.kill('SIGKILL'), 10_000);
    const { status, stderr } = await running.done;
    clearTimeout(timer);
    closeSync(stdout);
    expect(stderr).toContain('The output could not be written');
    expect(status).toBe(2);
  },
);
