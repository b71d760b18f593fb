import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { unspelled } from '../../src/providers/reference.ts';
import { handbillHere } from '../cli/in-process.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { answer, type RawServer, startRawServer } from '../helpers/raw-server.ts';

/* A person who asks the provider about a message needs the reference that its request carried. */

let server: RawServer;
let project: TestProject;
beforeEach(async () => {
  server = await startRawServer({ behaviour: answer(500, '') });
  project = createProject({
    'people.csv': 'key,msisdn\nann,+447700900001\nbo,+447700900002\n',
    'hello/campaign.yaml':
      'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nsend: { attempts: 1 }\nrecipients: { csv: ../people.csv, key: key }\n',
  });
});
afterEach(async () => {
  project[Symbol.dispose]();
  await server.close();
});

const gateway = (name: string, keys: string): void =>
  project.write(
    name,
    `title: Gateway
url: https://gateway.example/send
channels: { sms: sms }
${keys}
requests:
  - json: { text: "{text}", to: "{to}", ref: "{reference}" }
limits: { recipients: 1 }
`,
  );

const run = (...args: readonly string[]) => handbillHere(project.root, args, { width: 200 });

/** A run in doubt; what its requests carried, by key. */
async function inDoubt(
  keys: string,
  { more = '', env = 'production' } = {},
): Promise<Readonly<Record<string, string>>> {
  gateway('gateway.yaml', keys);
  const baseUrl = new URL(server.url).origin;
  project.write(
    'handbill.yaml',
    `environments:\n  production:\n    provider: ./gateway.yaml\n    baseUrl: "${baseUrl}"\n${more}`,
  );
  await run('send', 'hello', '--env', env, '--yes');
  const sent = server.requests.map(({ body }) => JSON.parse(body) as { to: string; ref: string });
  return Object.fromEntries(sent.map(({ to, ref }) => [to.endsWith('1') ? 'ann' : 'bo', ref]));
}

const SPELLED = 'reference: { alphabet: alphanumeric, max: 32 }';

function referencesIn(jsonl: string): Readonly<Record<string, string>> {
  const records = jsonl.trim().split('\n');
  return Object.fromEntries(
    records.map((line) => {
      const { key, reference } = JSON.parse(line) as { key: string; reference: string };
      return [key, reference];
    }),
  );
}

describe.each([
  ['in letters and digits', SPELLED, /^[0-9a-z]{26}$/],
  ['as it is', '', /^[\w-]{22}$/],
])('a provider that gets the reference %s', (_, keys, form) => {
  it('is asked with what the requests carried', async () => {
    const sent = await inDoubt(keys);
    expect(Object.keys(sent).toSorted()).toEqual(['ann', 'bo']);
    for (const reference of Object.values(sent)) expect(reference).toMatch(form);
    expect(referencesIn((await run('doubt', 'list', '--format', 'jsonl')).out)).toEqual(sent);
    expect(referencesIn((await run('report', 'hello', '--format', 'jsonl')).out)).toEqual(sent);
    for (const args of [
      ['doubt', 'list'],
      ['doubt', 'list', '--format', 'json'],
      ['doubt', 'list', '--format', 'csv'],
      ['report', 'hello', '--format', 'csv'],
    ]) {
      const { out } = await run(...args);
      for (const reference of Object.values(sent)) expect(out).toContain(reference);
    }
  });
});

describe('a reference in letters and digits', () => {
  it.each([
    ['as it was sent', (reference: string) => reference],
    ['in capital letters', (reference: string) => reference.toUpperCase()],
    ['as handbill computes it', unspelled],
  ])('names a recipient in doubt %s, on the command line and in a file', async (_, written) => {
    const { ann = '', bo = '' } = await inDoubt(SPELLED);
    const resolve = ['doubt', 'resolve', 'hello', '--as', 'accepted', '--yes'];
    expect(await run(...resolve, `--key=${written(ann)}`)).toMatchObject({ status: 0 });
    project.write('found.txt', `${written(bo)}\n`);
    expect(await run(...resolve, '--from', 'found.txt')).toMatchObject({ status: 0 });
    const again = await run(...resolve, `--key=${written(ann)}`);
    expect(again.err).toContain('(line 2) is accepted (resolved), not in doubt');
    expect(referencesIn((await run('doubt', 'list', '--resolved', '--format', 'jsonl')).out)).toEqual({ ann, bo });
  });

  it('is shown so only where the stand-in that posted the message has such a provider', async () => {
    gateway('other.yaml', '');
    const other = `  spare:\n    standsInFor: production\n    provider: ./other.yaml\n    baseUrl: "${new URL(server.url).origin}"\n`;
    const sent = await inDoubt(SPELLED, { more: other, env: 'spare' });
    for (const reference of Object.values(sent)) expect(reference).toHaveLength(22);
    expect(referencesIn((await run('doubt', 'list', '--format', 'jsonl')).out)).toEqual(sent);
    expect(referencesIn((await run('report', 'hello', '--format', 'jsonl')).out)).toEqual(sent);
  });
});
