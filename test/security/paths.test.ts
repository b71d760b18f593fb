import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTarget, type Target } from '../fuzz/target.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { type RawServer, startRawServer } from '../helpers/raw-server.ts';

let target: Target;
let server: RawServer;
let project: TestProject;
const GOOD = {
  'project/handbill.yaml': '',
  'project/c/campaign.yaml': '',
  'project/c/people.csv': 'msisdn,name\n+447400100001,Ana\n',
  'project/c/hello.hbs': 'Hi {{name}}',
  'project/partials/x.hbs': 'x',
  'secret.csv': 'msisdn,name\n+447400100009,STOLEN\n',
  'secret.hbs': 'STOLEN',
  'project-evil/secret.csv': 'msisdn,name\n+447400100009,STOLEN\n',
};

beforeAll(async () => {
  target = startTarget();
  server = await startRawServer();
  project = createProject(GOOD);
  const at = (name: string): string => project.path(`project/c/${name}`);
  symlinkSync('../../secret.csv', at('link'));
  symlinkSync('/etc/passwd', at('passwd'));
  symlinkSync('../..', at('up'));
  symlinkSync('/proc/self', at('proc'));
  symlinkSync('/dev/zero', at('zero'));
  symlinkSync('loop', at('loop'));
  mkdirSync(at('folder'));
  execFileSync('mkfifo', [at('fifo')]);
});
afterAll(async () => {
  project[Symbol.dispose]();
  await target[Symbol.asyncDispose]();
  await server.close();
});

const PATHS: readonly (readonly [label: string, path: string, code: RegExp])[] = [
  ['up and out', '../../secret.csv', /path-outside-project/],
  ['far up', '../../../../../../../../../etc/passwd', /path-outside-project/],
  ['absolute', '/etc/passwd', /path-outside-project/],
  ['absolute in capitals', '/ETC/PASSWD', /path-outside-project/],
  ['to a folder that begins like the project', '../../project-evil/secret.csv', /path-outside-project/],
  ['a link out', 'link', /path-outside-project/],
  ['a link to a system file', 'passwd', /path-outside-project/],
  ['through a linked folder', 'up/secret.csv', /path-outside-project/],
  ['through a link to /proc', 'proc/environ', /path-outside-project/],
  ['a device', '/dev/zero', /path-outside-project/],
  ['a link to a device', 'zero', /path-outside-project/],
  ['a pipe', 'fifo', /file-not-regular/],
  ['a folder', 'folder', /file-not-regular/],
  ['a link to itself', 'loop', /file-unreadable/],
  ['with a NUL', 'people.csv\\0.txt', /path-outside-project|invalid-value/],
  ['with backslashes', '..\\\\..\\\\secret.csv', /path-outside-project|invalid-value/],
  ['a drive', 'C:people.csv', /path-outside-project/],
  ['another spelling', 'PEOPLE.CSV', /file-not-found/],
  ['an address', 'file:///etc/passwd', /file-not-found|path-outside-project/],
  ['a variable', '$HOME/secret.csv', /file-not-found/],
  ['a home folder', '~/secret.csv', /file-not-found/],
  ['percent signs', '%2e%2e/%2e%2e/secret.csv', /file-not-found/],
  ['full-width dots', '．．/．．/secret.csv', /file-not-found/],
];

/** Where a path can be, as the two files that then hold it. */
const PLACES: Readonly<Record<string, (path: string) => { readonly campaign: string; readonly project: string }>> = {
  'a template': (path) => ({ campaign: campaign({ template: `"${path}"` }), project: projectFile() }),
  'a list': (path) => ({ campaign: campaign({ recipients: `"${path}"` }), project: projectFile() }),
  'HTML of an email': (path) => ({ campaign: email(path), project: projectFile() }),
  'a template of a fallback': (path) => ({
    campaign: `${campaign()}fallback: { channel: rcs, template: { file: "${path}" } }\n`,
    project: projectFile(),
  }),
  'a template of a variant': (path) => ({
    campaign: `${campaign()}variants: [{ name: a, template: { file: "${path}" } }, { name: b }]\n`,
    project: projectFile(),
  }),
  'a price list': (path) => ({ campaign: campaign(), project: projectFile(`prices: "${fromRoot(path)}"`) }),
  partials: (path) => ({ campaign: campaign(), project: projectFile(`partials: "${fromRoot(path)}"`) }),
};

/** The same file, seen from the project's root. */
function fromRoot(path: string): string {
  if (path.startsWith('../../')) return path.slice(3);
  return /^(?:link|passwd|up|proc|zero|fifo|folder|loop|people|PEOPLE)/.test(path) ? `c/${path}` : path;
}

function campaign({ template = 'hello.hbs', recipients = 'people.csv' } = {}): string {
  return `name: proof\nchannel: sms\nfrom: Riverside\ntemplate: { file: ${template} }\nrecipients: ${recipients}\n`;
}

function email(html: string): string {
  return `name: proof\nchannel: email\ncontent: { subject: x, html: "${html}" }\nrecipients: { csv: people.csv }\n`;
}

function projectFile(line = ''): string {
  return `${line}\nenvironments:\n  test:\n    baseUrl: http://127.0.0.1:${server.port}\n    apiKey: { env: HANDBILL_API_KEY }\n`;
}

async function refused(args: readonly string[], code: RegExp): Promise<void> {
  const began = performance.now();
  const env = { HANDBILL_API_KEY: 'SEKRET-5f0e9a1c7b3d' };
  const { status, stdout, stderr, cpuMs } = await target.run({ cwd: project.path('project'), args, env });
  expect(stderr).toMatch(code);
  expect(stdout + stderr).not.toMatch(/STOLEN|root:/);
  expect(status).toBe(2);
  // A pipe or an endless device must not be waited for.
  expect(cpuMs).toBeLessThan(2_000);
  expect(performance.now() - began).toBeLessThan(20_000);
}

const SEND = ['send', 'c', '--env', 'test', '--yes'];

describe.each(Object.entries(PLACES))('%s', (name, place) => {
  it.each(PATHS)(`stays inside the project (${name}): %s (S24)`, async (_, path, code) => {
    const files = place(path);
    project.write('project/c/campaign.yaml', files.campaign);
    project.write('project/handbill.yaml', files.project);
    const isFolder = name === 'partials' && (path === 'folder' || code.source.includes('not-regular'));
    if (name === 'partials' && path === 'folder') return; // That is what partials are.
    await refused(SEND, isFolder ? /file-not-found|file-not-regular/ : code);
    expect(server.connections).toBe(0);
  });
});

describe('a list named on the command line', () => {
  it.each(['/dev/zero', '/dev/null', 'c/fifo', 'c/zero', 'c/folder', 'c/loop', '', 'c/nothing', '/proc/self/fd'])(
    'is a regular file: %j (S24)',
    async (path) => {
      project.write('project/c/campaign.yaml', campaign());
      project.write('project/handbill.yaml', projectFile());
      await refused([...SEND, '--recipients', path], /file-not-regular|file-not-found|file-unreadable/);
      expect(server.connections).toBe(0);
    },
  );

  it.each(['/dev/zero', 'c/fifo', 'c/folder', 'c/loop'])('so are a plan and a campaign: %s (S24)', async (path) => {
    await refused(['send', '--plan', path, '--yes'], /error\[/);
    await refused(['validate', path], /error\[/);
    await refused([...SEND, '--plan', path], /error\[/);
    expect(server.connections).toBe(0);
  });
});

it('a file of the project may lie beside, above and behind a link, as long as it stays inside (S24)', async () => {
  project.write('project/handbill.yaml', projectFile('partials: partials'));
  project.write('project/c/campaign.yaml', campaign({ template: '../partials/x.hbs' }));
  const { status } = await target.run({ cwd: project.path('project'), args: ['validate', 'c'] });
  expect(status).toBe(0);
});
