import { expect, it } from 'vitest';
import { createProject } from '../helpers/project.ts';
import { handbillHere } from './in-process.ts';

const PEOPLE = 'msisdn\n+447700900001\n';

it.each(['preview', 'send', 'plan', 'validate'])('%s of a list says that a campaign is meant', async (command) => {
  using project = createProject({ 'people.csv': PEOPLE });
  const { status, err, out } = await handbillHere(project.root, [command, 'people.csv']);
  expect(status).toBe(2);
  expect(err + out).toMatch(/This is a list; the campaign is a YAML file\.[\s\S]*--recipients FILE/);
});

it('a cron expression that begins with a star is to be quoted', async () => {
  using project = createProject({ 'campaigns/a/campaign.yaml': 'name: a\nschedule:\n  cron: * 9 * * *\n' });
  const { status, err, out } = await handbillHere(project.root, ['validate', 'a']);
  expect(status).toBe(2);
  expect(err + out).toContain('Put it in quotes: "* 9 * * *"');
});
