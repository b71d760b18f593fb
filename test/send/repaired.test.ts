import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { handbillHere } from '../cli/in-process.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

const [ANN, BEN, CLEO] = ['+447400123451', '+447400123452', '+447400123453'] as const;

function project(list: string, campaign = '', environments = ''): TestProject {
  return createProject({
    'handbill.yaml': `environments:\n  sandbox:\n    rate: 100/s\n${environments}`,
    'c.yaml': `name: c\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{n}}" }\nrecipients: { csv: p.csv, key: id, onInvalid: skip }\n${campaign}`,
    'p.csv': list,
  });
}

function edit(here: TestProject, was: string, is: string): void {
  here.write('c.yaml', readFileSync(here.path('c.yaml'), 'utf8').replace(was, is));
}

const handbill = (here: TestProject, ...args: string[]) => handbillHere(here.root, args, { width: 400 });

async function fates(here: TestProject): Promise<Readonly<Record<string, string>>> {
  const { out } = await handbill(here, 'report', 'c', '--format', 'jsonl');
  const rows = jsonLines<{ line: number; outcome: string; reason: string | null }>(out);
  return Object.fromEntries(
    rows.map(({ line, outcome, reason }) => [line, reason === null ? outcome : `${outcome}(${reason})`]),
  );
}

const LIST = `id,msisdn,n\n1,${ANN},Ann\n2,${BEN},Ben\n3,${CLEO},Cleo\n`;

describe('a row that was skipped and is repaired', () => {
  it.each([
    ['an empty number', LIST.replace(BEN, ''), 'invalid-address'],
    ['a wrong number', LIST.replace(BEN, '12'), 'invalid-address'],
    ['an empty key', LIST.replace('2,', ','), 'bad-row'],
    ['an empty cell', LIST.replace('Ben', ''), 'missing-variable'],
    ['too many cells', LIST.replace('Ben', 'Ben,x,y'), 'bad-row'],
  ])('is sent to, where it had %s; and the others are sent to once', async (_, broken, reason) => {
    const here = project(broken);
    await handbill(here, 'send', 'c.yaml', '--limit', '1', '--yes');
    expect(await fates(here)).toMatchObject({ 2: 'accepted', 3: expect.stringContaining('skipped('), 4: 'pending' });
    // The text alone is corrected.
    edit(here, 'Hi', 'Hello');
    const dry = await handbill(here, 'send', 'c.yaml', '--allow', 'input-changed', '--dry-run');
    expect(dry).toMatchObject({ status: 0 });
    const corrected = await handbill(here, 'send', 'c.yaml', '--allow', 'input-changed', '--yes');
    expect({ ...corrected, reason }).toMatchObject({ status: 0, reason });
    expect(await fates(here)).toMatchObject({ 2: 'accepted', 3: expect.stringContaining('skipped('), 4: 'accepted' });
    here.write('p.csv', LIST);
    const shown = await handbill(here, 'preview', 'c.yaml', '--format', 'json');
    expect(JSON.parse(shown.out)).toMatchObject({ estimate: { send: 1 } });
    const repaired = await handbill(here, 'send', 'c.yaml', '--allow', 'input-changed', '--yes');
    expect(repaired.out).toContain('1 posted in this start');
    expect(await fates(here)).toEqual({ 2: 'accepted', 3: 'accepted', 4: 'accepted' });
  });

  it('is sent to after its suppression was taken back', async () => {
    const here = project(LIST);
    await handbill(here, 'suppress', 'add', BEN);
    await handbill(here, 'send', 'c.yaml', '--yes');
    expect(await fates(here)).toMatchObject({ 3: 'skipped(suppressed)' });
    edit(here, 'Hi', 'Hello');
    await handbill(here, 'send', 'c.yaml', '--allow', 'input-changed', '--yes');
    expect(await fates(here)).toMatchObject({ 3: 'skipped(suppressed)' });
    await handbill(here, 'suppress', 'remove', BEN);
    edit(here, 'Hello', 'Good day');
    await handbill(here, 'send', 'c.yaml', '--allow', 'input-changed', '--yes');
    expect(await fates(here)).toEqual({ 2: 'accepted', 3: 'accepted', 4: 'accepted' });
  });

  it('is sent to with --retry skipped, where no input changed: to that one alone, once, as the preview says', async () => {
    const here = project(`${LIST}4,,Dan\n`);
    await handbill(here, 'suppress', 'add', BEN);
    await handbill(here, 'send', 'c.yaml', '--limit', '1', '--yes');
    const retry = ['send', 'c.yaml', '--retry', 'skipped', '--yes'];
    const send = async (...more: readonly string[]) => await handbill(here, ...retry, ...more);
    const left = await send();
    expect(left.out).toContain('1 posted in this start');
    const skipped = { 3: 'skipped(suppressed)', 5: 'skipped(invalid-address)' };
    expect(await fates(here)).toEqual({ 2: 'accepted', 4: 'accepted', ...skipped });
    await handbill(here, 'suppress', 'remove', BEN);
    await handbill(here, 'send', 'c.yaml', '--yes');
    expect(await fates(here)).toMatchObject(skipped);
    expect(JSON.parse((await handbill(here, 'preview', 'c.yaml', '--format', 'json')).out)).toMatchObject({
      estimate: { send: 0 },
    });
    expect(JSON.parse((await send('--dry-run', '--format', 'json')).out)).toMatchObject({ estimate: { send: 1 } });
    expect((await send()).out).toContain('1 posted in this start');
    expect((await send()).out).toContain('0 posted in this start');
    expect(await fates(here)).toEqual({ 2: 'accepted', 3: 'accepted', 4: 'accepted', 5: skipped[5] });
  });

  it.each([
    ['holdout: 60%\n', 'skipped(holdout)'],
    ['send: { notAfter: "2020-01-01T00:00:00Z" }\n', 'skipped(expired)'],
  ])('is not sent to with --retry skipped, where %s left it out', async (rule, reason) => {
    const here = project(LIST.replace('Cleo', ''), rule);
    await handbill(here, 'send', 'c.yaml', '--yes');
    const before = await fates(here);
    expect(Object.values(before)).toContain(reason);
    await handbill(here, 'send', 'c.yaml', '--retry', 'skipped', '--yes');
    expect(await fates(here)).toEqual(before);
  });

  it('is not sent to where a rule left it out', async () => {
    const here = project(LIST, 'holdout: 60%\n');
    await handbill(here, 'send', 'c.yaml', '--yes');
    const before = await fates(here);
    edit(here, 'Hi', 'Hello');
    await handbill(here, 'send', 'c.yaml', '--allow', 'input-changed', '--yes');
    expect(await fates(here)).toEqual(before);
  });
});

describe('a finished run whose text changed', () => {
  it('is not the next occurrence: the hint names that first, and the summary says what this start did', async () => {
    const here = project(LIST);
    await handbill(here, 'send', 'c.yaml', '--yes');
    edit(here, 'Hi', 'December');
    const refused = await handbill(here, 'send', 'c.yaml', '--yes');
    expect(refused.status).toBe(2);
    expect(refused.err).toMatch(/input-changed[\s\S]*send the changed campaign as another one, with --occurrence NAME/);
    const text = await handbill(here, 'send', 'c.yaml', '--allow', 'input-changed', '--yes');
    expect(text.out).toMatch(/^0 posted in this start/);
    edit(here, 'December', 'January');
    here.write('p.csv', `${LIST}4,+447400123454,Dan\n`);
    const brief = await handbill(here, 'send', 'c.yaml', '--allow', 'input-changed', '--yes', '--format', 'brief');
    expect(brief.out).toContain('1 posted in this start; 4 of 4 sent');
  });
});
