import { closeSync, existsSync, openSync, renameSync, truncateSync, unlinkSync, writeSync } from 'node:fs';
import process from 'node:process';
import { describe, expect, it, vi } from 'vitest';
import { until } from '../helpers/cli.ts';
import { createScene, numberOf, type Scene } from '../oracle/scene.ts';
import { type Api, createGate, startApi } from './api.ts';

// Each test starts several processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 240_000 });

const FULL = process.env['HANDBILL_FULL'] === '1';

function sceneOf(api: Api, rows: number, campaign = 'send: { concurrency: 4 }'): Scene {
  return createScene({ rows, baseUrl: api.url, receipts: api.receipts, campaign });
}

function textOf(scene: Scene, name: string): string {
  return scene.contents().get(scene.path(name))?.toString() ?? '';
}

describe('one row that cannot be rendered (A3)', () => {
  const rows = 300;
  const cases: readonly (readonly [label: string, template: string, cell: string, code: string])[] = [
    ['an empty cell', 'Hi {{name}}', '', 'missing-variable'],
    ['a date that is none', 'Hi {{date name "d MMM"}}', 'yesterday', 'render-error'],
  ];
  it.each(cases)('%s: the whole run is refused before the first request', async (_label, template, cell, code) => {
    await using api = await startApi();
    using scene = sceneOf(api, rows);
    scene.write('campaign.yaml', textOf(scene, 'campaign.yaml').replace('"Hi {{name}}"', `'${template}'`));
    const list = textOf(scene, 'people.csv').replaceAll(/Name \d+/g, '2026-11-21');
    const last = list.lastIndexOf('2026-11-21');
    scene.write('people.csv', `${list.slice(0, last)}${cell}\n`);

    const refused = await scene.send();
    expect(refused, refused.stderr).toMatchObject({ status: 2, stdout: '' });
    expect(refused.stderr).toContain(`error[${code}]`);
    expect(refused.stderr).toContain(`people.csv:${rows + 1}`);
    expect(api.received()).toBe(0);
    expect(scene.endings()).toEqual([]);

    expect(await scene.goOn(['--allow', 'invalid-rows'])).toMatchObject({ status: 0 });
    expect(scene.violations()).toEqual([]);
    const others = scene.endings().filter(({ outcome }) => outcome !== 'accepted');
    expect(others).toMatchObject([{ line: rows + 1, outcome: 'skipped', reason: code }]);
  });
});

interface Edit {
  readonly file: string;
  readonly change: (text: string) => string;
  /** Where the refusal must point. */
  readonly at?: string;
}

const EDITS: Readonly<Record<string, Edit>> = {
  'a cell of the list': { file: 'people.csv', change: (text) => text.replace('Name 5', 'Name V') },
  'a row more': { file: 'people.csv', change: (text) => `${text}${numberOf(900)},New\n` },
  'a row less': { file: 'people.csv', change: (text) => text.replace(/.*\n$/, '') },
  'the order of the list': {
    file: 'people.csv',
    change: (text) => text.replace(/^(.*\n)(.*\n)(.*\n)/, '$1$3$2'),
  },
  'the template': { file: 'hello.hbs', change: (text) => `${text}!` },
  'the sender in the campaign': { file: 'campaign.yaml', change: (text) => text.replace('Riverside', 'Lakeside') },
  'the address of the environment': {
    file: 'handbill.yaml',
    change: (text) => text.replace('127.0.0.1', 'localhost'),
  },
};

/** As `sceneOf`, with the template in a file of its own. */
function withTemplate(api: Api): Scene {
  const scene = sceneOf(api, 10);
  scene.write('hello.hbs', 'Hello {{name}}');
  scene.write('campaign.yaml', textOf(scene, 'campaign.yaml').replace(/template: .*/, 'template: hello.hbs'));
  return scene;
}

describe('an input is edited (J1)', () => {
  const edits = Object.entries(EDITS);
  it.each(FULL ? edits : edits.filter((_, at) => at % 4 === 0))(
    'between two starts, %s: refused, and the file is named',
    async (_label, { file, change }) => {
      await using api = await startApi();
      using scene = withTemplate(api);
      expect(await scene.goOn(['--limit', '4'])).toMatchObject({ status: 0 });
      const before = textOf(scene, file);
      scene.write(file, change(before));
      expect(textOf(scene, file)).not.toBe(before);
      const refused = await scene.send();
      expect(refused, refused.stderr).toMatchObject({ status: 2, stdout: '' });
      expect(refused.stderr).toContain('error[input-changed]');
      expect(refused.stderr).toContain(file);
      expect(api.received()).toBe(4);
      scene.write(file, before);
      expect(await scene.goOn()).toMatchObject({ status: 0 });
      expect(scene.violations()).toEqual([]);
    },
  );

  it.each(FULL ? edits : edits.filter((_, at) => at % 4 === 1))(
    'between plan and send, %s: refused, and the file is named',
    async (_label, { file, change }) => {
      await using api = await startApi();
      using scene = withTemplate(api);
      const plan = ['plan', 'campaign.yaml', '--env', 'test', '-o', 'x.plan.json'];
      expect(await scene.look(plan)).toMatchObject({ status: 0 });
      const before = textOf(scene, file);
      scene.write(file, change(before));
      const apply = ['send', '--plan', 'x.plan.json', '--yes'];
      const refused = await scene.run(apply);
      expect(refused, refused.stderr).toMatchObject({ status: 2, stdout: '' });
      expect(refused.stderr).toContain('error[input-changed]');
      expect(refused.stderr).toContain(file);
      expect(api.received()).toBe(0);
      scene.write(file, before);
      expect(await scene.look(apply)).toMatchObject({ status: 0 });
      expect(scene.violations()).toEqual([]);
    },
  );
});

/** A list that is long in bytes and short in rows: 12 KB a row, so that a block of 1 MiB holds 87 of them. */
function longRows(scene: Scene, rows: number): string {
  const note = 'x'.repeat(12_000);
  const lines = Array.from({ length: rows }, (_, row) => `${numberOf(row)},Name ${row},${note}\n`);
  const list = `msisdn,name,note\n${lines.join('')}`;
  scene.write('people.csv', list);
  return list;
}

/** Writes into the file as it is, as an editor or a job does that does not make a new one. */
function overwrite(path: string, position: number, text: string): void {
  const file = openSync(path, 'r+');
  writeSync(file, text, position);
  closeSync(file);
}

describe('the list is changed while it is being sent from (J2)', () => {
  const rows = 300;
  const changes: (readonly [label: string, change: (path: string, list: string) => void])[] = [
    ['a name further down', (path, list) => overwrite(path, list.indexOf('Name 290'), 'Nome')],
    ['a row more', (path, list) => overwrite(path, list.length, `${numberOf(900)},New,x\n`)],
  ];
  if (FULL) changes.push(['cut short', (path, list) => truncateSync(path, list.indexOf('Name 290'))]);
  it.each(changes)('%s: halted, nothing of the change is sent, and all is recorded', async (_label, change) => {
    const gate = createGate();
    await using api = await startApi((number) => (number > 6 ? { after: gate.opened } : {}));
    using scene = sceneOf(api, rows);
    const list = longRows(scene, rows);
    const sender = scene.start(['--format', 'json']);
    await until('four in flight', () => api.received() === 10);
    change(scene.path('people.csv'), list);
    gate.open();
    const ended = await sender.done;
    expect(ended, ended.stderr).toMatchObject({ status: 5 });
    const report = JSON.parse(ended.stdout) as { totals: Record<string, number> };
    expect(report).toMatchObject({ state: 'halted', halt: { rule: 'input-changed' } });
    expect(scene.endings().filter(({ outcome }) => outcome === 'in-doubt')).toEqual([]);
    expect(report.totals).toMatchObject({ inDoubt: 0, failed: 0 });
    expect(report.totals['accepted']).toBe(api.received());
    expect(report.totals['accepted']).toBeLessThan(rows);
    expect(scene.violations()).toEqual([]);
    expect(api.numbers()).not.toContain(numberOf(900));

    const refused = await scene.send();
    expect(refused, refused.stderr).toMatchObject({ status: 2 });
    expect(refused.stderr).toContain('error[input-changed]');
    scene.write('people.csv', list);
    expect(await scene.goOn()).toMatchObject({ status: 0 });
    expect(scene.violations()).toEqual([]);
    expect(scene.endings().every(({ outcome }) => outcome === 'accepted')).toBe(true);
  });

  const kept: (readonly [label: string, change: (scene: Scene) => void])[] = [
    ['another file takes its name', (scene) => replace(scene, `msisdn,name,note\n${numberOf(900)},Other,x\n`)],
  ];
  if (FULL) kept.push(['it is deleted', (scene) => unlinkSync(scene.path('people.csv'))]);
  it.each(kept)('%s: what was checked is what is sent', async (_label, change) => {
    const gate = createGate();
    await using api = await startApi((number) => (number > 6 ? { after: gate.opened } : {}));
    using scene = sceneOf(api, rows);
    longRows(scene, rows);
    const sender = scene.start();
    await until('four in flight', () => api.received() === 10);
    change(scene);
    gate.open();
    const ended = await sender.done;
    expect(ended, ended.stderr).toMatchObject({ status: 0 });
    expect(scene.violations()).toEqual([]);
    expect(api.numbers()).not.toContain(numberOf(900));
  });
});

describe('the list is changed while it is being checked and loaded (J2)', () => {
  const rows = FULL ? 400_000 : 60_000;
  const whileLoading: (readonly [label: string, change: (scene: Scene, list: string) => void])[] = [
    [
      'another file takes its name',
      (scene, list) => replace(scene, list.replace('Name 7,', 'Name VII,').replace('Name 9\n', 'Name IX\n')),
    ],
  ];
  if (FULL) {
    whileLoading.push(
      ['a name is changed in place', (scene, list) => overwrite(scene.path('people.csv'), list.length - 5, 'x')],
      ['cut short', (scene, list) => truncateSync(scene.path('people.csv'), list.length - 8)],
    );
  }
  it.each(whileLoading)('%s: refused before the first request, or sent as it was checked', async (_label, change) => {
    const gate = createGate();
    await using api = await startApi(() => ({ after: gate.opened }));
    using scene = sceneOf(api, rows);
    const list = textOf(scene, 'people.csv');
    const sender = scene.start();
    await until('the ledger', () => existsSync(`${scene.ledger}-wal`));
    change(scene, list);
    // Where it was not noticed before the first request, it is enough to see that there was one.
    await until('an end or a request', () => api.received() > 0 || sender.stderr().includes('error['), 60_000);
    if (api.received() > 0) sender.kill('SIGTERM');
    gate.open();
    const { status, stderr } = await sender.done;
    expect(stderr).not.toContain('handbill: a bug');
    expect([2, 5, 143], stderr).toContain(status);
    if (status === 2) expect(api.received()).toBe(0);
    const lines = scene.endings().map(({ line }) => line);
    expect(scene.violations({ lines })).toEqual([]);
    const texts = scene.evidence().receipts.map(({ text }) => text);
    for (const text of texts) expect(text).not.toMatch(/Name (?:VII|IX)/);
  });
});

/** As editors and jobs do that write a new file and then move it into place. */
function replace(scene: Scene, text: string): void {
  scene.write('new.csv', text);
  renameSync(scene.path('new.csv'), scene.path('people.csv'));
}
