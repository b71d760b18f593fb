import { expect, it, test } from 'vitest';
import { findProject } from '../../src/campaign/place.ts';
import { readProject } from '../../src/campaign/project.ts';
import { folderWith } from './helper.ts';

async function projectWith(yaml: string) {
  await using folder = await folderWith({ 'handbill.yaml': yaml });
  return readProject(findProject(folder.root), { cwd: folder.root });
}

test.each<[label: string, yaml: string, rules: Readonly<Record<string, string>>]>([
  ['nothing said', '# nothing\n', {}],
  [
    'rules of its own',
    'senders: { US: free, MX: registered, NO: refused }\n',
    { US: 'free', MX: 'registered', NO: 'refused' },
  ],
])('%s', async (_label, yaml, rules) => {
  const { project, diagnostics } = await projectWith(yaml);
  expect(diagnostics).toEqual([]);
  expect({ ...project.senderRules }).toEqual(rules);
});

it('has no rules without handbill.yaml', async () => {
  await using folder = await folderWith({});
  const { project } = readProject(findProject(folder.root), { cwd: folder.root });
  expect(project.senderRules).toEqual({});
});

test.each<[label: string, yaml: string, code: string, place: string, says: RegExp]>([
  [
    'a country that does not exist',
    'senders:\n  US: free\n  UK: free\n',
    'invalid-value',
    '3:7',
    /The United Kingdom is GB/,
  ],
  ['small letters', 'senders:\n  us: free\n', 'invalid-value', '2:3', /two capital letters/],
  ['another word', 'senders:\n  US: forbidden\n', 'invalid-value', '2:7', /refused/],
  ['a list', 'senders: [US]\n', 'wrong-type', '1:10', /mapping/],
])('%s is refused with its place', async (_label, yaml, code, place, says) => {
  const { diagnostics } = await projectWith(yaml);
  expect(diagnostics.map(({ code, at }) => `${code} ${at?.line}:${at?.column}`)).toEqual([`${code} ${place}`]);
  expect(`${diagnostics[0]?.message} ${diagnostics[0]?.hint}`).toMatch(says);
});
