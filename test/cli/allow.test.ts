import { readFileSync, rmSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { CODES } from '../../src/errors.ts';
import { send } from '../../src/index.ts';
import { ALLOWABLE, NEVER_ALLOWED } from '../../src/model.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { handbillHere } from './in-process.ts';

const NINE = Date.parse('2026-11-23T09:00:05Z');
const HELLO = 'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{name}}" }\nrecipients: people.csv\n';

function project(rows: readonly string[] = ['+447700900101,Ann', '+447700900102,Bo'], more = ''): TestProject {
  return createProject({
    'handbill.yaml': '{}\n',
    'hello/campaign.yaml': HELLO + more,
    'hello/people.csv': `msisdn,name\n${rows.join('\n')}\n`,
  });
}

const run = (here: TestProject, line: string, hours = 0) =>
  handbillHere(here.root, line.split(' '), { now: () => NINE + hours * 3_600_000, width: 400 });

test.each(Object.entries(ALLOWABLE))('%s: the sentence names the option with its own code', (code, sentence) => {
  expect(sentence).toMatch(new RegExp(`^(?:send )?--allow ${code} [a-z].*\\.$`));
});

test('no code is in both tables', () => {
  expect(Object.keys(NEVER_ALLOWED).filter((code) => code in ALLOWABLE)).toEqual([]);
});

describe('a refusal prints the option that overrides it, and that option does', () => {
  it.each<[code: string, command: string, hours: number, prepare: (here: TestProject) => Promise<void>]>([
    [
      'input-changed',
      'send hello',
      0,
      async (here) => {
        await run(here, 'send hello --limit 1');
        here.write('hello/campaign.yaml', HELLO.replace('Hi', 'Hello'));
      },
    ],
    ['too-late', 'send hello', 25, async (here) => void (await run(here, 'send hello --limit 1'))],
    [
      'too-late',
      'send hello --occurrence 2026-11-20T09:00:00Z',
      0,
      async (here) =>
        here.write('hello/campaign.yaml', `${HELLO}schedule: { cron: "0 9 * * *", missed: catch-up, timeZone: UTC }\n`),
    ],
    [
      'list-too-short',
      'send hello',
      0,
      async (here) => here.write('hello/campaign.yaml', `${HELLO}limits: { minRecipients: 3 }\n`),
    ],
    [
      'list-size-changed',
      'send hello --occurrence second',
      0,
      async (here) => {
        here.write('hello/campaign.yaml', `${HELLO}limits: { change: 30% }\n`);
        await run(here, 'send hello --occurrence first');
        here.write('hello/people.csv', 'msisdn,name\n+447700900101,Ann\n');
      },
    ],
    ...['preview hello', 'plan hello -o hello.plan.json', 'send hello --dry-run'].map(
      (command): [string, string, number, (here: TestProject) => Promise<void>] => [
        'would-expire',
        command,
        0,
        async (here) => {
          const rows = Array.from({ length: 40 }, (_, at) => `+4477009001${String(at).padStart(2, '0')},Name ${at}`);
          here.write('hello/people.csv', `msisdn,name\n${rows.join('\n')}\n`);
          here.write('hello/campaign.yaml', `${HELLO}send: { rate: 4/h, notAfter: "2026-11-23T11:00:00Z" }\n`);
        },
      ],
    ),
    [
      'invalid-rows',
      'send hello',
      0,
      async (here) => here.write('hello/people.csv', 'msisdn,name\n12,Ann\n+447700900102,Bo\n'),
    ],
    [
      'ledger-missing',
      'send hello --occurrence second',
      0,
      async (here) => {
        await run(here, 'send hello');
        for (const more of ['', '-wal', '-shm']) rmSync(here.path(`.handbill/ledger.db${more}`), { force: true });
      },
    ],
    [
      'second-ledger',
      'send hello --occurrence second',
      0,
      async (here) => {
        await run(here, 'send hello');
        here.write('handbill.yaml', 'ledger: state/ledger.db\n');
      },
    ],
  ])('%s: %s', async (code, command, hours, prepare) => {
    using here = project();
    await prepare(here);
    const refused = await run(here, command, hours);
    expect([2, 7]).toContain(refused.status);
    expect(refused.err).toContain(`error[${code}]`);
    expect(refused.err).toContain(`--allow ${code} `);
    for (const other of Object.keys(ALLOWABLE).filter((one) => one !== code)) {
      const beside = await run(here, `${command} --allow ${other}`, hours);
      expect({ other, status: beside.status }).toEqual({ other, status: refused.status });
    }
    const allowed = await run(here, `${command} --allow ${code}`, hours);
    expect(allowed.status, allowed.err).toBe(0);
  });
});

describe('bad rows', () => {
  const bad = Array.from({ length: 30 }, (_, at) => `${at},Name ${at}`);

  it('are counted row by row; the option is shown however many they are', async () => {
    using here = project([...bad, '+447700900102,Bo']);
    for (const line of ['send hello', 'plan hello', 'preview hello --limit 0', 'send hello --dry-run --limit 1']) {
      const { status, err } = await run(here, line);
      expect({ line, status }).toEqual({ line, status: 2 });
      expect(err).toContain('error[invalid-rows]: 30 of 31 rows cannot be sent to.');
      expect(err).toMatch(/^30 errors\b.*\(10 not shown\)$/m);
      expect(err.match(/--allow invalid-rows/g)).toHaveLength(1);
    }
    expect(await run(here, 'preview hello --allow invalid-rows')).toMatchObject({ status: 0 });
  });

  it('that a code about the list allows are refused still', async () => {
    using here = project(bad, 'limits: { minRecipients: 99 }\n');
    const { status, err } = await run(here, 'send hello --allow list-too-short,list-too-old');
    expect([status, err]).toEqual([2, expect.stringContaining('error[invalid-rows]')]);
  });
});

describe('what cannot be allowed', () => {
  it.each(Object.entries(NEVER_ALLOWED))('%s: why', async (code, why) => {
    using here = project();
    const { status, err } = await run(here, `send hello --allow ${code}`);
    expect(status).toBe(2);
    expect(err).toContain(`error[usage]: "${code}" can never be allowed. ${why}`);
    expect(err).toContain(`handbill help ${code}`);
  });

  it('is every other code', async () => {
    using here = project();
    for (const code of ['csv-syntax', 'missing-api-key', 'run-purged'] as const) {
      expect(CODES[code]).toBeDefined();
      expect((await run(here, `send hello --allow ${code}`)).err).toContain(`"${code}" can never be allowed.`);
    }
  });

  it('is no code: the nearest one is named, and all are said at once', async () => {
    using here = project();
    const { status, err } = await run(here, 'send hello --allow to-late,clock --allow yes');
    expect(status).toBe(2);
    expect(err).toContain('"to-late" is not a code that can be allowed.\n  help: Did you mean "too-late"?');
    expect(err).toContain('"clock" can never be allowed.');
    expect(err).toContain('"yes" is not a code');
    expect((await run(here, 'send hello --allow=')).err).toContain('"" is not a code');
  });

  it.each([
    ['validate hello --allow too-late', 'invalid-rows'],
    ['due --allow too-late', 'list-too-old'],
    ['plan hello --allow input-changed', 'list-too-old'],
    ['send hello --test-to +447700900105 --allow invalid-rows', 'ledger-missing'],
  ])('is what the command cannot meet: %s', async (line, takes) => {
    using here = project();
    const { status, err } = await run(here, line);
    expect([status, err]).toEqual([2, expect.stringContaining('cannot be allowed here')]);
    expect(err).toContain(takes);
  });

  it('is the same for programs', async () => {
    using here = project();
    const asked = { cwd: here.root, env: {}, allow: ['toString'] } as never;
    await expect(send('hello', asked)).rejects.toMatchObject({ exit: 2, code: 'usage' });
    await expect(send('hello', { cwd: here.root, env: {}, retry: 'all' } as never)).rejects.toMatchObject({
      exit: 2,
      message: '"all" cannot be tried again.',
    });
  });
});

describe('a plan', () => {
  it('seals what it allows about its list, and a start with it can add nothing to that', async () => {
    using here = project(['12,Ann', '+447700900102,Bo']);
    expect(await run(here, 'plan hello -o p.json --allow invalid-rows,ledger-missing')).toMatchObject({ status: 0 });
    expect(JSON.parse(readFileSync(here.path('p.json'), 'utf8'))).toMatchObject({ allow: ['invalid-rows'] });
    for (const dry of ['', ' --dry-run']) {
      const refused = await run(here, `send --plan p.json --allow list-too-short${dry}`);
      expect([refused.status, refused.err]).toEqual([
        2,
        expect.stringContaining('error[usage]: The plan does not allow list-too-short.'),
      ]);
      expect(refused.err).toContain('handbill plan hello --allow list-too-short -o FILE');
    }
    expect(await run(here, 'send --plan p.json --dry-run')).toMatchObject({ status: 0 });
    expect(await run(here, 'send --plan p.json')).toMatchObject({ status: 0 });
  });

  it('does not decide what is about the moment and the ledger', async () => {
    using here = project();
    expect(await run(here, 'plan hello -o p.json')).toMatchObject({ status: 0 });
    expect(await run(here, 'send --plan p.json --limit 1')).toMatchObject({ status: 0 });
    expect((await run(here, 'send --plan p.json', 25)).err).toContain('error[too-late]');
    expect(await run(here, 'send --plan p.json --allow too-late', 25)).toMatchObject({ status: 0 });
  });
});
