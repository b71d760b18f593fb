import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { expect, it } from 'vitest';
import { createProject } from '../helpers/project.ts';
import { answer, startRawServer } from '../helpers/raw-server.ts';
import { handbillHere } from './in-process.ts';

const env = { KEY: 'k'.repeat(20) };
const DETAILS = ['Sender name Riverside is not registered', 'Number +447400123405 is ported', 'No route'];

/** Seven are refused: four, two and one of them for the same cause. */
const causeOf = (row: number): string => DETAILS[row < 4 ? 0 : row < 6 ? 1 : 2] ?? '';

it('says why the API refused: after a send, in every format of a report, without numbers of people', async () => {
  let row = 0;
  const api = await startRawServer({
    behaviour: (request) => {
      const at = row++;
      const body = at < 7 ? { detail: causeOf(at) } : { id: `m-${at}` };
      answer(at < 7 ? 422 : 202, JSON.stringify(body))(request);
    },
  });
  using here = createProject({
    'handbill.yaml': `environments: { live: { baseUrl: "${new URL(api.url).origin}", apiKey: { env: KEY } } }`,
    'c/campaign.yaml': JSON.stringify({
      name: 'c',
      channel: 'sms',
      from: 'Riverside',
      template: { text: 'Hello' },
      recipients: 'p.csv',
      send: { concurrency: 1 },
    }),
    'c/p.csv': `msisdn\n${Array.from({ length: 9 }, (_, i) => `+4474001234${String(i).padStart(2, '0')}`).join('\n')}\n`,
  });
  const handbill = (...args: string[]) => handbillHere(here.root, args, { env, width: 120 });
  const sent = await handbill('send', 'c', '--env', 'live', '--yes');
  const causes = `4 HTTP 422: ${DETAILS[0]}`;
  expect(sent.out).toContain(`Causes: ${causes}; 2 HTTP 422: Number … is ported; ... 1 more`);
  const text = await handbill('report', 'c');
  expect(text.out).toMatch(
    / {2}not delivered +7 {2}77\.8% {2}█+ +4 HTTP 422: Sender name Riverside is not registered\n +2 HTTP 422: Number … is ported\n +\.\.\. 1 more\n {2}All causes, whole: handbill report c-\w+ --causes\n/,
  );
  const all = await handbill('report', 'c', '--causes');
  expect(all.out).toMatch(/4 HTTP 422: Sender .*\n +2 HTTP 422: Number … is ported\n +1 HTTP 422: No route\n/);
  expect(all.out).not.toContain('--causes');
  for (const format of ['json', 'csv']) {
    const refused = await handbill('report', 'c', '--causes', '--format', format);
    expect([refused.status, refused.err]).toEqual([2, expect.stringContaining('It is for --format text.')]);
  }
  const rows: Record<string, string>[] = parse((await handbill('report', 'c', '--format', 'csv')).out, {
    columns: true,
  });
  const numberless = DETAILS.map((words) => `HTTP 422: ${words.replace(/[+]\d+/, '…')}`);
  expect(rows.map((row) => row['cause'])).toEqual([0, 0, 0, 0, 1, 1, 2, 3, 3].map((at) => numberless[at] ?? ''));
  expect((await handbill('report', 'c', '--format', 'brief')).out).toContain(causes);
  const { causes: found, verdict, ends } = JSON.parse((await handbill('report', 'c', '--format', 'json')).out);
  expect(found).toEqual([
    { outcome: 'rejected', cause: `HTTP 422: ${DETAILS[0]}`, count: 4 },
    { outcome: 'rejected', cause: 'HTTP 422: Number … is ported', count: 2 },
    { outcome: 'rejected', cause: 'HTTP 422: No route', count: 1 },
  ]);
  expect(verdict).toBe(`Finished. 2 of 9 sent, 7 not delivered. Most frequent cause (4): HTTP 422: ${DETAILS[0]}.`);
  expect(ends).toMatchObject({ sent: 2, notDelivered: 7 });
  // A page may be passed on: it does not name folders of this machine.
  const page = await handbill('report', 'c', '--format', 'html', '-o', 'r.html');
  expect(page.status, page.err).toBe(0);
  const html = readFileSync(here.path('r.html'), 'utf8');
  expect(html).toContain('<h1>c</h1>');
  expect(html).not.toContain(here.root);
  await api.close();
});
