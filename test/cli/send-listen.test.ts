import { expect, test } from 'vitest';
import { runCli } from '../helpers/cli.ts';
import { createProject } from '../helpers/project.ts';

test('send --listen joins replies to their messages before it reports, and ends well', async () => {
  using project = createProject({
    'handbill.yaml': '{}',
    'hello/campaign.yaml': JSON.stringify({
      name: 'hello',
      channel: 'sms',
      from: 'Riverside',
      template: { text: 'Hi' },
      recipients: [{ msisdn: '+447700900605' }, { msisdn: '+447700900606' }],
    }),
  });
  const { status, stdout, stderr } = await runCli(['send', 'hello', '--listen'], { cwd: project.root });
  expect(stderr).toMatch(/^Receiving on .*\n$/);
  expect(status).toBe(0);
  expect(stdout).toMatch(/\b1 replied\b/);
  expect(stdout).toMatch(/\b1 opted out\b/);
});
