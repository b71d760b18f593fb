import { afterEach, beforeEach, expect, it } from 'vitest';
import { createProject, type TestProject } from '../helpers/project.ts';
import { answer, type RawServer, startRawServer } from '../helpers/raw-server.ts';
import { handbillHere } from './in-process.ts';

const ANN = '+447400123456';
const BOB = '+447400123457';

let server: RawServer;
let project: TestProject;
beforeEach(async () => {
  let given = 0;
  server = await startRawServer({
    behaviour: (request) => {
      given += 1;
      answer(202, `{"id":"M${given}"}`)(request);
    },
  });
  const campaign = (name: string, key: string) =>
    `name: ${name}\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: { csv: people.csv, key: ${key} }\n`;
  project = createProject({
    'handbill.yaml': `defaultCountry: GB
environments:
  production: { baseUrl: "${new URL(server.url).origin}", apiKey: { env: KEY } }
`,
    'one/campaign.yaml': campaign('one', 'id'),
    'one/people.csv': `msisdn,id\n${ANN},1\n${BOB},2\n`,
    'two/campaign.yaml': campaign('two', 'msisdn'),
    'two/people.csv': `msisdn\n${BOB}\n`,
    'replies.csv': `from,to,text,timestamp\n${ANN},Riverside,STOP,2026-11-21T10:00:00Z\n${BOB},Riverside,Thanks,2026-11-21T10:00:00Z\n`,
  });
});
afterEach(async () => {
  project[Symbol.dispose]();
  await server.close();
});

const run = (...args: readonly string[]) => handbillHere(project.root, args, { env: { KEY: 'key-of-a-test' } });

it('names every run, in all environments, with replies and suppression, of this address alone', async () => {
  await run('send', 'one', '--env', 'production', '--yes');
  await run('send', 'one');
  await run('send', 'two');
  await run('listen', '--env', 'production', '--from', 'replies.csv');
  const { status, out } = await run('person', '07400 123456', '--format', 'json');
  expect(status).toBe(0);
  const found = JSON.parse(out);
  expect(found).toMatchObject({ given: '07400 123456', address: ANN, suppressed: true });
  expect(
    found.messages.map((one: { campaign: string; environment: string }) => [one.campaign, one.environment]),
  ).toEqual([
    ['one', 'sandbox'],
    ['one', 'production'],
  ]);
  expect(found.messages[1].outcome).toMatchObject({ key: '1', to: ANN, outcome: 'accepted', messageId: 'M1' });
  expect(found.replies.map((one: { text: string }) => one.text)).toEqual(['STOP']);
  expect(out).not.toContain(BOB);
  const bob = JSON.parse((await run('person', BOB, '--format', 'json')).out);
  expect(bob.messages).toHaveLength(3);
  expect(bob.suppressed).toBe(false);
});

it('shows the number that the user typed, masks that of a key, and says where nothing is known', async () => {
  await run('send', 'one');
  const { out } = await run('person', '07400 123456');
  expect(out).toContain('one (sandbox, once)  sms: accepted, inputs v1');
  expect(out).toContain('Suppressed  no');
  expect(out.split('\n')[0]).toBe(ANN);
  const byKey = await run('person', '1');
  expect(byKey.out).toContain('Messages    1\n');
  expect(byKey.out).not.toContain(ANN);
  const nothing = await run('person', 'jane@example.com');
  expect(nothing).toMatchObject({ status: 0 });
  expect(nothing.out).toContain('Messages    none\nReplies     none\n');
  expect((await run('person', '12')).status).toBe(2);
});

it('a purged run knows no address any more', async () => {
  await run('send', 'one');
  const later = { now: () => Date.now() + 90 * 86_400_000 };
  await handbillHere(project.root, ['purge', '--older-than', '1d', '--yes'], later);
  const { out } = await handbillHere(project.root, ['person', ANN, '--format', 'json'], later);
  expect(JSON.parse(out).messages).toEqual([]);
});

it('a long reply is broken between its words', async () => {
  const text = 'Please call me back tomorrow afternoon '.repeat(6).trim();
  project.write('replies.csv', `from,to,text,timestamp\n${ANN},Riverside,${text},2026-11-21T10:00:00Z\n`);
  await run('send', 'one', '--env', 'production', '--yes');
  await run('listen', '--env', 'production', '--from', 'replies.csv');
  const { out } = await run('person', ANN);
  const lines = out.split('\n').slice(out.split('\n').findIndex((line) => line.startsWith('Replies')) + 1, -2);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(lines.map((line) => line.trim()).join(' ')).toContain(text);
});
