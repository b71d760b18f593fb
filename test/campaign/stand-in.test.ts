import { expect, it, test } from 'vitest';
import { brief, folderWith, hello } from './helper.ts';

const PRODUCTION = `environments:
  production:
    baseUrl: https://api.example.com
    apiKey: { env: KEY }
    rate: 50/s
    countries: [GB, IE]
    budget: { max: 100, per: month }
    git: { branch: main }
    only: [people.csv, "+447700900123"]
`;

const backup = (lines: string): string =>
  `${PRODUCTION}  backup:\n    baseUrl: https://api.example.net\n    apiKey: { env: OTHER }\n${lines}`;

async function read(file: string) {
  await using folder = await folderWith({ 'handbill.yaml': file, ...hello() });
  return await folder.read('campaigns/hello');
}

test.each([
  ['is slower', 'rate: 10/s', 10],
  ['is faster', 'rate: 90/s', 50],
  ['has no rate', 'proxy: http://proxy.example.com:3128', 50],
])(
  'a stand-in has the rules and the identity of the other environment, and the lower rate: it %s',
  async (_, own, rate) => {
    const { campaign, diagnostics } = await read(backup(`    standsInFor: production\n    ${own}\n`));
    expect(diagnostics).toEqual([]);
    const { environments } = campaign?.project ?? {};
    const [original, standIn] = ['production', 'backup'].map((name) => environments?.get(name));
    const { countries, budget, git, only, redirect, approval } = original ?? {};
    expect({ countries, budget, git: git?.branches, only: only?.length }).toEqual({
      countries: ['GB', 'IE'],
      budget: { maxMicros: 100_000_000, per: 'month' },
      git: ['main'],
      only: 2,
    });
    expect(standIn).toMatchObject({ countries, budget, git, only, redirect, approval });
    expect(standIn).toMatchObject({
      name: 'backup',
      identity: 'production',
      url: 'https://api.example.net/v2/messages',
      secrets: { apiKey: { env: 'OTHER' } },
      ratePerSecond: rate,
    });
  },
);

it('may write the same rules', async () => {
  const same = 'budget: { per: month, max: 100 }\n    countries: [GB, IE]\n    git: { branch: main }\n';
  const { diagnostics } = await read(backup(`    standsInFor: production\n    ${same}`));
  expect(diagnostics).toEqual([]);
});

test.each([
  ['other countries', 'countries: [GB]', 'invalid-value 14:16', '"countries" of backup is not that of production'],
  ['another budget', 'budget: { max: 200, per: month }', 'invalid-value 14:13', '"budget" of backup'],
  ['another rule for commits', 'git: { clean: true }', 'invalid-value 14:10', '"git" of backup'],
  ['a fence', 'redirect: "+447700900999"', 'invalid-value 14:15', '"redirect" of backup'],
  ['another fence', 'only: ["+447700900123"]', 'invalid-value 14:11', '"only" of backup'],
  ['approvers', 'approvers: { file: signers }', 'invalid-value 14:16', '"approvers" of backup'],
])('%s of its own are refused with their place', async (_, line, place, message) => {
  const { diagnostics } = await read(backup(`    standsInFor: production\n    ${line}\n`));
  expect(brief(diagnostics)).toEqual([place]);
  expect(diagnostics[0]?.message).toContain(message);
  expect(diagnostics[0]?.hint).toContain('that of production holds');
});

const SPARE = '  spare: { baseUrl: https://spare.example.net, apiKey: { env: SPARE }, standsInFor: backup }\n';

test.each([
  ['an environment that is not there', 'prodution', '', 'unknown-environment 13:18', 'no environment "prodution"'],
  ['itself', 'backup', '', 'invalid-value 13:18', 'cannot stand in for itself'],
  ['the sandbox', 'sandbox', '', 'invalid-value 13:18', 'it has no stand-in'],
  ['a name of every object', 'constructor', '', 'unknown-environment 13:18', 'no environment "constructor"'],
  ['one that stands in itself', 'production', SPARE, 'invalid-value 14:85', 'spare cannot stand in for backup'],
])('none stands in for %s', async (_, name, more, place, message) => {
  const { diagnostics } = await read(backup(`    standsInFor: ${name}\n${more}`));
  expect(brief(diagnostics)).toEqual([place]);
  expect(diagnostics[0]?.message).toContain(message);
});

it('the sandbox stands in for no environment', async () => {
  const { diagnostics } = await read(`${PRODUCTION}  sandbox: { standsInFor: production }\n`);
  expect(brief(diagnostics)).toEqual(['unknown-key 10:14']);
});
