import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCampaign } from '../../src/campaign/load.ts';
import { findProject } from '../../src/campaign/place.ts';
import { readProject } from '../../src/campaign/project.ts';
import { createProject } from '../helpers/project.ts';
import { certify, type Key, type Keyring, openKeyring } from './keys.ts';

let ring: Keyring;
const keys = {} as Record<'ana' | 'ben' | 'authority', Key>;
let certificate = '';

beforeAll(async () => {
  ring = await openKeyring();
  for (const name of ['ana', 'ben', 'authority'] as const) keys[name] = await ring.make(name);
  certificate = readFileSync(await certify(keys.ana, keys.authority, 'ana'), 'utf8').trim();
});
afterAll(() => ring.remove());

async function read(lines: string, environment = 'production') {
  const api = environment === 'sandbox' ? '' : '    baseUrl: https://api.example.com\n    apiKey: { env: K }\n';
  using project = createProject({ 'handbill.yaml': `environments:\n  ${environment}:\n${api}${lines}` });
  const { project: found, diagnostics } = readProject(findProject(project.root), { cwd: project.root });
  return { approval: found.environments.get(environment)?.approval, diagnostics, root: project.root };
}

const person = (name: string, key: string): string => `{ name: ${JSON.stringify(name)}, key: "${key}" }`;

describe('who may approve', () => {
  it('is named in handbill.yaml', async () => {
    const lines = `    approvers: [${person('ana@x.org', `${keys.ana.text} ana at work`)}]\n    planners: [${person('ben', keys.ben.text)}]\n`;
    const { approval, diagnostics } = await read(lines);
    const limits = { authority: false, validAfter: null, validBefore: null, namespaces: null };
    expect(diagnostics).toEqual([]);
    expect(approval).toEqual({
      approvers: { signers: [{ names: ['ana@x.org'], key: keys.ana.text, ...limits }] },
      planners: { signers: [{ names: ['ben'], key: keys.ben.text, ...limits }] },
      approvals: 1,
      standing: null,
    });
  });

  it('may be in a file, next to handbill.yaml or where no commit can change it', async () => {
    const near = await read('    approvers: { file: people }\n    approvals: 2\n');
    const at = { file: expect.stringMatching(/handbill\.yaml$/), line: 5, column: 24, length: 6 };
    const where = { at, source: expect.stringContaining('people') };
    expect(near.approval).toEqual({
      approvers: { file: `${near.root}/people`, where },
      planners: null,
      approvals: 2,
      standing: null,
    });
    const far = await read('    approvers: { file: /etc/handbill/approvers }\n');
    expect(far.approval?.approvers).toMatchObject({
      file: '/etc/handbill/approvers',
      where: { at: { ...at, length: 23 } },
    });
  });

  it.each<[label: string, lines: () => string, says: RegExp]>([
    [
      'one person, who could approve without another',
      () => `approvers: [${person('ana', keys.ana.text)}]`,
      /Fewer people/,
    ],
    [
      'one person with two keys',
      () => `approvers: [${person('ana', keys.ana.text)}, ${person('Ana', keys.ben.text)}]`,
      /Fewer people/,
    ],
    ['nobody', () => 'approvers: []', /./],
    ['nothing', () => 'approvers:', /./],
    ['a word', () => 'approvers: ana', /./],
    ['an empty file name', () => 'approvers: {}', /./],
    ['no entry', () => `approvers: [null, ${person('ana', keys.ana.text)}]`, /./],
    ['a number without people', () => 'approvals: 2', /says nothing without "approvers"/],
    ['only planners', () => `planners: [${person('ana', keys.ana.text)}]`, /says nothing without "approvers"/],
    ['a number of none', () => 'approvers: { file: people }\n    approvals: 0', /./],
    ['a name over two lines', () => `approvers: [${person('ana\nben', keys.ana.text)}]`, /./],
    ['a pattern', () => `approvers: [${person('*', keys.ana.text)}]`, /./],
    ['a name like an option', () => `approvers: [${person('-f', keys.ana.text)}]`, /./],
    ['no key', () => 'approvers: [{ name: ana }]', /key/],
    ['a damaged key', () => `approvers: [${person('ana', keys.ana.text.slice(0, -4))}]`, /damaged/],
    ['a certificate', () => `approvers: [${person('ana', certificate)}]`, /certificate/],
  ])('is not %s', async (_label, lines, says) => {
    const { diagnostics } = await read(`    ${lines()}\n`);
    expect(diagnostics[0]?.message).toMatch(says);
    expect(diagnostics[0]?.at?.file).toBe('handbill.yaml');
  });

  it('is never asked for the sandbox', async () => {
    const { approval, diagnostics } = await read('    approvers: { file: people }\n', 'sandbox');
    expect(approval).toBeNull();
    expect(diagnostics[0]?.code).toBe('unknown-key');
  });

  it('is not for a campaign to say', async () => {
    for (const key of ['approvers: { file: mine }', 'approvals: 1', 'environments: {}', 'planners: { file: mine }']) {
      using project = createProject({
        'campaign.yaml': `name: hello\nchannel: sms\ntemplate: { text: Hi }\nrecipients: [{ msisdn: "+447700900001" }]\n${key}\n`,
      });
      const { diagnostics } = await readCampaign('campaign.yaml', { cwd: project.root });
      expect(diagnostics.map(({ code }) => code)).toEqual(['unknown-key']);
    }
  });
});
