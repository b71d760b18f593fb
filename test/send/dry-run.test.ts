import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { handbillHere } from '../cli/in-process.ts';
import { recipientsIn, useApi } from '../helpers/api.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

const NOON = Date.parse('2026-11-23T12:00:00Z');
const DAY_MS = 86_400_000;
const [ANN, NEW, BEN] = ['+447700900101', '+447700900102', '+447700900104'] as const;

/** Ben is refused. */
let refuses = false;
const api = useApi((body, number) =>
  refuses && recipientsIn(body)[0]?.msisdn === BEN
    ? { status: 400, body: '{"error":"no"}' }
    : { status: 202, body: `{"id":"m-${number}"}` },
);
beforeEach(() => {
  refuses = false;
});

const list = (ann: string): string => `id,msisdn,name\n1,${ann},Ann\n2,${BEN},Ben\n`;

function project(more = ''): TestProject {
  return createProject({
    'handbill.yaml': `environments:\n  api:\n    baseUrl: ${api.url}\n    apiKey: { env: KEY }\n`,
    'hello/campaign.yaml': `name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{name}}" }\nrecipients: { csv: people.csv, key: id }\n${more}`,
    'hello/people.csv': list(ANN),
  });
}

const at = (nowMs: number) => ({ env: { KEY: 'secret' }, now: () => nowMs, width: 400 });

const handbill = (here: TestProject, args: readonly string[], nowMs = NOON) =>
  handbillHere(here.root, [...args, '--env', 'api'], at(nowMs));

/** Hashes of the files of the project, but for what SQLite makes beside a database that is read. */
function files({ root }: TestProject): Readonly<Record<string, string>> {
  const paths = readdirSync(root, { recursive: true, withFileTypes: true });
  const found = paths.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  const kept = found.filter((path) => !/-(?:wal|shm)$/.test(path)).sort();
  return Object.fromEntries(kept.map((path) => [path, hash('sha256', readFileSync(path))]));
}

/** A dry run, which posts and writes nothing. */
async function dry(here: TestProject, args: readonly string[] = [], nowMs = NOON) {
  const before = { files: files(here), received: api.bodies.length };
  const shown = await handbill(here, ['send', 'hello', '--dry-run', ...args], nowMs);
  expect({ files: files(here), received: api.bodies.length }).toEqual(before);
  return shown;
}

async function decisions(here: TestProject, args: readonly string[] = []): Promise<readonly string[]> {
  const { out } = await dry(here, ['--format', 'jsonl', ...args]);
  return jsonLines<{ decision: string; to: string }>(out).map(({ decision, to }) => `${decision} ${to}`);
}

describe('send --dry-run', () => {
  it.each(['text', 'json', 'jsonl'])('is the preview of a campaign that was not sent: %s', async (format) => {
    using here = project();
    const shown = await dry(here, ['--format', format]);
    expect(shown).toEqual(await handbill(here, ['preview', 'hello', '--format', format]));
    expect(shown.status).toBe(0);
    expect(shown.out).toContain('Hi Ben');
    expect(existsSync(join(here.root, '.handbill'))).toBe(false);
  });

  it('refuses a changed list as send does, and shows what --allow input-changed would do', async () => {
    using here = project();
    await handbill(here, ['send', 'hello', '--yes']);
    here.write('hello/people.csv', `${list(NEW)}3,+447700900105,Cem\n`);
    const refused = await handbill(here, ['send', 'hello', '--yes']);
    expect(refused).toMatchObject({ status: 2, err: expect.stringContaining('input-changed') });
    for (const command of [
      ['preview', 'hello'],
      ['send', 'hello', '--dry-run'],
    ]) {
      const shown = await handbill(here, command);
      expect(shown.status).toBe(2);
      // The refusal comes first, word for word.
      expect(shown.err).toContain(refused.err.slice(0, refused.err.indexOf('help:')).trimEnd());
      expect(shown.out).toContain(`sent to ${ANN}; the list now says ${NEW}`);
    }
    expect(await dry(here, ['--allow', 'input-changed'])).toMatchObject({
      status: 0,
      out: expect.stringContaining('Hi Cem'),
    });
    expect(await decisions(here, ['--allow', 'input-changed'])).toEqual([
      `done ${NEW}`,
      `done ${BEN}`,
      'send +447700900105',
    ]);
    expect(await decisions(here, ['--allow', 'input-changed', '--retry', 'corrected'])).toEqual([
      `send ${NEW}`,
      `done ${BEN}`,
      'send +447700900105',
    ]);
    api.bodies.length = 0;
    expect(
      await handbill(here, ['send', 'hello', '--yes', '--allow', 'input-changed', '--retry', 'corrected']),
    ).toMatchObject({
      status: 0,
    });
    expect(api.numbers().toSorted()).toEqual([NEW, '+447700900105']);
    expect(await decisions(here, ['--retry', 'corrected'])).toEqual([
      `done ${NEW}`,
      `done ${BEN}`,
      'done +447700900105',
    ]);
  });

  it('refuses a changed key as send does', async () => {
    using here = project();
    await handbill(here, ['send', 'hello', '--yes']);
    const campaign = readFileSync(join(here.root, 'hello/campaign.yaml'), 'utf8');
    here.write('hello/campaign.yaml', campaign.replace(', key: id', ''));
    const refused = await handbill(here, ['send', 'hello', '--yes']);
    expect(refused).toMatchObject({ status: 2, err: expect.stringContaining('identity-changed') });
    expect(await handbill(here, ['preview', 'hello'])).toEqual(refused);
    expect(await dry(here, ['--allow', 'input-changed'])).toEqual(refused);
  });

  it('shows who is tried again with --retry rejected', async () => {
    using here = project();
    refuses = true;
    await handbill(here, ['send', 'hello', '--yes']);
    expect(await decisions(here)).toEqual([`done ${ANN}`, `done ${BEN}`]);
    expect(await decisions(here, ['--retry', 'rejected'])).toEqual([`done ${ANN}`, `send ${BEN}`]);
    api.bodies.length = 0;
    await handbill(here, ['send', 'hello', '--yes', '--retry', 'rejected']);
    expect(api.numbers()).toEqual([BEN]);
  });

  it('refuses what is late as send does, but for --allow too-late', async () => {
    using here = project();
    await handbill(here, ['send', 'hello', '--yes', '--limit', '1']);
    expect(api.numbers()).toEqual([ANN]);
    const refused = await handbill(here, ['send', 'hello', '--yes'], NOON + 2 * DAY_MS);
    expect(refused).toMatchObject({ status: 2, err: expect.stringContaining('too-late') });
    const shown = await dry(here, [], NOON + 2 * DAY_MS);
    expect(shown).toMatchObject({ status: 2, err: refused.err });
    expect(await dry(here, ['--allow', 'too-late'], NOON + 2 * DAY_MS)).toMatchObject({ status: 0, err: '' });
  });

  it('means the occurrence that send means, also where that one is over', async () => {
    using here = project('schedule: { cron: "0 9 23 11 *" }\n');
    const later = NOON + 2 * DAY_MS;
    const refused = await handbill(here, ['send', 'hello', '--yes'], later);
    expect(refused).toMatchObject({ status: 2, err: expect.stringContaining('too-late') });
    expect(await dry(here, [], later)).toMatchObject({ status: 2, err: refused.err });
    const late = await dry(here, ['--allow', 'too-late', '--format', 'json'], later);
    expect(late.status).toBe(0);
    expect(JSON.parse(late.out)).toMatchObject({ occurrence: '2026-11-23T09:00:00Z', estimate: { send: 2 } });
    // A preview is of the next one.
    const next = await handbill(here, ['preview', 'hello', '--format', 'json'], later);
    expect(JSON.parse(next.out)).toMatchObject({ occurrence: '2027-11-23T09:00:00Z' });
  });

  it('compares with a plan, and takes its options', async () => {
    using here = project();
    await handbill(here, ['plan', 'hello', '--occurrence', 'trial', '-o', 'hello.plan.json']);
    const args = ['send', '--plan', 'hello.plan.json', '--format', 'json'];
    const shown = await handbill(here, [...args, '--dry-run']);
    expect(shown).toMatchObject({ status: 0, err: '' });
    expect(JSON.parse(shown.out)).toMatchObject({ occurrence: 'trial', estimate: { send: 2 } });
    here.write('hello/people.csv', list(NEW));
    const refused = await handbill(here, [...args, '--yes']);
    expect(refused.status).toBe(2);
    expect(await handbill(here, [...args, '--dry-run'])).toEqual(refused);
    expect(api.numbers()).toEqual([]);
  });

  it('says what --limit leaves, and which options it has no use for', async () => {
    using here = project();
    const { status, err } = await dry(here, ['--limit', '1', '--rate', '5/s', '--wait']);
    expect(status).toBe(0);
    expect(err).toContain('--limit 1: this start posts to 1 of 2 recipients; the rest is left to the next start.');
    expect(err).toContain('Not part of a dry run: --rate, --wait.');
    expect((await dry(here, ['--quiet', '--limit', '1', '--wait'])).err).toBe('');
  });

  it.each([
    [['--dry-run', '--format', 'brief'], 'a dry run sends nothing'],
    [['--yes', '--format', 'jsonl'], '--format jsonl prints the decisions of a dry run'],
  ])('refuses the format of the other: %s', async (args, words) => {
    using here = project();
    const { status, err } = await handbill(here, ['send', 'hello', ...args]);
    expect(status).toBe(2);
    expect(err).toContain(words);
    expect(api.numbers()).toEqual([]);
  });
});
