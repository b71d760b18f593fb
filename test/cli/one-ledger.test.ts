import { existsSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rememberSendingWith } from '../../src/ledger/place.ts';
import { createProject, type ProjectFiles, type TestProject } from '../helpers/project.ts';
import { handbillHere } from './in-process.ts';
import { HELLO } from './run-handbill.ts';

const LEDGER = '.handbill/ledger.db';
const REPOSITORY = { '.git/HEAD': '' };

/** The campaign `hello` in a folder, without the `campaigns/` around it. */
function helloIn(folder: string, name = 'hello'): ProjectFiles {
  return Object.fromEntries(
    Object.entries(HELLO).map(([path, text]) => [
      path.replace('campaigns/hello', folder),
      text.replace('name: hello', `name: ${name}`),
    ]),
  );
}

/** As this repository is: the project is a folder of it. */
const BELOW = { ...REPOSITORY, ...helloIn('campaigns/hello'), 'campaigns/handbill.yaml': '{}\n', 'docs/a.md': '' };

interface Sent {
  readonly posted: number;
  readonly skipped: number;
}

async function send(cwd: string, target: string, ...more: readonly string[]): Promise<Sent & { ledger: string }> {
  const { out, err } = await handbillHere(cwd, ['send', target, '--format', 'json', ...more]);
  expect(out, err).not.toBe('');
  const { totals, requests, ledger } = JSON.parse(out) as {
    totals: Record<string, number>;
    requests: { posted: number };
    ledger: string;
  };
  return { posted: requests.posted, skipped: totals['skipped'] ?? 0, ledger };
}

function ledgersIn(project: TestProject): readonly string[] {
  return [...project.contents().keys()]
    .filter((path) => path.endsWith('ledger.db'))
    .map((path) => path.slice(project.root.length + 1));
}

async function refused(cwd: string, args: readonly string[], code: string, env: Record<string, string> = {}) {
  const { status, out, err } = await handbillHere(cwd, args, { env });
  expect({ status, out }, err).toEqual({ status: 2, out: '' });
  expect(err).toContain(`error[${code}]`);
  return err;
}

describe('one ledger, wherever a command is called', () => {
  it('knows at the root of a repository who was suppressed, although the project is below', async () => {
    using project = createProject(BELOW);
    for (const [place, number] of [
      ['.', '+447700900001'],
      ['docs', '+447700900002'],
    ] as const) {
      const added = await handbillHere(project.path(place), ['suppress', 'add', number]);
      expect(added.err).toMatch(/^Ledger: .*campaigns\/\.handbill\/ledger\.db\n$/);
    }
    expect((await send(project.root, 'campaigns/hello')).skipped).toBe(3);
    expect(ledgersIn(project)).toEqual([`campaigns/${LEDGER}`]);
  });

  it('is the same from each folder: no recipient gets it twice', async () => {
    using project = createProject(BELOW);
    expect((await send(project.root, 'campaigns/hello')).posted).toBe(2);
    for (const [cwd, target] of [
      ['campaigns', 'hello'],
      ['campaigns/hello', '.'],
      ['campaigns/hello', 'campaign.yaml'],
      ['docs', '../campaigns/hello'],
      ['.', project.path('campaigns/hello/campaign.yaml')],
      ['.', 'hello'],
    ] as const) {
      expect((await send(project.path(cwd), target)).posted, `${cwd} ${target}`).toBe(2);
      const { out } = await handbillHere(project.path(cwd), ['runs', '--format', 'json']);
      expect(out.trim().split('\n').join(''), cwd).toContain('"hello');
    }
    expect(ledgersIn(project)).toEqual([`campaigns/${LEDGER}`]);
  });

  it('is named relative to the project, from every folder', async () => {
    using project = createProject(BELOW);
    const env = { HANDBILL_LEDGER: 'state/sent.db' };
    for (const cwd of ['.', 'campaigns', 'campaigns/hello', 'docs']) {
      const { status, err } = await handbillHere(project.path(cwd), ['suppress', 'add', '+447700900001'], { env });
      expect(status, err).toBe(0);
    }
    const ledger = project.path('campaigns/state/sent.db');
    expect(existsSync(ledger)).toBe(true);
    expect((await send(project.path('docs'), '../campaigns/hello', '--ledger', 'state/sent.db')).ledger).toBe(ledger);
    expect([...project.contents().keys()].filter((path) => path.endsWith('sent.db'))).toEqual([ledger]);
  });

  it('is not begun by a command that leaves out the --ledger of a run', async () => {
    using project = createProject(BELOW);
    const elsewhere = ['--ledger', 'state/sent.db'];
    expect((await send(project.root, 'hello', ...elsewhere, '--limit', '1')).posted).toBe(1);
    // As the report of a run writes it.
    for (const args of [['send', 'hello'], ['report'], ['suppress', 'add', '+447700900001']]) {
      expect(await refused(project.root, args, 'second-ledger')).toContain('Write --ledger state/sent.db');
    }
    expect(ledgersIn(project)).toEqual([]);
    expect((await send(project.root, 'hello', ...elsewhere)).posted).toBe(2);
    expect((await send(project.root, 'hello', '--allow', 'second-ledger')).posted).toBe(2);
    expect((await send(project.root, 'hello')).posted).toBe(2);
  });

  it.each(['.handbill/sent.db', 'state/sent.db'])('is not begun anew by another --ledger than %s', async (first) => {
    using project = createProject(BELOW);
    await send(project.root, 'hello', '--ledger', first, '--limit', '1');
    for (const args of [[], ['--ledger', 'other.db'], ['--ledger', '.handbill/ledger.db']]) {
      const said = await refused(project.root, ['send', 'hello', ...args], 'second-ledger');
      expect(said).toContain(`Write --ledger ${first}`);
    }
    expect((await send(project.root, 'hello', '--ledger', 'other.db', '--allow', 'second-ledger')).posted).toBe(2);
  });

  it('may be made where the one of --ledger is gone', async () => {
    using project = createProject(BELOW);
    using other = createProject({});
    await send(project.root, 'hello', '--ledger', other.path('trial.db'));
    rmSync(other.root, { recursive: true });
    expect((await send(project.root, 'hello')).posted).toBe(2);
  });

  it('is not begun where a relative path is meant from the current folder', async () => {
    using project = createProject(BELOW);
    await send(project.root, 'campaigns/hello');
    const typed = ['suppress', 'add', '+447700900001', '--ledger', `campaigns/${LEDGER}`];
    expect(await refused(project.root, typed, 'second-ledger')).toContain(`Write --ledger ${LEDGER}`);
    expect(ledgersIn(project)).toEqual([`campaigns/${LEDGER}`]);
  });

  it.each(['file:state.db', ':memory:', 'sqlite:state.db', 'mysql://host/db', 'me:S3kret@host/db', '"state.db"'])(
    'is not made under the name of %s',
    async (ledger) => {
      using project = createProject(BELOW);
      const before = [...project.contents().keys()];
      const args = ['send', 'hello', '--yes'];
      const byOption = await refused(project.root, [...args, '--ledger', ledger], 'invalid-value');
      const byVariable = await refused(project.root, args, 'invalid-value', { HANDBILL_LEDGER: ` ${ledger}` });
      expect(byOption + byVariable).not.toContain('S3kret');
      expect([...project.contents().keys()]).toEqual(before);
    },
  );

  it('outside of git is that of the nearest folder above with one, and is found from a folder in no project', async () => {
    using project = createProject({ ...helloIn('work/hello'), 'elsewhere/a.md': '' });
    expect((await send(project.path('work'), 'hello')).ledger).toBe(project.path(`work/${LEDGER}`));
    expect((await send(project.path('work/hello'), 'campaign.yaml')).posted).toBe(2);
    // As cron calls it.
    expect((await send(project.path('elsewhere'), project.path('work/hello'))).posted).toBe(2);
    expect((await send('/', project.path('work/hello'))).posted).toBe(2);
    expect(ledgersIn(project)).toEqual([`work/${LEDGER}`]);
  });

  it('is that of the only project that the command can be about', async () => {
    using project = createProject({
      ...REPOSITORY,
      ...helloIn('a/hello'),
      'a/handbill.yaml': '',
      'b/handbill.yaml': '',
      'c/x': '',
    });
    for (const args of [['suppress', 'add', '+447700900001'], ['runs'], ['report'], ['send', 'hello']]) {
      const err = await refused(project.path('c'), args, 'other-project');
      expect(err).toContain('../a and ../b');
    }
    // A path says which.
    expect((await send(project.root, 'a/hello')).ledger).toBe(project.path(`a/${LEDGER}`));
    expect(ledgersIn(project)).toEqual([`a/${LEDGER}`]);
  });
});

describe('a second ledger in a tree', () => {
  const OTHERS: readonly [label: string, there: string, project: string, cwd: string][] = [
    ['above', LEDGER, 'campaigns', 'campaigns'],
    ['above, seen from the root', LEDGER, 'campaigns', '.'],
    ['below', `campaigns/old/${LEDGER}`, '.', '.'],
    ['below, seen from there', `campaigns/old/${LEDGER}`, '.', 'campaigns/old'],
  ];
  it.each(OTHERS)('is not made where one is %s', async (_label, there, folder, cwd) => {
    using project = createProject({ ...REPOSITORY, ...HELLO, 'campaigns/old/x': '' });
    // Made when that folder was the project.
    using old = createProject({});
    await handbillHere(old.root, ['suppress', 'add', '+447700900001']);
    project.write(there, old.contents().get(old.path(LEDGER)) ?? '');
    project.write(join(folder, 'handbill.yaml'), '{}\n');
    const mine = join(folder, LEDGER);
    const target = project.path('campaigns/hello');
    for (const args of [
      ['send', target, '--yes'],
      ['suppress', 'add', '+447700900002'],
      ['listen', '--port', '0'],
      ['preview', target],
      ['plan', target],
      ['due', target],
    ]) {
      if (args[0] === 'due') {
        project.write(
          'campaigns/hello/campaign.yaml',
          `${HELLO['campaigns/hello/campaign.yaml']}schedule: { cron: '0 9 * * *' }\n`,
        );
      }
      const { status, out, err } = await handbillHere(project.path(cwd), args);
      expect(status, `${args[0]} ${err}`).toBe(2);
      const said = out + err;
      expect(said).toContain('second-ledger');
      for (const ledger of [there, mine]) {
        expect(said).toContain(relative(project.path(cwd), project.path(ledger)));
      }
    }
    expect(existsSync(project.path(mine))).toBe(false);
    // What is asked for is done.
    const { status, err } = await handbillHere(project.path(cwd), [
      'suppress',
      'add',
      '+447700900002',
      '--ledger',
      project.path(mine),
    ]);
    expect(status, err).toBe(0);
  });

  it('is not made by another place in handbill.yaml', async () => {
    using project = createProject(BELOW);
    await send(project.root, 'hello');
    project.write('campaigns/handbill.yaml', 'ledger: state/ledger.db\n');
    expect(await refused(project.root, ['send', 'hello'], 'second-ledger')).toContain(`--ledger ${LEDGER}`);
    expect((await send(project.root, 'hello', '--ledger', LEDGER)).posted).toBe(2);
  });

  it.each(['true', 'localhost/db', 'postgres.example.com/db', '.\\postgres:', 'x.db', '/ledger.db'])(
    'is not made in a project with a ledger by a word that was to be something else: %s',
    async (word) => {
      using project = createProject({ ...BELOW, 'campaigns/handbill.yaml': 'ledger: state/own.db\n' });
      const name = word.startsWith('/') ? project.path(word.slice(1)) : word;
      expect((await send(project.root, 'hello')).posted).toBe(2);
      const before = [...project.contents().keys()];
      for (const args of [
        ['send', 'hello', '--yes', '--ledger', name],
        ['suppress', 'add', '+447700900001', '--ledger', name],
      ]) {
        const err = await refused(project.root, args, 'second-ledger');
        expect(err).toContain('this project has one at campaigns/state/own.db');
        expect(err).toContain('--allow second-ledger');
      }
      await refused(project.root, ['send', 'hello', '--yes'], 'second-ledger', { HANDBILL_LEDGER: name });
      expect([...project.contents().keys()]).toEqual(before);
      expect((await send(project.root, 'hello', '--ledger', name, '--allow', 'second-ledger')).posted).toBe(2);
      expect((await send(project.root, 'hello', '--ledger', name)).ledger).not.toContain('own.db');
    },
  );

  it.each([
    ['an empty file', async () => ''],
    [
      'a ledger that was never sent with',
      async () => {
        using other = createProject({});
        await handbillHere(other.root, ['suppress', 'add', '+447700900009']);
        return other.contents().get(other.path(LEDGER)) ?? '';
      },
    ],
  ])('is not sent with where it is %s', async (_, contents) => {
    using project = createProject(BELOW);
    expect((await send(project.root, 'hello')).posted).toBe(2);
    project.write('campaigns/state.db', await contents());
    const args = ['send', 'hello', '--yes', '--ledger', 'state.db'];
    const { status, err } = await handbillHere(project.root, args);
    expect({ status, err }).toMatchObject({ status: 2, err: expect.stringContaining('error[second-ledger]') });
    expect(err).toContain('--allow second-ledger');
    expect((await send(project.root, 'hello', '--ledger', 'state.db', '--allow', 'second-ledger')).posted).toBe(2);
    // It is asked once.
    expect((await handbillHere(project.root, args)).err).not.toContain('second-ledger');
    expect((await send(project.root, 'hello')).ledger).toBe(project.path(`campaigns/${LEDGER}`));
  });

  it('may be made in another project of the same repository', async () => {
    using project = createProject({ ...BELOW, ...helloIn('other/hello'), 'other/handbill.yaml': '' });
    await send(project.path('campaigns'), 'hello');
    expect((await send(project.path('other'), 'hello')).ledger).toBe(project.path(`other/${LEDGER}`));
  });

  it('is named by doctor', async () => {
    using project = createProject({ ...BELOW, [LEDGER]: 'x' });
    const { out } = await handbillHere(project.root, ['doctor']);
    expect(out).toMatch(/second ledger/);
  });
});

describe('a project that sends with a shared ledger', () => {
  const FILE = ['--ledger', 'state.db'];
  it('takes no file in its place, unless told that it is given up', async () => {
    using project = createProject(BELOW);
    rememberSendingWith(project.path('campaigns'), 'postgres://db.example/handbill');
    for (const args of [
      ['send', 'hello'],
      ['send', 'hello', ...FILE],
      ['suppress', 'add', '+447700900001'],
      ['suppress', 'add', '+447700900001', ...FILE],
      ['preview', 'hello'],
      ['report'],
    ]) {
      expect(await refused(project.root, args, 'second-ledger')).toContain('HANDBILL_LEDGER');
    }
    expect(ledgersIn(project)).toEqual([]);
    expect((await handbillHere(project.root, ['validate'])).status).toBe(0);
    expect((await send(project.root, 'hello', '--allow', 'second-ledger')).posted).toBe(2);
    // From then on the file is its ledger.
    expect((await send(project.root, 'hello')).posted).toBe(2);
  });

  it('begins a ledger elsewhere where the project has no folder for one, as in an image', async () => {
    using project = createProject({ ...BELOW, 'elsewhere/a.md': '' });
    const ledger = project.path('elsewhere/ledger.db');
    expect((await send(project.root, 'hello', '--allow', 'second-ledger', '--ledger', ledger)).posted).toBe(2);
  });

  it('may read a file that it had before, but does not send with it', async () => {
    using project = createProject(BELOW);
    await send(project.root, 'hello');
    rememberSendingWith(project.path('campaigns'), 'postgres://db.example/handbill');
    expect((await handbillHere(project.root, ['report', '--ledger', LEDGER])).status).toBe(0);
    await refused(project.root, ['send', 'hello', '--ledger', LEDGER], 'second-ledger');
    await refused(project.root, ['send', 'hello'], 'second-ledger');
  });
});

describe('a campaign of another project', () => {
  const EVIL =
    'environments:\n  production:\n    baseUrl: https://evil.example\n    apiKey: { env: HANDBILL_API_KEY }\n';
  const env = { HANDBILL_API_KEY: 'S3kret' };
  const SCHEDULED = `${HELLO['campaigns/hello/campaign.yaml']}schedule: { cron: '0 9 * * *' }\n`;

  it('is refused where a handbill.yaml in its folder would take over', async () => {
    using project = createProject({
      ...BELOW,
      'campaigns/hello/campaign.yaml': SCHEDULED,
      'campaigns/hello/handbill.yaml': EVIL,
    });
    for (const cwd of ['.', 'campaigns', 'campaigns/hello']) {
      const target = project.path('campaigns/hello');
      for (const args of [
        ['send', target, '--env', 'production', '--yes'],
        ['preview', target, '--env', 'production'],
        ['plan', target, '--env', 'production'],
        ['due', target, '--env', 'production', '--yes'],
        ['validate', target],
        ['doctor', target],
      ]) {
        const { status, out, err } = await handbillHere(project.path(cwd), args, { env });
        expect(status, `${args[0]} ${out} ${err}`).toBe(2);
        expect(out + err).toMatch(/The campaign has its own project file, .*handbill\.yaml/);
      }
    }
    expect(ledgersIn(project)).toEqual([]);
  });

  it('is refused behind a link out of the project, as a folder or a file', async () => {
    using other = createProject({ ...helloIn('hello'), 'handbill.yaml': EVIL });
    using project = createProject({ ...BELOW, 'campaigns/file/x': '' });
    symlinkSync(other.path('hello'), project.path('campaigns/linked'));
    symlinkSync(other.path('hello/campaign.yaml'), project.path('campaigns/file/campaign.yaml'));
    for (const name of ['linked', 'file']) {
      for (const cwd of ['.', 'campaigns', `campaigns/${name}`]) {
        if (realpathSync(project.path(cwd)) === other.path('hello')) continue;
        for (const args of [['send'], ['plan'], ['preview']]) {
          const err = await refused(project.path(cwd), [...args, project.path(`campaigns/${name}`)], 'other-project');
          expect(err).toContain('behind a link');
        }
      }
    }
    expect([...ledgersIn(project), ...ledgersIn(other)]).toEqual([]);
  });

  it('is refused by a path to another project', async () => {
    using other = createProject({ ...helloIn('hello'), 'handbill.yaml': EVIL });
    using project = createProject(BELOW);
    for (const cwd of ['.', 'campaigns']) {
      await refused(
        project.path(cwd),
        ['send', other.path('hello'), '--env', 'production', '--yes'],
        'other-project',
        env,
      );
    }
  });

  it('is not made by init, inside a project or around one', async () => {
    using project = createProject(BELOW);
    await refused(project.path('campaigns'), ['init', 'new', '--yes'], 'other-project');
    await refused(project.root, ['init', '.', '--yes'], 'other-project');
    expect((await handbillHere(project.root, ['init', 'beside', '--yes'])).status).toBe(0);
  });
});

describe('the name of a campaign', () => {
  const NAMED = {
    ...REPOSITORY,
    'handbill.yaml': '{}\n',
    ...helloIn('campaigns/one', 'alpha'),
    ...helloIn('campaigns/2026/two', 'beta'),
    ...helloIn('campaigns/beta-folder', 'gamma'),
  };

  it.each(['alpha', 'beta', 'gamma', 'one', 'beta-folder'])(
    '%s finds it, wherever it is, in each command',
    async (name) => {
      using project = createProject(NAMED);
      for (const [cwd, commands] of [
        ['.', ['validate', 'preview', 'plan', 'send', 'doctor']],
        ['campaigns', ['preview']],
        ['campaigns/2026', ['send']],
      ] as const) {
        for (const command of commands) {
          const { status, err } = await handbillHere(project.path(cwd), [command, name]);
          expect(status, `${cwd} ${command} ${err}`).toBe(0);
        }
      }
    },
  );

  it('that is the folder of another is refused with both', async () => {
    using project = createProject({ ...NAMED, ...helloIn('campaigns/alpha', 'delta') });
    for (const args of [['validate'], ['preview'], ['plan'], ['send'], ['doctor'], ['due']]) {
      const { status, out, err } = await handbillHere(project.root, [...args, 'alpha']);
      expect(status, args[0]).toBe(2);
      expect(out + err).toContain('"alpha" may mean');
      for (const file of ['campaigns/alpha/campaign.yaml', 'campaigns/one/campaign.yaml'])
        expect(out + err).toContain(file);
    }
    expect((await send(project.root, 'campaigns/alpha')).posted).toBe(2);
    expect((await send(project.root, './campaigns/one/')).posted).toBe(2);
  });

  it('that is a folder here and the name of another is refused, a path is not', async () => {
    using project = createProject({ ...NAMED, ...helloIn('alpha', 'delta') });
    await refused(project.root, ['send', 'alpha'], 'campaign-ambiguous');
    expect((await send(project.root, './alpha')).posted).toBe(2);
  });

  it('that two files have is refused', async () => {
    using project = createProject({ ...NAMED, ...helloIn('campaigns/three', 'alpha') });
    const err = await refused(project.root, ['send', 'alpha'], 'campaign-ambiguous');
    expect(err).toContain('campaigns/one/campaign.yaml or campaigns/three/campaign.yaml');
  });
});
