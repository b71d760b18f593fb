import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../helpers/cli.ts';
import { npm, registryVariables } from '../helpers/npm.ts';
import { pack } from '../helpers/pack.ts';
import { buildImage, type Image } from './dockerfile.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const MODULES = join(ROOT, 'node_modules');

/*
 * The package as a person gets it: packed, installed by npm into an empty folder with its dependencies from the registry,
 * and then put into an image by the steps of the Dockerfile.
 */
const MOST_MS = 300_000;

let folder = '';
let project = '';
/** Holds the Node.js that the image of Node.js would have. */
let bin = '';

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'handbill-installed-')));
  chmodSync(folder, 0o755);
  bin = join(folder, 'bin');
  mkdirSync(bin);
  cpSync(join(MODULES, 'node', 'bin', 'node'), join(bin, 'node'));
  // Another user runs it, and the packages may have been installed under a restrictive umask.
  chmodSync(join(bin, 'node'), 0o755);
  project = join(folder, 'project');
  mkdirSync(project);
  const { archive } = pack(project);
  npm(['install', `./${basename(archive)}`], project, environment());
}, MOST_MS);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function environment(): NodeJS.ProcessEnv {
  return { PATH: `${bin}${delimiter}${process.env['PATH']}`, HOME: process.env['HOME'], TZ: 'UTC', NO_COLOR: '1' };
}

/** What it printed, on both streams. */
function handbill(...args: readonly string[]): string {
  // `npx` takes longer than most commands: it is tried with the first of them.
  const [program = '', ...words] =
    args[0] === 'init' ? ['npx', '--offline', 'handbill'] : ['node_modules/.bin/handbill'];
  const options = { cwd: project, env: environment(), encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(program, [...words, ...args], options);
  expect(status, stdout + stderr).toBe(0);
  return stdout + stderr;
}

describe('the package, installed by npm in an empty folder', () => {
  it('makes a project, checks it, previews it and sends it to the sandbox', () => {
    expect(handbill('init', '.')).toContain('campaigns/hello/campaign.yaml');
    expect(handbill('validate')).toMatch(/^3 campaigns .* all ok$/m);
    expect(handbill('preview', 'hello')).toContain('Hello Ada');
    expect(handbill('send', 'hello')).toMatch(/3 of 3 sent/);
    expect(handbill('send', 'hello')).toContain('nothing was posted');
  });

  it('is a library, with types', () => {
    writeFileSync(
      join(project, 'report.mts'),
      "import { report, type Report } from 'handbill';\nconst { totals }: Report = await report('hello');\nconsole.log(totals.accepted);\n",
    );
    const options = { module: 'nodenext', target: 'es2024', strict: true, noEmit: true, types: [] };
    const config = {
      compilerOptions: { ...options, lib: ['es2024', 'esnext.disposable', 'dom'] },
      files: ['report.mts'],
    };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config));
    const run = (...args: readonly string[]): string =>
      execFileSync(join(bin, 'node'), args, { cwd: project, env: environment(), encoding: 'utf8' });
    expect(run(join(MODULES, 'typescript', 'bin', 'tsc'), '-p', '.')).toBe('');
    expect(run('report.mts')).toBe('3\n');
  });
});

// Steps of a Dockerfile are done by root, and what they make is run by another user.
describe.skipIf(process.getuid?.() !== 0)('the image', () => {
  let root = '';
  let image: Image;

  beforeAll(() => {
    const context = join(folder, 'context');
    root = join(folder, 'image');
    mkdirSync(join(context, 'campaigns'), { recursive: true });
    for (const name of readdirSync(project).filter((one) => /^(package|handbill)|^campaigns$/.test(one)))
      cpSync(join(project, name), join(context, name), { recursive: true });
    writeFileSync(join(context, '.env'), 'HANDBILL_API_KEY=secret\n');
    writeFileSync(
      join(context, 'handbill.yaml'),
      `${readFileSync(join(context, 'handbill.yaml'), 'utf8')}\nenvironments: { sandbox: { webhook: { secrets: [{ env: HOOK }] } } }\n`,
    );
    // What is a version of the registry for others is an archive here, which is installed before the rest is copied.
    const archive = readdirSync(context).find((name) => name.endsWith('.tgz')) ?? '';
    mkdirSync(join(root, 'campaigns'), { recursive: true });
    cpSync(join(context, archive), join(root, 'campaigns', archive));
    image = buildImage(context, root, (command, cwd) => {
      const env = {
        ...registryVariables(),
        ...environment(),
        npm_config_prefer_offline: 'true',
        npm_config_audit: 'false',
      };
      execFileSync('/bin/sh', ['-ec', command], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    });
  }, MOST_MS);

  const started = () => ({
    cwd: image.workingFolder,
    env: { ...image.env, PATH: `${bin}:/usr/bin:/bin`, HOME: '/nonexistent', HOOK: `whsec_${'QUJD'.repeat(8)}` },
    ...image.user,
  });

  function run(...args: readonly string[]) {
    const [program = '', ...words] = [...image.entrypoint, ...(args.length === 0 ? image.command : args)];
    return spawnSync(program, words, { ...started(), encoding: 'utf8' });
  }

  const health = () => spawnSync('/bin/sh', ['-c', image.healthCheck], { ...started(), encoding: 'utf8' });

  it('holds the repository and what npm installs, and none of what .dockerignore names', () => {
    const names = readdirSync(image.workingFolder);
    expect(names).toEqual(expect.arrayContaining(['campaigns', 'handbill.yaml', 'node_modules', 'package-lock.json']));
    expect(names).not.toContain('.env');
    expect(existsSync(join(image.workingFolder, 'node_modules', 'typescript'))).toBe(false);
  });

  it('sends nothing while the volume of its ledger is missing, and is unhealthy', () => {
    const { status, stderr } = run('send', 'hello');
    expect([status, stderr]).toEqual([7, expect.stringContaining('error[ledger-missing]')]);
    expect(health().status).toBe(1);
  });

  it('sends once it is told that the ledger is new, and is healthy then', () => {
    const first = run('send', 'hello', '--allow', 'ledger-missing');
    expect([first.status, first.stdout], first.stderr).toEqual([0, expect.stringMatching(/3 of 3 sent/)]);
    expect(run('send', 'hello').stderr).toContain('nothing was posted');
    const { status, stdout, stderr } = health();
    expect(status, stdout + stderr).toBe(0);
    const { uid, mode } = statSync(image.env['HANDBILL_LEDGER'] ?? '');
    expect([uid, mode & 0o777]).toEqual([image.user.uid, 0o600]);
  });

  it('shows what it needs where it is started without a command', () => {
    expect(run()).toMatchObject({ status: 0, stdout: expect.stringMatching(/^ok +ledger/m) });
  });

  it.skipIf(spawnSync('unshare', ['--pid', '--fork', 'true']).status !== 0)(
    'stops in good order at a signal, as process 1',
    async () => {
      const { uid, gid, ...options } = started();
      const as = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
      const words = ['--pid', '--fork', '--mount-proc', ...as, ...image.entrypoint, 'listen', '--port', '0'];
      const child = spawn('unshare', words, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
      let said = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (said += String(text)));
      await until('its address', () => said.includes('http://'));
      const pid = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim();
      expect(readFileSync(`/proc/${pid}/status`, 'utf8')).toMatch(/^NSpid:\t\d+\t1$/m);
      process.kill(Number(pid), 'SIGTERM');
      const [status] = (await once(child, 'exit')) as [number | null];
      expect(status).toBe(143);
    },
  );
});
