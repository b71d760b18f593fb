import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { handbillHere } from '../cli/in-process.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

const LIST = `msisdn,name,lang,tier
+447400123450,Ann,en,gold
+447400123451,Bo,de,gold
+447400123452,Cy,fr,
+447400123453,Di,de,
+447400123454,Ed,en,
+447400123455,Flo,en,
`;

let project: TestProject;
beforeEach(() => {
  project = createProject({ 'handbill.yaml': '{}\n', 'hello/people.csv': LIST });
});
afterEach(() => project[Symbol.dispose]());

const HEAD = 'name: hello\nchannel: sms\nfrom: Riverside\nrecipients: people.csv\n';
const write = (rest: string): void => project.write('hello/campaign.yaml', HEAD + rest);
const run = (...args: readonly string[]) => handbillHere(project.root, args);

interface Row {
  readonly line: number;
  readonly decision: string;
  readonly reason: string | null;
  readonly variant: string | null;
  readonly request: { readonly body: { readonly body: { readonly text: string } } } | null;
}

async function preview(): Promise<readonly Row[]> {
  const { out } = await run('preview', 'hello', '--format', 'jsonl');
  return jsonLines(out);
}

const CONDITIONAL = `template: { text: "Hi {{name}}" }
variants:
  - { name: german, where: { lang: de }, template: { text: "Hallo {{name}}" } }
  - { name: gold, where: { tier: gold }, template: { text: "Dear {{name}}" } }
`;

describe('variants with a condition', () => {
  it('the first that holds counts; all others get the message of the campaign', async () => {
    write(CONDITIONAL);
    expect((await preview()).map(({ variant }) => variant)).toEqual(['gold', 'german', null, 'german', null, null]);
    const { out } = await run('preview', 'hello');
    expect(out).toContain('| Hallo Bo');
    expect(out).toContain('| Hi Cy');
    expect(out).toContain('2 german, 1 gold');
  });

  it('may name a date, which means the same day at every start', async () => {
    project.write('hello/people.csv', 'msisdn,visit\n+447400123450,2026-12-01\n+447400123451,2026-12-02\n');
    project.write(
      'hello/campaign.yaml',
      `name: hello
channel: sms
from: Riverside
recipients: { csv: people.csv, columns: { visit: date } }
template: { text: Hi }
variants:
  - { name: first, where: { visit: { $on: 2026-12-01 } }, template: { text: Hello } }
`,
    );
    expect((await preview()).map(({ variant }) => variant)).toEqual(['first', null]);
  });

  it('send does what preview shows, and the report compares nothing', async () => {
    write(CONDITIONAL);
    await run('send', 'hello');
    const { out } = await run('report', 'hello', '--format', 'json');
    const { variants, significance } = JSON.parse(out);
    expect(variants.map((one: { name: string; accepted: number }) => [one.name, one.accepted])).toEqual([
      ['german', 2],
      ['gold', 1],
    ]);
    expect(significance).toBeNull();
  });

  it('the rest is divided among the variants without one, and only they are tested', async () => {
    write(`variants:
  - { name: german, where: { lang: de }, template: { text: "Hallo {{name}}" } }
  - { name: A, template: { text: "A {{name}}" } }
  - { name: B, template: { text: "B {{name}}" } }
test: 1%
`);
    const rows = await preview();
    expect(rows.map(({ variant, reason }) => variant ?? reason)).toEqual([
      'winner-undecided',
      'german',
      'winner-undecided',
      'german',
      'winner-undecided',
      'winner-undecided',
    ]);
    const won = (await run('preview', 'hello', '--winner', 'B', '--format', 'jsonl')).out;
    expect(won.match(/"variant":"B"/g)).toHaveLength(4);
    const wrong = await run('preview', 'hello', '--winner', 'german');
    expect(wrong.status).toBe(2);
    expect(wrong.err).toContain('There is no variant "german".');
    // One letter is no slip for another one.
    const other = await run('preview', 'hello', '--winner', 'C');
    expect(other.err).toMatch(/There is no variant "C"\.[\s\S]*help: Variants: A, B\./);
  });

  it('one variant without a condition is what the rest gets', async () => {
    write(
      'variants:\n  - { name: german, where: { lang: de }, template: { text: "Hallo" } }\n  - { name: other, template: { text: "Hi" } }\n',
    );
    expect(new Set((await preview()).map(({ variant }) => variant))).toEqual(new Set(['german', 'other']));
  });

  it('a column that only another variant needs may be empty, also of a recipient who waits', async () => {
    write(`template: { text: "Hi {{name}}" }
variants:
  - { name: gold, where: { tier: { $exists: true, $ne: "" } }, template: { text: "{{tier}}, {{name}}" } }
send: { window: { days: [mon], from: "09:00", to: "09:01", timeZone: Europe/London } }
`);
    const { status, err } = await run('preview', 'hello', '--at', '2026-11-25T12:00:00Z');
    expect(err).not.toContain('error[');
    expect(status).toBe(0);
  });

  it('a test sends each message, that of the campaign too', async () => {
    write(CONDITIONAL);
    const { status, out, err } = await run('send', 'hello', '--test-to', '+447400123499');
    expect(status).toBe(0);
    expect(out + err).toContain('variant german');
    expect((await run('runs')).out.match(/^\w+ +hello/gm)).toHaveLength(3);
  });
});

describe('what is wrong with a condition', () => {
  it.each<[string, string, string, string]>([
    [
      'no message for the rest',
      'variants:\n  - { name: a, where: { lang: de }, template: { text: A } }\n',
      'hello/campaign.yaml:6',
      'have no message',
    ],
    [
      'an unknown column',
      'template: { text: Hi }\nvariants:\n  - { name: a, where: { language: de }, template: { text: A } }\n',
      'hello/campaign.yaml:7:23',
      '`variants[0].where.language` asks for the column "language"',
    ],
    [
      'a weight',
      'template: { text: Hi }\nvariants:\n  - { name: a, weight: 2, where: { lang: de }, template: { text: A } }\n',
      'hello/campaign.yaml:7',
      'says nothing beside "where"',
    ],
    [
      'a winner that is not in the test',
      'variants:\n  - { name: a, where: { lang: de }, template: { text: A } }\n  - { name: b, template: { text: B } }\n  - { name: c, template: { text: C } }\ntest: 50%\nwinner: a\n',
      'hello/campaign.yaml:10',
      'Variants: b, c.',
    ],
    [
      'a day that depends on the start',
      'template: { text: Hi }\nrecipients: { csv: people.csv, columns: { tier: date } }\nvariants:\n  - { name: a, where: { tier: { $on: today } }, template: { text: A } }\n',
      'hello/campaign.yaml',
      'depends on the day of the start',
    ],
  ])('%s', async (_, rest, place, says) => {
    project.write(
      'hello/campaign.yaml',
      rest.includes('recipients:') ? HEAD.replace(/recipients.*\n/, '') + rest : HEAD + rest,
    );
    const { status, err } = await run('preview', 'hello');
    expect(status).toBe(2);
    expect(err).toContain(place);
    expect(err).toContain(says);
  });

  it('a variant that no recipient gets is a warning', async () => {
    write(CONDITIONAL.replace('lang: de', 'lang: DE'));
    const { status, err } = await run('preview', 'hello');
    expect(status).toBe(0);
    expect(err).toContain('No recipient gets the variant "german".');
    expect(err).toContain('hello/campaign.yaml:7');
  });
});
