import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openLedger } from '../../src/ledger/open.ts';
import { type ApproveOptions, approve, checkApproval, plan, readPlan } from '../../src/operations/plan.ts';
import { send } from '../../src/operations/send.ts';
import { createPlanFile, type PlanFile, parsePlanFile } from '../../src/plan/plan-file.ts';
import type { Sandbox } from '../../src/sandbox/options.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { createHasher, writeHash } from '../../src/suppression/hash.ts';
import { CLI } from '../helpers/cli.ts';
import { commandRunner, runHere } from '../helpers/here.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { type Key, type Keyring, NOW, openKeyring } from './keys.ts';

const runCommand = commandRunner();

const API_KEY = 'test-key-of-the-api';
const PEOPLE = 'msisdn,first\n+447700900001,Ann\n+447700900002,Bo\n';
const CAMPAIGN = 'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: hello.hbs\nrecipients: people.csv\n';

let ring: Keyring;
const keys = {} as Record<'ana' | 'ben' | 'cem' | 'mallory', Key>;
let api: Sandbox;
let project: TestProject;

beforeAll(async () => {
  ring = await openKeyring();
  for (const name of ['ana', 'ben', 'cem', 'mallory'] as const) keys[name] = await ring.make(name);
  api = await startSandbox({ apiKey: API_KEY, keep: 0 });
});
afterAll(async () => {
  await api.close();
  await ring.remove();
});

let before = 0;
beforeEach(() => {
  before = api.received;
  project = createProject({
    'handbill.yaml': projectFile(api.url),
    'hello/campaign.yaml': CAMPAIGN,
    'hello/hello.hbs': 'Hello {{first}}',
    'hello/people.csv': PEOPLE,
  });
});
afterEach(() => project[Symbol.dispose]());

/** Requests that the API got in this test. */
const received = (): number => api.received - before;

function projectFile(url: string): string {
  const person = (name: 'ana' | 'ben' | 'cem'): string => `{ name: ${name}@x.org, key: "${keys[name].text}" }`;
  return `environments:
  production:
    baseUrl: ${url}
    apiKey: { env: HANDBILL_API_KEY }
    approvers: [${person('ana')}, ${person('ben')}]
    planners: [${person('cem')}]
  staging:
    baseUrl: ${url}
    apiKey: { env: HANDBILL_API_KEY }
`;
}

// Stories that begin in folders of their own have processes of their own, below.
const run = (...args: readonly string[]) => runHere(args, { cwd: project.root, env: { HANDBILL_API_KEY: API_KEY } });
const asPerson = (key: Key, more: Partial<ApproveOptions> = {}): ApproveOptions => ({
  cwd: project.root,
  env: process.env,
  now: () => NOW,
  key: key.path,
  confirm: async () => true,
  ...more,
});
const sending = { env: { ...process.env, HANDBILL_API_KEY: API_KEY }, now: () => NOW, confirm: async () => true };

/** Every test has the same project, so that its plan can be signed once for all. */
const signed = new Map<string, string>();

/** A plan that cem made, and that ben approved unless it says otherwise. */
async function planned(approvers: readonly Key[] = [keys.ben], environment = 'production'): Promise<PlanFile> {
  const id = [environment, ...approvers.map(({ path }) => path)].join(' ');
  const known = signed.get(id);
  if (known === undefined) {
    const sign = { key: keys.cem.path };
    write(await plan('hello', { cwd: project.root, now: () => NOW, environment, sign }));
    for (const key of approvers) await approve('hello.plan.json', asPerson(key));
    signed.set(id, readFileSync(project.path('hello.plan.json'), 'utf8'));
  } else {
    project.write('hello.plan.json', known);
  }
  return readOnce('hello.plan.json', { cwd: project.root });
}

/** A plan of one occurrence. */
async function readOnce(...args: Parameters<typeof readPlan>): Promise<PlanFile> {
  return readPlan(...args) as PlanFile;
}

function write(planFile: PlanFile): void {
  writeFileSync(project.path('hello.plan.json'), `${JSON.stringify(planFile, null, 2)}\n`);
}

describe('on the command line', () => {
  it('a plan is made, approved by another person, and sent once', async () => {
    const made = await run('plan', 'hello', '--env', 'production', '-o', 'p.json', '--sign', keys.cem.path);
    expect(made, made.stderr).toMatchObject({ status: 0 });
    expect(made.stderr).toContain('Have an approver sign it with: handbill approve p.json');
    const apply = ['send', '--plan', 'p.json', '--yes'];
    const early = await run(...apply);
    expect(early).toMatchObject({ status: 2 });
    expect(early.stderr).toContain(
      'error[not-approved]: The plan of hello is not approved for production. Signed so far by cem@x.org (no approver).',
    );

    const approved = await run('approve', 'p.json', '--sign', keys.ben.path, '--yes');
    expect(approved, approved.stderr).toMatchObject({ status: 0 });
    const sha256 = /hello\/people\.csv, sha256 [0-9a-f]{64}/;
    for (const fact of [
      /campaign +hello/,
      /occurrence +once/,
      /environment +production/,
      /recipients +2 /,
      /parts +2/,
      sha256,
    ]) {
      expect(approved.stderr).toMatch(fact);
    }
    expect(approved.stderr).toContain('Signed. hello is approved for production.');

    expect(await run(...apply)).toMatchObject({ status: 0 });
    const again = await run(...apply);
    expect(again).toMatchObject({ status: 0 });
    expect(again.stderr).toContain('nothing was posted');
    expect(received()).toBe(2);
  });

  it('nothing is signed without a confirmation, and the file stays as it is', async () => {
    await planned([]);
    const before = readFileSync(project.path('hello.plan.json'), 'utf8');
    const refused = await run('approve', 'hello.plan.json', '--sign', keys.ben.path);
    expect(refused).toMatchObject({ status: 2 });
    expect(refused.stderr).toContain('error[not-confirmed]');
    expect(readFileSync(project.path('hello.plan.json'), 'utf8')).toBe(before);
  });

  it('the key may be in HANDBILL_SIGNING_KEY; without one, it is asked for', async () => {
    await planned([]);
    const { key: _, ...keyless } = asPerson(keys.ben);
    await expect(approve('hello.plan.json', keyless)).rejects.toMatchObject({ exit: 2, code: 'usage' });
    const env = { ...process.env, HANDBILL_SIGNING_KEY: keys.ben.path };
    expect(await approve('hello.plan.json', { ...keyless, env })).toMatchObject({ judgement: { approved: true } });
  });

  it('a plan whose lists hold hashes is compared with the key of the approver', async () => {
    const secret = 'a key of 16 bytes or more';
    const { keyId, hash } = createHasher(Buffer.from(secret));
    project.write('outs.csv', `hash\n${writeHash({ keyId, hash: hash('+447700900002') })}\n`);
    project.write(
      'handbill.yaml',
      `${projectFile(api.url)}suppressionKey: { env: LIST_KEY }\nsuppressions: outs.csv\n`,
    );
    const env = { ...process.env, LIST_KEY: secret };
    const sign = { key: keys.cem.path };
    write(await plan('hello', { cwd: project.root, env, now: () => NOW, environment: 'production', sign }));
    const approved = await approve('hello.plan.json', asPerson(keys.ben, { env }));
    expect(approved).toMatchObject({ judgement: { approved: true }, plan: { estimate: { send: 1 } } });
  });

  it('plan and approve count with the ledger that --ledger or HANDBILL_LEDGER names', async () => {
    project.write('other/campaign.yaml', CAMPAIGN.replace('hello\n', 'other\n').replace('hello.hbs', '{ text: Hi }'));
    project.write('other/people.csv', 'msisdn,first\n+447700900002,Bo\n');
    project.write('hello/campaign.yaml', `${CAMPAIGN}exclude: [other]\n`);
    const HANDBILL_LEDGER = project.path('elsewhere.db');
    const env = { HANDBILL_LEDGER, HANDBILL_API_KEY: API_KEY };
    const started = await runCommand(['send', 'other'], { cwd: project.root, env });
    expect(started, started.stderr).toMatchObject({ status: 0 });
    const made = await runCommand(['plan', 'hello', '-o', 'p.json'], { cwd: project.root, env });
    expect(made, made.stderr).toMatchObject({ status: 0 });
    expect((await readOnce('p.json', { cwd: project.root })).estimate).toMatchObject({ send: 1 });
    expect(await runCommand(['approve', 'p.json', '--check'], { cwd: project.root, env })).toMatchObject({ status: 0 });
    const unnamed = await run('approve', 'p.json', '--check');
    expect(unnamed).toMatchObject({ status: 2, stderr: expect.stringContaining('Write --ledger elsewhere.db') });
    openLedger(project.path('.handbill/ledger.db'), { mode: 'write', nowMs: NOW }).close();
    const elsewhere = await run('approve', 'p.json', '--check');
    expect(elsewhere).toMatchObject({ status: 2 });
    expect(elsewhere.stderr).toContain('The ledger here may hold other suppressions and runs');
  });

  it('a signature that will not count is said when the plan is made', async () => {
    const made = await run(
      'plan',
      'hello',
      '--env',
      'production',
      '-o',
      'p.json',
      '--sign',
      keys.mallory.path,
      '--quiet',
    );
    expect(made).toMatchObject({ status: 0 });
    expect(made.stderr).toMatch(/^Beware: A signature by the key SHA256:\S+ does not count: the key is not one of/);
  });

  it('a passphrase is asked for on a terminal', async () => {
    const locked = await ring.make('locked', '-t', 'ed25519', '-N', 'correct horse');
    const command = `${process.execPath} ${CLI} plan hello -o p.json --sign ${locked.path}`;
    const terminal = spawn('script', ['-qec', command, '/dev/null'], { cwd: project.root });
    let shown = '';
    terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
      // What is typed before the question is thrown away.
      if (text.includes('passphrase')) terminal.stdin.write('correct horse\n');
    });
    await once(terminal, 'close');
    expect(shown).toContain('Enter passphrase');
    expect(readPlan('p.json', { cwd: project.root }).signatures).toHaveLength(1);
  });
});

describe('an environment with approvers', () => {
  it('refuses a campaign without a plan, and says what to do', async () => {
    const refused = await run('send', 'hello', '--env', 'production', '--yes');
    expect(refused).toMatchObject({ status: 2 });
    expect(refused.stderr).toContain('error[not-approved]: production accepts approved plans only.');
    expect(refused.stderr).toContain('handbill plan CAMPAIGN --env production -o FILE --sign KEY');
    expect(received()).toBe(0);
  });

  it('takes unsigned campaigns in the environments beside it', async () => {
    for (const environment of ['staging', 'sandbox']) {
      expect(await send('hello', { ...sending, cwd: project.root, environment })).toMatchObject({ posted: 2 });
    }
    expect(received()).toBe(2);
  });

  it('cannot be had by way of the library', async () => {
    const planFile = await planned();
    const { cwd, environment } = { cwd: project.root, environment: 'production' };
    const { signatures: _, ...unsigned } = planFile;
    await expect(send('hello', { ...sending, cwd, environment })).rejects.toMatchObject({
      exit: 2,
      code: 'not-approved',
    });
    await expect(send(unsigned, { ...sending, cwd, environment })).rejects.toMatchObject({
      exit: 2,
      code: 'not-approved',
    });
    await expect(send(planFile, { ...sending, cwd, environment, occurrence: 'twice' })).rejects.toMatchObject({
      exit: 2,
      code: 'usage',
    });
    await expect(send(planFile, { ...sending, cwd, environment, allow: ['input-changed'] })).rejects.toMatchObject({
      exit: 2,
      code: 'usage',
    });
    project.write('hello/hello.hbs', 'Goodbye {{first}}');
    await expect(send(planFile, { ...sending, cwd, environment })).rejects.toMatchObject({
      exit: 2,
      code: 'input-changed',
    });
    project.write('hello/hello.hbs', 'Hello {{first}}');
    expect(received()).toBe(0);
    expect(await send(planFile, { ...sending, cwd, environment })).toMatchObject({ posted: 2 });
  });

  it('of an environment without approvers is amended by sending the campaign, as its hints say', async () => {
    const make = ['plan', 'hello', '--env', 'staging', '-o', 'staging.json'];
    await run(...make);
    expect(await run('send', '--plan', 'staging.json', '--yes', '--limit', '1')).toMatchObject({ status: 0 });
    project.write('hello/people.csv', PEOPLE.replace('0002', '0022'));
    expect((await run('send', '--plan', 'staging.json', '--yes')).stderr).toContain('make and review a new plan');
    expect(await run(...make)).toMatchObject({ status: 0 });
    expect((await run('send', '--plan', 'staging.json', '--yes')).stderr).toContain(
      'Or: --allow input-changed continues the run',
    );
    const { stderr } = await run('send', '--plan', 'staging.json', '--yes', '--allow', 'input-changed');
    const [, command = ''] = /help: Send the campaign instead of the plan: handbill (.*)/.exec(stderr) ?? [];
    expect(command).toBe('send hello --env staging --allow input-changed');
    expect(await run(...command.split(' '), '--yes')).toMatchObject({ status: 0 });
    expect(received()).toBe(2);
  });

  it('takes no list that was put in the place of the approved one after it was compared', async () => {
    const planFile = await planned();
    const env = {
      ...process.env,
      // The key is read when the list has been compared, and before it is loaded.
      get HANDBILL_API_KEY() {
        project.write('hello/people.csv', `${PEOPLE}+447700900003,Cy\n`);
        return API_KEY;
      },
    };
    const refused = send(planFile, { ...sending, env, cwd: project.root, environment: 'production' });
    await expect(refused).rejects.toMatchObject({ exit: 2, code: 'input-changed' });
    expect(received()).toBe(0);
    project.write('hello/people.csv', PEOPLE);
    expect(await send(planFile, { ...sending, cwd: project.root, environment: 'production' })).toMatchObject({
      posted: 2,
    });
  });

  it('is continued by its plan: no next step names a command that would be refused', async () => {
    await planned();
    const sent = await run('send', '--plan', 'hello.plan.json', '--limit', '1', '--yes');
    expect(sent.stdout).toContain('    handbill send --plan hello.plan.json\n');
    const told = await run('report');
    expect(told.stdout).toContain('    handbill send --plan FILE\n');
    for (const { stdout } of [sent, told]) expect(stdout).not.toContain('handbill send hello');
  });

  it('asks for the signers of now: a signer who was removed does not count', async () => {
    const planFile = await planned();
    project.write(
      'handbill.yaml',
      projectFile(api.url).replace(/\{ name: ben[^}]*\}/, `{ name: dan, key: "${keys.mallory.text}" }`),
    );
    const refused = send(planFile, { ...sending, cwd: project.root, environment: 'production' });
    await expect(refused).rejects.toMatchObject({
      exit: 2,
      diagnostics: [
        { code: 'not-approved', message: expect.stringContaining('Signed so far by cem@x.org') },
        { message: expect.stringMatching(/SHA256:\S+ does not count: the key is not one of those that may sign/) },
      ],
    });
  });

  it('has approvers of a file as well, read when they are needed', async () => {
    const file = projectFile(api.url).replace(/approvers: .*/, 'approvers: { file: approvers }');
    project.write('handbill.yaml', file);
    project.write('approvers', `ana,ana@x.org ${keys.ana.text}\nben@x.org valid-before="20270101" ${keys.ben.text}\n`);
    const planFile = await planned();
    const options = { ...sending, cwd: project.root, environment: 'production' };
    await expect(send(planFile, { ...options, now: () => Date.UTC(2027, 0, 2) })).rejects.toMatchObject({
      code: 'not-approved',
    });
    project.write('approvers', 'everybody');
    await expect(send(planFile, options)).rejects.toMatchObject({ exit: 2, code: 'invalid-value' });
    expect(received()).toBe(0);
  });

  it('is not left by a plan that leads to another project', async () => {
    const mine = projectFile(api.url).replace(/approvers: .*\n.*\n/, '\n');
    const files = {
      'handbill.yaml': mine,
      'campaign.yaml': CAMPAIGN,
      'hello.hbs': 'Hello {{first}}',
      'people.csv': PEOPLE,
    };
    using evil = createProject(files);
    for (const [name, text] of Object.entries(files)) project.write(`evil/${name}`, text);
    const {
      fingerprint: _,
      version: __,
      ...facts
    } = await plan('.', {
      cwd: evil.root,
      now: () => NOW,
      environment: 'production',
    });
    for (const file of ['evil/campaign.yaml', evil.path('campaign.yaml')]) {
      write(createPlanFile({ ...facts, campaign: { ...facts.campaign, file } }));
      const refused = await run('send', '--plan', 'hello.plan.json', '--yes');
      expect(refused.stderr).toContain('error[other-project]');
      expect(refused).toMatchObject({ status: 2 });
      await expect(approve('hello.plan.json', asPerson(keys.ben))).rejects.toMatchObject({ code: 'other-project' });
    }
    expect(received()).toBe(0);
  });

  it('is not left from a folder without a project either, unless the project lies below it', async () => {
    using outside = createProject({ 'notes/a.txt': '' });
    const path = outside.path('p.json');
    const made = await runCommand(['plan', project.path('hello'), '--env', 'staging', '-o', path], {
      cwd: outside.root,
    });
    expect(made, made.stderr).toMatchObject({ status: 0 });
    const env = { HANDBILL_API_KEY: API_KEY };
    const refused = await runCommand(['send', '--plan', path, '--yes'], { cwd: outside.root, env });
    expect(refused).toMatchObject({ status: 2 });
    expect(refused.stderr).toContain('another project');
    outside.write('sub/handbill.yaml', projectFile(api.url));
    outside.write('sub/hello/campaign.yaml', CAMPAIGN);
    outside.write('sub/hello/hello.hbs', 'Hello {{first}}');
    outside.write('sub/hello/people.csv', PEOPLE);
    await runCommand(['plan', 'sub/hello', '--env', 'staging', '-o', path], { cwd: outside.root });
    const sent = await runCommand(['send', '--plan', path, '--yes'], { cwd: outside.root, env });
    expect(sent, sent.stderr).toMatchObject({ status: 0 });
  });
});

describe('a plan that was changed after it was signed', () => {
  const changes: readonly [label: string, change: (plan: PlanFile) => object][] = [
    ['campaign', (p) => ({ ...p, campaign: { ...p.campaign, name: 'other' } })],
    ['file', (p) => ({ ...p, campaign: { ...p.campaign, file: 'evil/campaign.yaml' } })],
    ['environment', (p) => ({ ...p, environment: 'staging' })],
    ['occurrence', (p) => ({ ...p, occurrence: 'twice' })],
    ['recipients', (p) => ({ ...p, recipients: '/tmp/others.csv' })],
    ['allow', (p) => ({ ...p, allow: ['invalid-rows'] })],
    ['plannedAt', (p) => ({ ...p, plannedAt: new Date(NOW + 1).toISOString() })],
    ['inputs', (p) => ({ ...p, inputs: p.inputs.map((one) => ({ ...one, sha256: '0'.repeat(64) })) })],
    ['fewer inputs', (p) => ({ ...p, inputs: p.inputs.slice(1) })],
    ['estimate', (p) => ({ ...p, estimate: { ...p.estimate, send: 1 } })],
    ['an unknown key', (p) => ({ ...p, approved: true })],
    ['an unknown key inside', (p) => ({ ...p, campaign: { ...p.campaign, approved: true } })],
  ];

  it.each(changes)('%s: is no longer whole, and with a new fingerprint no longer signed', async (_label, change) => {
    const planFile = await planned();
    const { signatures = [], ...changed } = change(planFile) as PlanFile;
    expect(parsePlanFile(JSON.stringify({ ...changed, signatures }), 'p')).toMatchObject({ code: 'plan-invalid' });
    const { fingerprint: _, version: __, ...content } = changed;
    const anew = { ...createPlanFile(content), signatures };
    expect(parsePlanFile(JSON.stringify(anew), 'p')).toEqual(anew);
    write(anew);
    const refused = await checkApproval('hello.plan.json', asPerson(keys.ben, { unchecked: true })).then(
      // The one environment that asks for no approval: the plan then is not for the one it was approved for.
      ({ plan: { environment } }) => ({ code: environment === 'staging' ? 'not-approved' : 'approved' }),
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({ code: 'not-approved' });
    await expect(send(anew, { ...sending, cwd: project.root, environment: 'production' })).rejects.toMatchObject({
      exit: 2,
    });
    expect(received()).toBe(0);
  });

  it.each<[label: string, change: (text: string) => string]>([
    ['something behind it', (text) => `${text}{}`],
    ['a duplicate key', (text) => text.replace('"environment":', '"environment": "sandbox",\n  "environment":')],
    ['a duplicate key, inside', (text) => text.replace('"name":', '"name": "x", "name":')],
    ['a key in another spelling', (text) => text.replace('"occurrence"', '"occurrenc\\u0065"')],
    ['a number in another spelling', (text) => text.replace('"version": 1', '"version": 1.0')],
    ['a prototype', (text) => text.replace('"version"', '"__proto__": { "environment": "sandbox" },\n  "version"')],
    ['signatures that are none', (text) => text.replace('"signatures": [', '"signatures": [1, ')],
    ['signatures without end', (text) => text.replace('"signatures": [', `"signatures": [${'"", '.repeat(30)}`)],
  ])('%s: is not a plan', async (_label, change) => {
    await planned();
    const text = readFileSync(project.path('hello.plan.json'), 'utf8');
    expect(change(text)).not.toBe(text);
    expect(parsePlanFile(change(text), 'p')).toMatchObject({ code: 'plan-invalid' });
  });

  it('in its lay-out or the order of its keys is the same plan', async () => {
    const planFile = await planned();
    const { signatures, fingerprint, ...rest } = planFile;
    const turned = { signatures, fingerprint, ...rest } as PlanFile;
    for (const text of [
      JSON.stringify(planFile),
      JSON.stringify(turned),
      JSON.stringify(planFile, null, 2).replaceAll('\n', '\r\n'),
    ]) {
      expect(parsePlanFile(text, 'p')).toEqual(planFile);
    }
    write(turned);
    expect(await checkApproval('hello.plan.json', asPerson(keys.ben))).toMatchObject({ judgement: { approved: true } });
  });
});

describe('the approver', () => {
  it('is shown the plan, and signs what they were shown', async () => {
    await planned([]);
    const asked: unknown[] = [];
    const confirm: ApproveOptions['confirm'] = async (question) => asked.push(question) > 0;
    const result = await approve('hello.plan.json', asPerson(keys.ben, { confirm }));
    expect(asked).toEqual([
      expect.objectContaining({ compared: true, judgement: expect.objectContaining({ approved: false }) }),
    ]);
    expect(result.judgement).toMatchObject({ approved: true });
  });

  it('signs no plan of other inputs', async () => {
    await planned([]);
    project.write('hello/people.csv', `${PEOPLE}+447700900003,Cy\n`);
    await expect(approve('hello.plan.json', asPerson(keys.ben))).rejects.toMatchObject({
      exit: 2,
      code: 'input-changed',
    });
  });

  it('signs no plan that claims other figures', async () => {
    const { signatures: _, fingerprint: __, version: ___, ...facts } = await planned([]);
    write(createPlanFile({ ...facts, estimate: { ...facts.estimate, send: 1, parts: 1 } }));
    await expect(approve('hello.plan.json', asPerson(keys.ben))).rejects.toThrow(/figures of the plan .*: send, parts/);
  });

  it('must say so to sign what cannot be compared', async () => {
    await planned([]);
    project.write('hello/people.csv', 'msisdn\n');
    await expect(approve('hello.plan.json', asPerson(keys.ben))).rejects.toMatchObject({ exit: 2 });
    const result = await approve('hello.plan.json', asPerson(keys.ben, { unchecked: true }));
    expect(result).toMatchObject({ compared: false, judgement: { approved: true } });
  });

  it('may have the list elsewhere', async () => {
    await planned([]);
    project.write('copy.csv', PEOPLE);
    project.write('hello/people.csv', 'msisdn,first\n');
    const result = await approve('hello.plan.json', asPerson(keys.ben, { recipients: 'copy.csv' }));
    expect(result.judgement).toMatchObject({ approved: true });
  });

  it('must be a person whose signature counts', async () => {
    await planned([]);
    const before = readFileSync(project.path('hello.plan.json'), 'utf8');
    await expect(approve('hello.plan.json', asPerson(keys.mallory))).rejects.toMatchObject({
      exit: 2,
      code: 'not-approved',
    });
    expect(readFileSync(project.path('hello.plan.json'), 'utf8')).toBe(before);
  });

  it('signs once: the same key again changes nothing', async () => {
    const planFile = await planned([keys.ben, keys.ben]);
    expect(planFile.signatures).toHaveLength(2);
  });

  it('is not the planner, and two approvers may be both', async () => {
    const sign = { key: keys.ana.path };
    write(await plan('hello', { cwd: project.root, now: () => NOW, environment: 'production', sign }));
    const alone = await approve('hello.plan.json', asPerson(keys.ana));
    expect(alone.judgement).toMatchObject({ approved: false });
    const both = await approve('hello.plan.json', asPerson(keys.ben));
    expect(both.judgement).toMatchObject({ approved: true });
  });

  it('may sign for environments that ask for none', async () => {
    const planFile = await planned([keys.mallory], 'staging');
    expect(planFile.signatures).toHaveLength(2);
    const options = { ...sending, cwd: project.root, environment: 'staging' };
    expect(await send(planFile, options)).toMatchObject({ posted: 2 });
  });
});
