import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useApi } from '../helpers/api.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { handbillHere } from './in-process.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', 'campaigns');
const NAMES = readdirSync(EXAMPLES).filter((name) => existsSync(join(EXAMPLES, name, 'campaign.yaml')));
/** A Tuesday, inside every window of the examples. */
const now = () => Date.parse('2026-11-24T11:00:00Z');

const api = useApi();

interface Line {
  readonly line: number;
  readonly to: string;
  readonly decision: string;
  readonly variant: string | null;
  readonly request: { readonly body: object } | null;
}

/**
 * The message to the first recipient of a request, without what a test may change: the reference, which is also in
 * addresses to unsubscribe.
 */
function messageIn(body: string): string {
  const { recipients, ...message } = JSON.parse(body) as { readonly recipients?: readonly object[] };
  const own = JSON.stringify({ ...message, recipients: recipients?.slice(0, 1) });
  const reference = /"handbill":"([^"]+)"/.exec(own)?.[1];
  return reference === undefined ? own : own.replaceAll(reference, 'REFERENCE');
}

/** The first message that would be sent, and the one that a test of the same row sends to the same address. */
async function bothOf(here: TestProject, campaign: string): Promise<readonly (readonly [string, string])[]> {
  const handbill = (...args: string[]) =>
    handbillHere(here.path('campaigns'), args, { env: { API_KEY: 'k'.repeat(20) }, now });
  const previewed = await handbill('preview', campaign, '--env', 'real', '--format', 'jsonl');
  expect(previewed.status, previewed.err).toBe(0);
  const lines = previewed.out.split('\n').filter((line) => line !== '');
  const first = lines.map((line) => JSON.parse(line) as Line).find(({ decision }) => decision === 'send');
  if (first === undefined) throw new Error(`${campaign} sends nothing`);
  const variant = first.variant === null ? [] : ['--variant', first.variant];
  const args = ['send', campaign, '--env', 'real', '--yes', '--quiet', '--test-to', first.to, ...variant];
  const shown = messageIn(JSON.stringify(first.request?.body));
  const both: [string, string][] = [];
  for (const row of [[], ['--line', String(first.line)]]) {
    api.bodies.length = 0;
    const tested = await handbill(...args, ...row);
    expect(tested, tested.err).toMatchObject({ status: 0 });
    // Without --variant, a test has the messages of all variants.
    const bodies = api.bodies.map(messageIn);
    both.push([bodies.find((body) => body === shown) ?? bodies[0] ?? '{}', shown]);
  }
  return both;
}

function projectOf(files: Readonly<Record<string, string>> = {}): TestProject {
  const real = `environments:\n  real:\n    baseUrl: ${api.url}\n    apiKey: { env: API_KEY }\n`;
  const here = createProject(files);
  if (files['campaigns/handbill.yaml'] === undefined) {
    cpSync(EXAMPLES, here.path('campaigns'), { recursive: true, filter: (from) => !from.includes('.handbill') });
    here.write('campaigns/handbill.yaml', `${readFileSync(join(EXAMPLES, 'handbill.yaml'), 'utf8')}\n${real}`);
  } else here.write('campaigns/handbill.yaml', `${files['campaigns/handbill.yaml']}\n${real}`);
  return here;
}

describe('a test has the bytes of the message of its row', () => {
  // A follow-up has no recipients before its predecessor was sent, and no visit is near at this time.
  it.each(NAMES.filter((name) => !/^(?:welcome-\d|visit)$/.test(name)))('%s', async (name) => {
    using here = projectOf();
    for (const [tested, shown] of await bothOf(here, name)) expect(tested).toBe(shown);
  });

  it.each([
    ['dd/MM/yyyy', '01/12/2026'],
    // What a column holds once it has been read can be read again, as another day.
    ['yyyy-dd-MM', '2026-01-05'],
    ['MM/dd/yyyy', '05/01/2026'],
  ])('with a column of dates as %s', async (format, cell) => {
    using here = projectOf({
      'campaigns/handbill.yaml': 'locale: en-GB',
      'campaigns/d/campaign.yaml': JSON.stringify({
        name: 'd',
        channel: 'sms',
        from: 'Riverside',
        template: { text: "Visit {{date visit 'd MMM'}}, {{amount}}" },
        recipients: { csv: 'p.csv', columns: { visit: { type: 'date', format }, amount: 'number' } },
      }),
      'campaigns/d/p.csv': `msisdn,visit,amount\n+447400123456,${cell},1.50\n`,
    });
    for (const [tested, shown] of await bothOf(here, 'd')) expect(tested).toBe(shown);
  });
});
