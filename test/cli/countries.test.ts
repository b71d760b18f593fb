import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { jsonLines } from '../helpers/json-lines.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { answer, type RawServer, startRawServer } from '../helpers/raw-server.ts';
import { handbillHere } from './in-process.ts';

const LIST = `key,msisdn,email
gb,+447400123456,gb@example.com
ie,+353850123456,ie@example.com
fr,+33612345678,fr@example.com
us,+12015550123,us@example.com
sat,+881612345678,sat@example.com
`;

let server: RawServer;
let bodies: string[];
let project: TestProject;
beforeEach(async () => {
  bodies = [];
  server = await startRawServer({
    behaviour: (request) => {
      bodies.push(request.body);
      const isEmail = request.body.includes('"email"');
      return isEmail
        ? answer(422, '{"code":"UNSUPPORTED_CHANNEL"}')(request)
        : answer(202, `{"id":"M${bodies.length}"}`)(request);
    },
  });
  project = createProject({
    'handbill.yaml': `environments:
  production:
    baseUrl: "${new URL(server.url).origin}"
    apiKey: { env: KEY }
    countries: [GB, IE]
    wire: { answers: [{ status: 422, then: unsupported }] }
`,
    'texts/campaign.yaml':
      'name: texts\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: { csv: ../people.csv, key: key }\n',
    'mails/campaign.yaml': `name: mails
channel: email
from: shop@example.com
content: { subject: Hi, text: Hi }
fallback: { channel: sms, to: msisdn, from: Riverside, template: { text: Hi } }
recipients: { csv: ../people.csv, key: key, to: email }
`,
    'people.csv': LIST,
  });
});
afterEach(async () => {
  project[Symbol.dispose]();
  await server.close();
});

const run = (...args: readonly string[]) => handbillHere(project.root, args, { env: { KEY: 'key-of-a-test' } });

async function outcomes(campaign: string): Promise<Readonly<Record<string, string>>> {
  const { out } = await run('report', campaign, '--format', 'jsonl');
  const rows = jsonLines(out);
  return Object.fromEntries(rows.map(({ key, channel, outcome, reason }) => [key, `${channel} ${reason ?? outcome}`]));
}

describe('countries of an environment', () => {
  it('skips the numbers of others, also those of no country, in preview as in send', async () => {
    const { out } = await run('preview', 'texts', '--env', 'production', '--format', 'jsonl');
    const decided = jsonLines(out);
    const shown = decided.map(({ key, reason, detail }) => [key, reason, detail ?? null]);
    expect(shown).toEqual([
      ['gb', null, null],
      ['ie', null, null],
      ['fr', 'country', 'FR'],
      ['us', 'country', 'US'],
      ['sat', 'country', 'no country'],
    ]);
    expect((await run('send', 'texts', '--env', 'production', '--yes')).status).toBe(0);
    expect(bodies).toHaveLength(2);
    expect(await outcomes('texts')).toEqual({
      gb: 'sms accepted',
      ie: 'sms accepted',
      fr: 'sms country',
      us: 'sms country',
      sat: 'sms country',
    });
  });

  it('does not ask about email, and lets no fallback go to another country', async () => {
    await run('send', 'mails', '--env', 'production', '--yes');
    expect(bodies.filter((body) => body.includes('"email"'))).toHaveLength(5);
    const numbers = bodies.flatMap((body) => /\+?(447|353|336|120|881)\d{7,}/.exec(body)?.[1] ?? []);
    expect(numbers.sort()).toEqual(['353', '447']);
    expect(await outcomes('mails')).toMatchObject({ gb: 'sms accepted', ie: 'sms accepted' });
  });

  it('another environment sends to all', async () => {
    expect((await run('preview', 'texts', '--format', 'jsonl')).out).not.toContain('"country"');
  });

  it('a run notices that they changed', async () => {
    await run('send', 'texts', '--env', 'production', '--yes', '--limit', '1');
    const file = String(project.contents().get(project.path('handbill.yaml')));
    project.write('handbill.yaml', file.replace('[GB, IE]', '[GB]'));
    const again = await run('send', 'texts', '--env', 'production', '--yes');
    expect(again.status).toBe(2);
    expect(again.err).toContain('input-changed');
    await run('send', 'texts', '--env', 'production', '--yes', '--allow', 'input-changed');
    expect(await outcomes('texts')).toMatchObject({ gb: 'sms accepted', ie: 'sms country' });
  });

  it('names a country that is none with its place', async () => {
    const file = String(project.contents().get(project.path('handbill.yaml')));
    project.write('handbill.yaml', file.replace('[GB, IE]', '[GB, UK]'));
    const { status, err } = await run('preview', 'texts');
    expect(status).toBe(2);
    expect(err).toContain('"UK" is not a country with telephone numbers.');
    expect(err).toContain('handbill.yaml:5:21');
    expect(err).toContain('The United Kingdom is GB.');
  });
});
