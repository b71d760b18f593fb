import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { withEnvFile } from '../../src/cli/shared/env-file.ts';
import { runCli } from '../helpers/cli.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { answer, type RawServer, startRawServer } from '../helpers/raw-server.ts';
import { handbillHere } from './in-process.ts';

const SECRET = 'a-key-that-is-not-printed';

let server: RawServer;
beforeAll(async () => {
  server = await startRawServer({ behaviour: answer(202, '{"id":"M1"}') });
});
afterAll(() => server.close());

let project: TestProject;
beforeEach(() => {
  project = createProject({
    'handbill.yaml': `environments:
  production: { baseUrl: "${new URL(server.url).origin}", apiKey: { env: HANDBILL_API_KEY } }
`,
    '.env': `HANDBILL_API_KEY=${SECRET}\nHANDBILL_ENV=production\n`,
    'campaigns/hello/campaign.yaml':
      'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: people.csv\n',
    'campaigns/hello/people.csv': 'msisdn\n+447400123456\n',
  });
  return () => project[Symbol.dispose]();
});

const head = (text: string): string => text.split('\n')[0] ?? '';

describe('HANDBILL_ENV', () => {
  it.each([
    ['alone', { HANDBILL_ENV: 'production' }, [], 'production'],
    ['below --env', { HANDBILL_ENV: 'production' }, ['--env', 'sandbox'], 'sandbox'],
    ['empty', { HANDBILL_ENV: '' }, [], 'sandbox'],
    ['absent', {}, [], 'sandbox'],
  ])('%s', async (_, env, args, environment) => {
    const { out } = await handbillHere(project.root, ['preview', 'hello', ...args], { env });
    expect(head(out)).toContain(`environment ${environment}`);
  });

  it('that names no environment is refused, and a plan counts more than it', async () => {
    const wrong = await handbillHere(project.root, ['preview', 'hello'], { env: { HANDBILL_ENV: 'prod' } });
    expect(wrong.status).toBe(2);
    expect(wrong.err).toContain('There is no environment "prod"');
    await handbillHere(project.root, ['plan', 'hello', '-o', 'plan.json']);
    const sent = await handbillHere(project.root, ['send', '--plan', 'plan.json'], { env: { HANDBILL_ENV: 'prod' } });
    expect(sent.status).toBe(0);
  });
});

describe('.env in the root of the project', () => {
  it('is read from any folder of it, for the key and for the environment', async () => {
    const sent = await runCli(['send', 'hello', '--yes'], { cwd: project.path('campaigns') });
    expect(sent).toMatchObject({ status: 0 });
    expect(sent.stdout).toContain('hello · production');
    expect(sent.stdout + sent.stderr).not.toContain(SECRET);
  });

  it('counts less than the variables of the process', async () => {
    const { stdout } = await runCli(['preview', 'hello'], { cwd: project.root, env: { HANDBILL_ENV: 'sandbox' } });
    expect(head(stdout)).toContain('environment sandbox');
  });

  it('never shows its values, whatever is said', async () => {
    project.write('handbill.yaml', `environments:\n  production: { baseUrl: "${SECRET}" }\n`);
    const { status, stderr } = await runCli(['preview', SECRET], { cwd: project.root });
    expect(status).toBe(2);
    expect(stderr).not.toContain(SECRET);
  });

  it('sets nothing that chooses programs, and may be a folder', async () => {
    project.write(
      '.env',
      'PATH=/evil\nSSH_ASKPASS=/evil\nGIT_DIR=/evil\nNODE_OPTIONS=--evil\nLD_PRELOAD=/evil\nKEY="a b"\n',
    );
    expect(await withEnvFile({ HOME: '/home' }, project.root)).toEqual({ HOME: '/home', KEY: 'a b' });
    const other = createProject({ 'handbill.yaml': '{}\n', '.env/readme': '' });
    const env = { A: '1' };
    expect(await withEnvFile(env, other.root)).toBe(env);
    other[Symbol.dispose]();
  });
});
