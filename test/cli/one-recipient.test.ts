import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { handbillHere } from './in-process.ts';
import { projectWith } from './run-handbill.ts';

const campaign = (name: string, numbers: readonly string[], more = ''): string =>
  `name: ${name}\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\n${more}recipients:\n${numbers
    .map((number) => `  - msisdn: "${number}"\n`)
    .join('')}`;

const ANA = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMgUk+198d4pSNKnVYX5eVpJzSrWfdrua2g76QDO8jPi';
const BEN = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBzZXsSTYFRJSbmukSnvqSl3VYg6xoUAhC/HM6CLML6z';

const FILES = {
  'handbill.yaml': `environments:
  production: { baseUrl: "https://api.invalid", apiKey: { env: HANDBILL_API_KEY } }
  approved:
    baseUrl: https://api.invalid
    apiKey: { env: HANDBILL_API_KEY }
    approvers: [{ name: ana, key: ${ANA} }, { name: ben, key: ${BEN} }]
`,
  'one.yaml': campaign('one', ['+447700900001']),
  'two.yaml': campaign('two', ['+447700900001', '+447700900002']),
  'gate.yaml': campaign('gate', ['+447700900422', '+447700900002'], 'send: { canary: { steps: [1] } }\n'),
  'stop.yaml': campaign(
    'stop',
    ['+447700900422', '+447700900002'],
    'send: { concurrency: 1 }\nlimits: { stopAfter: { rejected: 1 } }\n',
  ),
};

let root = '';
let remove = async (): Promise<void> => undefined;
beforeAll(async () => {
  ({ root, remove } = await projectWith(FILES));
});
afterAll(() => remove());

describe('one recipient is said in the singular', () => {
  it.each([
    ['what a preview leaves out', ['preview', 'two.yaml', '--limit', '1'], '… and 1 more row (--limit N'],
    ['a plan file', ['plan', 'one.yaml', '-o', 'one.json'], 'Planned: 1 recipient, 1 part. Send it with'],
    ['a plan to look at', ['approve', 'one.json', '--check'], 'recipients   1 (1 row)'],
    ['the question of send', ['send', 'one.yaml', '--env', 'production'], ': 1 recipient, 1 part.'],
    [
      'a gate',
      ['send', 'gate.yaml'],
      'The gate of the canary is shut: the first recipient was not accepted; send.canary',
    ],
    ['a stop rule', ['send', 'stop.yaml'], '1 recipient was refused in this start (limits.stopAfter.rejected).'],
  ])('%s', async (_label, args, said) => {
    const { out, err } = await handbillHere(root, args, {
      width: 200,
      env: { HANDBILL_API_KEY: 'key-for-tests-only' },
    });
    expect(out + err).toContain(said);
  });
});

it('preview --limit 0 shows no recipient and counts all: what a log may hold', async () => {
  const { status, out } = await handbillHere(root, ['preview', 'two.yaml', '--limit', '0']);
  expect(status).toBe(0);
  expect(out).not.toContain('+4477');
  expect(out).toContain('… and 2 more rows');
  expect(out).toContain('to send   2, 2 parts\n');
});

it('an unsigned plan asks for the signature of the planner and of an approver', async () => {
  const { err } = await handbillHere(root, ['plan', 'one.yaml', '--env', 'approved', '-o', 'unsigned.json']);
  expect(err).toContain(
    'Planned: 1 recipient, 1 part. It counts when you and an approver have signed it: handbill approve unsigned.json --sign KEY\n',
  );
});
