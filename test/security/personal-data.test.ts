import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/table.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { handbillHere } from '../cli/in-process.ts';
import { createProject } from '../helpers/project.ts';
import { CANARY_KEY } from '../oracle/scene.ts';

/*
 * S34: whatever goes to a terminal or a log by itself holds no whole address, however it is spelt. Every command is run
 * as text, over lists whose addresses are canaries and against an API that repeats them in every answer.
 */

/** National part of the canaries: no other text has these digits. */
const NATIONAL = '79111234';

function canary(row: number): string {
  return `${NATIONAL}${String(10 + row)}`;
}

/** Numbers and email addresses that are in a text whole. */
function leaks(text: string): readonly string[] {
  const digits = text.replaceAll(/[\s()./\-\u00a0]/g, '');
  const numbers = digits.match(new RegExp(`.{0,12}${NATIONAL}\\d\\d.{0,6}`, 'g')) ?? [];
  return [...numbers, ...(text.match(/\S*canary\.person\S*/g) ?? [])];
}

/** Says the number back in four spellings, in answers of every kind. */
async function startGossip(): Promise<{ readonly url: string; readonly close: () => void }> {
  const server: Server = createServer((incoming, outgoing) => {
    let body = '';
    incoming.on('data', (chunk: Buffer) => {
      body += chunk.toString('utf8');
    });
    incoming.on('end', () => {
      const national = new RegExp(`${NATIONAL}\\d\\d`).exec(body)?.[0] ?? 'nobody';
      const row = Number(national.slice(-2));
      const said =
        `+44${national}, 0044 ${national.slice(0, 4)} ${national.slice(4)}, 0${national} and 44${national}: ` +
        `write to canary.person@example.com about 44${national}`;
      const status = [202, 400, 500][row % 3] ?? 202;
      const text = status === 202 ? JSON.stringify({ id: `m-${row}` }) : JSON.stringify({ error: { message: said } });
      outgoing.writeHead(status, { 'content-type': 'application/json' }).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

interface Said {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Commands that were run, by their name: none may be forgotten. */
const used = new Set<string>();

async function run(cwd: string, args: readonly string[]): Promise<Said> {
  used.add(args[0] ?? '');
  const options = { env: { HANDBILL_API_KEY: CANARY_KEY }, width: 200 };
  const { status, out: stdout, err: stderr } = await handbillHere(cwd, args, options);
  return { status, stdout, stderr };
}

const CAMPAIGN = [
  'channel: sms',
  'from: Riverside',
  'template: { text: "Hi {{name}}" }',
  'recipients: { csv: people.csv, defaultCountry: GB }',
  'limits: { stopAfter: { inDoubt: 100, rejected: 100 } }',
  '',
].join('\n');

/** Every spelling, each row another recipient. */
const PEOPLE = Array.from({ length: 12 }, (_, row) => {
  const number = canary(row);
  return [`+44${number}`, `0044 ${number}`, `0${number.slice(0, 4)} ${number.slice(4)}`, `+44 (0)${number}`][row % 4];
});

/** Lists on which everything is wrong. */
const BAD: Readonly<Record<string, { readonly campaign?: string; readonly list: string }>> = {
  'cells that are not addresses': {
    list: [
      'msisdn,name',
      `+44${canary(0)}99999,Ann`,
      `0${canary(1)}x,Bo`,
      `+44${canary(2)} / +44${canary(3)},Cy`,
      `44${canary(4)}; 0${canary(5)},Di`,
      'canary.person@example..com,Ed',
      `+44${canary(6)},`,
      `"+44${canary(7)}",Fi,extra`,
      `,+44${canary(8)}`,
    ].join('\n'),
  },
  'no header': { list: `+44${canary(0)},Ann\n+44${canary(1)},Bo\n` },
  'no header, and cells twice': { list: `+44${canary(0)},+44${canary(0)},Ann\n+44${canary(1)},0,Bo\n` },
  'no header, of emails': {
    campaign:
      'channel: email\nfrom: a@example.com\nrecipients: people.csv\ncontent: { subject: Hi, text: "{{name}}" }\n',
    list: 'canary.person@example.com,canary.person@example.com,Ann\n',
  },
  'a number where a date should be': {
    campaign: CAMPAIGN.replace('defaultCountry: GB', 'defaultCountry: GB, columns: { when: date, name: number }'),
    list: `msisdn,when,name\n+44${canary(0)},44${canary(0)},0${canary(0)}\n`,
  },
  'a number where a zone should be': {
    campaign: CAMPAIGN.replace('defaultCountry: GB', 'defaultCountry: GB, timeZone: zone'),
    list: `msisdn,name,zone\n+44${canary(0)},Ann,+44${canary(0)}\n`,
  },
  'a quote that is never closed': { list: `msisdn,name\n+44${canary(0)},"Ann\n+44${canary(1)},Bo\n` },
  'two keys with one number': {
    campaign: CAMPAIGN.replace('defaultCountry: GB', 'defaultCountry: GB, key: id'),
    list: `msisdn,name,id\n+44${canary(0)},Ann,1\n0${canary(0)},Bo,2\n,Cy,3\n`,
  },
  'a list in the campaign itself': {
    campaign: [
      'channel: sms',
      'from: Riverside',
      'template: { text: "Hi {{nmae}}" }',
      'recipients:',
      `  - { msisdn: "+44${canary(0)}99999", name: Ann }`,
      `  - { msisdn: "0${canary(1)}", name: Bo }`,
      `  - { msisdn: +44${canary(2)}, name: Cy, name: Di }`,
      '',
    ].join('\n'),
    list: '',
  },
  'a list in the campaign, with a mistake of YAML in its line': {
    campaign: `channel: sms\nfrom: Riverside\nrecipients:\n  - { msisdn: "+44${canary(2)}", name: Cy\n`,
    list: '',
  },
};

describe('lists on which something is wrong', () => {
  test.each(Object.entries(BAD))('%s', async (_label, { campaign = CAMPAIGN, list }) => {
    using project = createProject({ 'campaign.yaml': `name: bad\n${campaign}`, 'people.csv': list });
    for (const args of [
      ['validate'],
      ['plan', '.', '-o', 'plan.json'],
      ['send', '.'],
      ['send', '.', '--allow', 'invalid-rows'],
    ]) {
      const { stdout, stderr } = await run(project.root, args);
      expect({ args, leaks: leaks(stdout + stderr) }).toEqual({ args, leaks: [] });
    }
    const shown = await run(project.root, ['preview', '.', '--limit', '0']);
    expect(leaks(shown.stdout + shown.stderr)).toEqual([]);
    const plain = await run(project.root, ['validate', '--format', 'github']);
    expect(leaks(plain.stdout + plain.stderr)).toEqual([]);
  });
});

describe('a campaign that is sent', () => {
  const project = createProject({
    'campaign.yaml': `name: proof\n${CAMPAIGN}`,
    'people.csv': `msisdn,name\n${PEOPLE.map((to, i) => `${to},Name ${i}\n`).join('')}`,
    'stop.csv': `msisdn,reason\n+44${canary(20)},asked\n0${canary(21)}x,\n`,
  });
  let gossip: Awaited<ReturnType<typeof startGossip>>;
  beforeAll(async () => {
    gossip = await startGossip();
    project.write(
      'handbill.yaml',
      `defaultCountry: GB\nenvironments:\n  test: { baseUrl: "${gossip.url}", apiKey: { env: HANDBILL_API_KEY } }\n`,
    );
  });
  afterAll(() => {
    gossip.close();
    project[Symbol.dispose]();
  });

  test('the API repeats what it is sent, and the ledger keeps it', async () => {
    const { status, stdout, stderr } = await run(project.root, ['send', '.', '--env', 'test', '--yes']);
    expect(status, stderr).toBe(4);
    expect(leaks(stdout + stderr)).toEqual([]);
    const { stdout: raw } = await run(project.root, ['doubt', 'list', '--format', 'jsonl']);
    // Machine formats hold it whole: else this test would prove nothing.
    expect(leaks(raw).length).toBeGreaterThan(4);
    expect(raw).toContain('canary.person@example.com');
  });

  test('people reply, with numbers in what they write', async () => {
    const ids = { replyId: null, reference: null, messageId: null, to: '60300', channel: null, atMs: null };
    const text = `call 0${canary(2)} or write to canary.person@example.com`;
    const ledger = openLedger(project.path('.handbill/ledger.db'), { mode: 'write', nowMs: Date.now() });
    const from = `+44${canary(0)}`;
    const replies = (['answer', 'review'] as const).map(
      (meaning) => ({ kind: 'reply', ...ids, from, text, meaning }) as const,
    );
    const more = { kind: 'reply', ...ids, from: 'canary.person@example.com', text: 'hm', meaning: 'review' } as const;
    ledger.events.record(
      [...replies, more].map((one, i) => ({ ...one, replyId: String(i) })),
      { nowMs: Date.now(), source: 'webhook', environment: 'test' },
    );
    ledger.close();
    expect(leaks((await run(project.root, ['replies', '--format', 'csv'])).stdout).length).toBeGreaterThan(4);
  });

  const NUMBER = `+44${canary(0)}`;
  // Names of files, campaigns and occurrences are shown as they are: no address belongs there.
  const LINES: readonly (readonly string[])[] = [
    ['send', '.', '--env', 'test', '--yes'],
    ['plan', '.', '--env', 'test', '-o', 'plan.json'],
    ['preview', '.', '--env', 'test', '--limit', '0'],
    ['preview', '.', '--env', 'test', '--key', `0${canary(33)}`],
    ['report'],
    ['report', NUMBER],
    ['runs'],
    ['worker'],
    ['worker', 'list'],
    ['runs', NUMBER],
    ['doubt', 'list'],
    ['doubt', 'list', NUMBER],
    ['doubt', 'resolve', 'proof', '--key', `0${canary(1)}`, '--as', 'accepted'],
    ['doubt', 'resolve', 'proof', '--key', NUMBER, '--as', 'accepted', '--yes'],
    [
      'doubt',
      'resolve',
      'proof',
      '--key',
      `+44${canary(1)}`,
      '--as',
      'accepted',
      '--yes',
      '--note',
      `rang 0${canary(1)}`,
    ],
    ['doubt', 'resolve', 'proof', '--all', '--as', 'rejected', '--yes', '--note', 'wrote to canary.person@example.com'],
    ['doubt', 'list', '--resolved'],
    ['listen', NUMBER],
    ['listen', '--from', 'none.csv'],
    ['person', NUMBER, '--erase'],
    ['person', `+44${canary(34)}`, '--erase', '--keep-suppressed', '--yes'],
    ['replies'],
    ['replies', '--campaign', NUMBER],
    ['replies', '--since', NUMBER],
    ['replies', 'review'],
    ['replies', 'review', NUMBER, '--as', 'answer'],
    ['replies', 'review', '2', '--as', 'opt-out'],
    ['replies', 'export', NUMBER],
    ['replies', 'export', 'proof', '-o', 'answers.csv'],
    ['suppress', 'add', `0${canary(30)}`, '--reason', 'asked by phone'],
    ['suppress', 'add', `0${canary(30)}77`, `+44${canary(3)}x`, 'canary.person@example..com'],
    ['suppress', 'import', 'stop.csv'],
    ['suppress', 'list'],
    ['suppress', 'check'],
    ['suppress', 'remove', `0${canary(30)}77`],
    ['suppress', 'remove', `0${canary(30)}`],
    ['suppress', 'nothing', NUMBER],
    ['due'],
    ['pause', '--env', 'test', '--reason', `wrong number ${NUMBER}`],
    ['send', '.', '--env', 'test', '--yes'],
    ['resume', '--env', 'test'],
    ['schedule'],
    ['rehearse', '--most', '1'],
    ['diff', NUMBER],
    ['approve', 'plan.json'],
    ['purge', '--older-than', '90d', '--dry-run'],
    ['purge', '--older-than', NUMBER],
    ['completion', NUMBER],
    ['help', NUMBER],
    ['sandbox', NUMBER],
    ['init', 'made', '--from', NUMBER, '--yes'],
    ['serve', NUMBER],
    ['doctor'],
    ['doctor', NUMBER],
    [NUMBER],
  ];

  test.each(LINES.map((args) => [args.join(' '), args] as const))('%s', async (_label, args) => {
    const { stdout, stderr } = await run(project.root, args);
    expect(leaks(stdout + stderr)).toEqual([]);
  });

  test.each([
    ['suppress', 'check', NUMBER],
    ['person', NUMBER],
  ])('%s %s prints the number that it was given, on stdout, and no other', async (...args) => {
    const { stdout, stderr } = await run(project.root, args);
    expect(leaks(stderr)).toEqual([]);
    expect(stdout).toContain(NUMBER);
    expect(leaks(stdout.replaceAll(NUMBER, ''))).toEqual([]);
  });

  test('no command was left out', () => {
    expect(COMMANDS.map(({ name }) => name).filter((name) => !used.has(name))).toEqual([]);
  });
});

test.each([
  [`tel +44${canary(0)}`],
  [`0044 (0) ${canary(0)}`],
  [`0${canary(0).slice(0, 4)}-${canary(0).slice(4)}`],
  ['<canary.person@example.com>'],
])('a leak would be noticed: %s', (text) => {
  expect(leaks(text).length).toBe(1);
});
