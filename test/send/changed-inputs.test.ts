import { expect, it } from 'vitest';
import { handbillHere } from '../cli/in-process.ts';
import { createProject } from '../helpers/project.ts';

/* A dry run of a start whose inputs changed says which recipients the change concerns, and counts as the start does. */

const ROWS = Array.from({ length: 6 }, (_, i) => `${i + 1},+44740012345${i + 1},Name ${i + 1}`);
const NEW = ['8,+447400123458,New', '9,+447400123459,Newer'];
const list = (...rows: readonly (string | undefined)[]) => `id,msisdn,n\n${rows.join('\n')}\n`;
const campaign = (text: string, more = '') =>
  `name: c\nchannel: sms\nfrom: Riverside\ntemplate: { text: "${text} {{n}}" }\nrecipients: { csv: p.csv, key: id }\n${more}`;

interface Case {
  readonly label: string;
  readonly text?: string;
  readonly rows?: readonly (string | undefined)[];
  readonly says: string | null;
  readonly posts: number;
}

const cases: readonly Case[] = [
  { label: 'nothing', says: null, posts: 4 },
  {
    label: 'the text',
    text: 'Hello',
    says: 'new: 0; removed, and not sent to: 0; with another text than those who were sent to: 4 (line 4, line 5, line 6 and more).',
    posts: 4,
  },
  {
    label: 'the list: two are new, at its beginning, one who waits and one who was sent to are gone',
    rows: [...NEW, ROWS[0], ROWS[3], ROWS[4], ROWS[5]],
    says: 'new: 2 (line 2, line 3); removed, and not sent to: 1 (+44••••••3453).',
    posts: 5,
  },
  {
    label: 'the order of the list',
    rows: ROWS.toReversed(),
    says: 'new: 0; removed, and not sent to: 0.',
    posts: 4,
  },
  {
    label: 'both',
    text: 'Hello',
    rows: [ROWS[5], NEW[0], ROWS[1]],
    says: 'new: 1 (line 3); removed, and not sent to: 3 (+44••••••3453, +44••••••3454, +44••••••3455); with another text than those who were sent to: 1 (line 2).',
    posts: 2,
  },
];

it.each(cases)('$label changed', async ({ text = 'Hi', rows = ROWS, says, posts }) => {
  using here = createProject({ 'c.yaml': campaign('Hi'), 'p.csv': list(...ROWS) });
  const handbill = (...args: string[]) => handbillHere(here.root, args, { width: 4_000 });
  expect(await handbill('send', 'c.yaml', '--limit', '2', '--yes')).toMatchObject({ status: 0 });
  here.write('c.yaml', campaign(text));
  here.write('p.csv', list(...rows));
  const start = ['send', 'c.yaml', '--allow', 'input-changed'];
  const dry = await handbill(...start, '--dry-run', '--format', 'json');
  expect(dry, dry.err).toMatchObject({ status: 0 });
  if (says === null) expect(dry.err).not.toContain('warning[input-changed]');
  else expect(dry.err).toContain(`Inputs changed since this run began. Recipients who are ${says}`);
  expect(JSON.parse(dry.out)).toMatchObject({ estimate: { send: posts } });
  // Without the option too, above the refusal.
  const refused = await handbill('send', 'c.yaml', '--dry-run');
  expect(refused.status).toBe(says === null ? 0 : 2);
  if (says !== null) expect(refused.err).toContain(`Recipients who are ${says}`);
  const sent = await handbill(...start, '--yes');
  expect(sent.out).toContain(`${posts} posted in this start`);
});
