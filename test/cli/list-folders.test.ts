import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { handbillHere } from './in-process.ts';
import { projectWith } from './run-handbill.ts';

/** Lists outside of the checkout, in the folders that HANDBILL_LISTS of the process names. */

let outside = '';
let remove = async (): Promise<void> => undefined;
beforeEach(async () => {
  outside = await realpath(await mkdtemp(join(tmpdir(), 'handbill-lists-')));
  await mkdir(join(outside, 'exports'));
  await mkdir(join(outside, 'exports-other'));
  for (const file of ['exports/list.csv', 'exports-other/list.csv', 'secret.csv']) {
    await writeFile(join(outside, file), 'msisdn,name\n+447400123456,Ada\n');
  }
});
afterEach(async () => {
  await remove();
  await rm(outside, { recursive: true });
});

async function project(csv: string): Promise<string> {
  const made = await projectWith({
    'handbill.yaml': '{}\n',
    'campaigns/c/campaign.yaml': `name: c
channel: sms
from: Riverside
template: { text: "Hi {{name}}" }
schedule: { cron: "0 9 * * 1", timeZone: Europe/London }
recipients: { csv: ${JSON.stringify(csv)} }
`,
  });
  remove = made.remove;
  return made.root;
}

const validate = (root: string, lists?: string) =>
  handbillHere(root, ['validate', 'c'], { env: lists === undefined ? {} : { HANDBILL_LISTS: lists }, width: 400 });

describe('a list outside of the project', () => {
  it('is read from a folder that HANDBILL_LISTS names, and from no other', async () => {
    const root = await project(join(outside, 'exports/list.csv'));
    const read = await validate(root, `/nowhere:${outside}/exports`);
    expect([read.status, read.out]).toEqual([0, expect.stringContaining('1 recipient, 1 to send')]);
    const unset = await validate(root);
    expect([unset.status, unset.err]).toEqual([2, expect.stringContaining('error[path-outside-project]')]);
    expect(unset.err).toContain('allow its folder with the variable HANDBILL_LISTS. It is not set.');
    const other = await validate(root, join(outside, 'exports-other'));
    expect([other.status, other.err]).toEqual([2, expect.stringContaining('error[path-outside-project]')]);
  });

  it.each([
    ['a way out of the folder', 'exports/../secret.csv'],
    ['a folder with the same beginning', 'exports-other/list.csv'],
    ['a link out of the folder', 'exports/link.csv'],
    ['a linked folder', 'exports/folder/secret.csv'],
  ])('%s is refused', async (_, path) => {
    await symlink(join(outside, 'secret.csv'), join(outside, 'exports/link.csv'));
    await symlink(outside, join(outside, 'exports/folder'));
    const root = await project(`${outside}/${path}`);
    const { status, err } = await validate(root, join(outside, 'exports'));
    expect([status, err]).toEqual([2, expect.stringContaining('error[path-outside-project]')]);
  });

  it('may be linked to from the project, and the folder may be a link itself', async () => {
    const root = await project('list.csv');
    await symlink(join(outside, 'exports/list.csv'), join(root, 'campaigns/c/list.csv'));
    await symlink(join(outside, 'exports'), join(outside, 'here'));
    expect((await validate(root, join(outside, 'here'))).status).toBe(0);
    expect((await validate(root)).status).toBe(2);
  });

  it('is refused as other files are: a folder, one that is not there; and what is no absolute path', async () => {
    const folder = await project(join(outside, 'exports'));
    expect((await validate(folder, outside)).err).toContain('error[file-not-regular]');
    await remove();
    const missing = await project(join(outside, 'exports/lists.csv'));
    const { err } = await validate(missing, join(outside, 'exports'));
    expect(err).toContain('error[file-not-found]');
    expect((await validate(missing, 'exports')).err).toContain(
      'HANDBILL_LISTS names "exports", which is not an absolute path.',
    );
  });

  it('opens no other file of the campaign', async () => {
    const root = await project(join(outside, 'exports/list.csv'));
    await writeFile(join(outside, 'exports/text.hbs'), 'Hi');
    await writeFile(
      join(root, 'campaigns/c/campaign.yaml'),
      `name: c\nchannel: sms\nfrom: Riverside\ntemplate: ${outside}/exports/text.hbs\nrecipients: { csv: ${outside}/exports/list.csv }\n`,
    );
    expect((await validate(root, join(outside, 'exports'))).err).toContain('error[path-outside-project]');
  });

  it('`due` reads it, and `schedule --format` passes the variable on', async () => {
    const root = await project(join(outside, 'exports/list.csv'));
    const env = { HANDBILL_LISTS: join(outside, 'exports') };
    const at = Date.parse('2026-11-23T09:00:00Z');
    const due = await handbillHere(root, ['due', '--dry-run', '--at', '2026-11-23T09:00:30Z'], { env, now: () => at });
    expect([due.status, due.err]).toEqual([0, expect.not.stringContaining('path-outside-project')]);
    const formats = [
      ['crontab', `\nHANDBILL_LISTS=${outside}/exports\n`],
      ['systemd', `\nEnvironment="HANDBILL_LISTS=${outside}/exports"\n`],
      ['kubernetes', `name: HANDBILL_LISTS\n                  value: ${outside}/exports\n`],
      ['github-actions', `HANDBILL_LISTS: ${outside}/exports\n`],
    ] as const;
    for (const [format, text] of formats) {
      const extra =
        format === 'kubernetes'
          ? ['--image', 'i']
          : format === 'github-actions'
            ? ['--runner', 'r', '--ledger', '/l/l.db']
            : [];
      const { status, out, err } = await handbillHere(
        root,
        ['schedule', '--env', 'sandbox', '--format', format, ...extra],
        { env },
      );
      expect([status, err]).toEqual([0, '']);
      expect(out).toContain(text);
    }
  });

  it('the workflow of GitHub says where lists come from, and which ledgers do', async () => {
    const root = await project(join(outside, 'exports/list.csv'));
    const env = { HANDBILL_LISTS: join(outside, 'exports') };
    const { out } = await handbillHere(
      root,
      ['schedule', '--env', 'sandbox', '--format', 'github-actions', '--runner', 'r', '--ledger', '/l/l.db'],
      { env },
    );
    expect(out).toContain(`# Lists are read from ${outside}/exports on the runner, where an export has to write them.`);
    const hosted = await handbillHere(root, ['schedule', '--env', 'sandbox', '--format', 'github-actions'], {
      env,
      width: 400,
    });
    expect(hosted.err).toContain('Use a ledger on a server: --ledger postgres://');
    expect(hosted.err).not.toContain('once handbill can use one');
  });
});
