import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { handbillHere } from './in-process.ts';
import { projectWith } from './run-handbill.ts';

let remove = async (): Promise<void> => undefined;
afterEach(() => remove());

async function givenProject(): Promise<string> {
  const made = await projectWith({
    'handbill.yaml': 'defaultCountry: GB\n',
    'campaigns/c/campaign.yaml':
      'name: c\nchannel: sms\nfrom: Riverside\ntopic: news\ntemplate: { text: "Sale!" }\nrecipients: { csv: p.csv, key: id }\n',
    'campaigns/c/p.csv': 'msisdn,id\n+447400123456,P1\n+447400123457,100050\n',
  });
  remove = made.remove;
  return made.root;
}

test.each(['P1', '100050'])('the key %s is found as a key', async (key) => {
  const root = await givenProject();
  await handbillHere(root, ['send', 'c', '--quiet']);
  const { status, out } = await handbillHere(root, ['person', key, '--format', 'json']);
  expect(status).toBe(0);
  const found = JSON.parse(out);
  expect(found).toMatchObject({
    given: key,
    address: key === 'P1' ? '+447400123456' : '+447400123457',
    suppressed: false,
  });
  expect(found.messages.map((one: { outcome: { key: string } }) => one.outcome.key)).toEqual([key]);
});

test('a key whose address was corrected has both messages', async () => {
  const root = await givenProject();
  await handbillHere(root, ['send', 'c', '--quiet']);
  await writeFile(join(root, 'campaigns/c/p.csv'), 'msisdn,id\n+447400123458,P1\n');
  await handbillHere(root, ['send', 'c', '--occurrence', 'next', '--quiet']);
  const { out } = await handbillHere(root, ['person', 'P1', '--format', 'json']);
  const found = JSON.parse(out);
  expect([found.address, found.messages.length]).toEqual(['+447400123458', 2]);
});

test('what is neither is named in full', async () => {
  const root = await givenProject();
  for (const key of ['P7', '100051']) {
    const { status, err } = await handbillHere(root, ['person', key]);
    expect([status, err]).toEqual([
      2,
      expect.stringMatching(`error\\[invalid-address\\]: "${key}" .*no run has a recipient with the key "${key}"`),
    ]);
  }
});

test('for a name, the hint is the page that searches names', async () => {
  const root = await givenProject();
  const { status, err } = await handbillHere(root, ['person', 'Mair Llewellyn']);
  expect([status, err]).toEqual([
    2,
    expect.stringContaining('To search by name, run `handbill serve` and look under People.'),
  ]);
});

test('suppress --topic knows the topics of the campaigns', async () => {
  const root = await givenProject();
  const add = (topic: string) => handbillHere(root, ['suppress', 'add', '+447400123456', '--topic', topic]);
  const { err } = await add('newz');
  expect(err).toMatch(/warning\[usage\]: No campaign has the topic "newz".*\n.*Did you mean "news"\?/s);
  expect((await add('weather')).err).toContain('Topics of the campaigns: news.');
  expect((await add('news')).err).not.toContain('warning');
});

test('replies are shown with a clock before the newest entry, as a preview is', async () => {
  const root = await givenProject();
  const later = () => Date.parse('2030-01-01T00:00:00Z');
  await writeFile(join(root, 'r.csv'), 'from,text\n+447400123456,hello\n');
  await handbillHere(root, ['listen', '--from', 'r.csv'], { now: later });
  const now = () => Date.parse('2029-01-01T00:00:00Z');
  const { status, out } = await handbillHere(root, ['replies'], { now });
  expect([status, out]).toEqual([0, expect.stringContaining('hello')]);
  expect((await handbillHere(root, ['person', '+447400123456'], { now })).status).toBe(0);
});

test('a lost key names the way out, and that is one', async () => {
  const root = await givenProject();
  const env = { HANDBILL_SUPPRESSION_KEY: 'a key of more than sixteen bytes' };
  await writeFile(join(root, 'handbill.yaml'), 'suppressionKey: { env: HANDBILL_SUPPRESSION_KEY }\n');
  await handbillHere(root, ['suppress', 'add', '+447400123456'], { env });
  await handbillHere(root, ['suppress', 'export', '--hashed', '-o', 'h.csv'], { env });
  await handbillHere(root, ['suppress', 'import', 'h.csv'], { env });
  const refused = await handbillHere(root, ['preview', 'c']);
  expect([refused.status, refused.err]).toEqual([2, expect.stringContaining('`handbill suppress remove hb1:...`')]);
  expect(refused.err).toContain('can then be sent to again');
  const { out } = await handbillHere(root, ['suppress', 'list', '--format', 'csv']);
  const hash = /hb1:[0-9a-f]{8}:[0-9a-f]{64}/.exec(out)?.[0] ?? '';
  expect((await handbillHere(root, ['suppress', 'remove', hash])).status).toBe(0);
  expect((await handbillHere(root, ['preview', 'c'])).status).toBe(0);
});
