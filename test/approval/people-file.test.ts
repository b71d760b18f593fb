import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approve, plan } from '../../src/operations/plan.ts';
import { send } from '../../src/operations/send.ts';
import { validate } from '../../src/operations/validate.ts';
import { handbillHere } from '../cli/in-process.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { type Key, type Keyring, NOW, openKeyring } from './keys.ts';

const CAMPAIGN = 'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: people.csv\n';
const FAR = '/nowhere/handbill/approvers';

let ring: Keyring;
let cem: Key;
beforeAll(async () => {
  ring = await openKeyring();
  cem = await ring.make('cem');
});
afterAll(() => ring.remove());

/** Lines 5 and 6 of handbill.yaml name the files. */
function projectWith(approvers: string, planners = 'planners'): TestProject {
  return createProject({
    'handbill.yaml': `environments:
  production:
    baseUrl: https://api.example.com
    apiKey: { env: K }
    approvers: { file: ${approvers} }
    planners: { file: ${planners} }
`,
    planners: `cem ${cem.text}\n`,
    'hello/campaign.yaml': CAMPAIGN,
    'hello/people.csv': 'msisdn\n+447911123456\n',
    'again/campaign.yaml': CAMPAIGN.replace('hello', 'again'),
    'again/people.csv': 'msisdn\n+447911123456\n',
  });
}

const planned = (project: TestProject, signing: boolean) =>
  plan('hello', {
    cwd: project.root,
    now: () => NOW,
    environment: 'production',
    ...(signing ? { sign: { key: cem.path } } : {}),
  });

describe('a file of approvers that is missing', () => {
  const at = { file: 'handbill.yaml', line: 5, column: 24 };

  it('is an error of validate where the project names it, once', async () => {
    using project = projectWith('people');
    const { diagnostics } = await validate(['hello', 'again'], { cwd: project.root, now: () => NOW });
    expect(diagnostics).toEqual([
      expect.objectContaining({
        code: 'file-not-found',
        severity: 'error',
        at: expect.objectContaining(at),
        source: expect.stringMatching(/people/),
      }),
    ]);
    expect(diagnostics[0]?.message).toMatch(
      /^Who may sign plans for production is not known\. .*people" does not exist/,
    );
  });

  it('is said by plan --sign before it signs and writes, and by approve and send', async () => {
    using project = projectWith('people');
    await expect(planned(project, true)).rejects.toMatchObject({ exit: 2, diagnostics: [{ at }] });
    const args = ['plan', 'hello', '--env', 'production', '-o', 'p.json'];
    const refused = await handbillHere(project.root, [...args, '--sign', cem.path]);
    expect(refused).toMatchObject({ status: 2, out: '' });
    expect(refused.err).toContain('handbill.yaml:5:24');
    expect(existsSync(project.path('p.json'))).toBe(false);

    const planFile = await planned(project, false);
    project.write('p.json', JSON.stringify(planFile));
    const all = { cwd: project.root, env: { K: 'k' }, now: () => NOW, confirm: async () => true };
    await expect(approve('p.json', all)).rejects.toMatchObject({ exit: 2, diagnostics: [{ at }] });
    await expect(send(planFile, { ...all, environment: 'production' })).rejects.toMatchObject({
      exit: 2,
      diagnostics: [{ at }],
    });
  });

  it('outside of the project is a warning where it need not be: on the machine of the planner', async () => {
    using project = projectWith(FAR);
    const { diagnostics } = await validate(['hello'], { cwd: project.root, now: () => NOW });
    expect(diagnostics).toEqual([
      expect.objectContaining({ code: 'file-not-found', severity: 'warning', at: expect.objectContaining(at) }),
    ]);
    const args = ['plan', 'hello', '--env', 'production', '-o', 'p.json', '--sign', cem.path];
    const signed = await handbillHere(project.root, args);
    expect(signed).toMatchObject({ status: 0 });
    expect(signed.err).toContain('warning[file-not-found]');
    expect(signed.err).toContain('handbill.yaml:5:24');
    expect(existsSync(project.path('p.json'))).toBe(true);
  });

  it('is said of planners as well, and what is wrong in a file with its line', async () => {
    using project = projectWith('people', 'nobody');
    project.write('people', `cem ${cem.text}\neverybody\n`);
    const { diagnostics } = await validate(['hello'], { cwd: project.root, now: () => NOW });
    expect(diagnostics.map(({ code, at: place }) => [code, place?.file, place?.line])).toEqual([
      ['invalid-value', project.path('people'), 2],
      ['file-not-found', 'handbill.yaml', 6],
    ]);
  });
});
