import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ApproveOptions, approve, checkApproval } from '../../src/operations/approve.ts';
import { plan, readPlanFile } from '../../src/operations/plan.ts';
import { send } from '../../src/operations/send.ts';
import { readSealedPlan, type SealedPlan, sealPlan } from '../../src/plan/seal.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import { createHasher, writeHash } from '../../src/suppression/hash.ts';
import { CLI, runCli } from '../helpers/cli.ts';
import { runHere } from '../helpers/here.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { type Key, type Keyring, NOW, openKeyring } from './keys.ts';

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
async function planned(approvers: readonly Key[] = [keys.ben], environment = 'production'): Promise<SealedPlan> {
  const id = [environment, ...approvers.map(({ path }) => path)].join(' ');
  const known = signed.get(id);
  if (known === undefined) {
    const sign = { key: keys.cem.path, env: process.env, interactive: false };
    write(await plan('hello', { cwd: project.root, now: () => NOW, environment, sign }));
    for (const key of approvers) await approve('hello.plan.json', asPerson(key));
    signed.set(id, readFileSync(project.path('hello.plan.json'), 'utf8'));
  } else {
    project.write('hello.plan.json', known);
  }
  return readPlanFile('hello.plan.json', project.root);
}

function write(sealed: SealedPlan): void {
  writeFileSync(project.path('hello.plan.json'), `${JSON.stringify(sealed, null, 2)}\n`);
}

describe('on the command line', () => {
  it('a plan is made, approved by somebody else, and sent once', async () => {
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

  it('nothing is signed that nobody confirmed, and the file stays as it is', async () => {
    await planned([]);
    const before = readFileSync(project.path('hello.plan.json'), 'utf8');
    const refused = await run('approve', 'hello.plan.json', '--sign', keys.ben.path);
    expect(refused).toMatchObject({ status: 2 });
    expect(refused.stderr).toContain('error[not-confirmed]');
    expect(readFileSync(project.path('hello.plan.json'), 'utf8')).toBe(before);
  });

  it('the key may stand in HANDBILL_SIGNING_KEY; without one, it is asked for', async () => {
    await planned([]);
    const { key: _, ...keyless } = asPerson(keys.ben);
    await expect(approve('hello.plan.json', keyless)).rejects.toMatchObject({ exit: 2, code: 'usage' });
    const env = { ...process.env, HANDBILL_SIGNING_KEY: keys.ben.path };
    expect(await approve('hello.plan.json', { ...keyless, env })).toMatchObject({ judgement: { approved: true } });
  });

  it('a plan whose lists hold hashes is compared with the key of whoever approves', async () => {
    const secret = 'a key of 16 bytes or more';
    const { keyId, hash } = createHasher(Buffer.from(secret));
    project.write('outs.csv', `hash\n${writeHash({ keyId, hash: hash('+447700900002') })}\n`);
    project.write(
      'handbill.yaml',
      `${projectFile(api.url)}suppressionKey: { env: LIST_KEY }\nsuppressions: outs.csv\n`,
    );
    const env = { ...process.env, LIST_KEY: secret };
    const sign = { key: keys.cem.path, env, interactive: false };
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
    const started = await runCli(['send', 'other'], { cwd: project.root, env });
    expect(started, started.stderr).toMatchObject({ status: 0 });
    const made = await runCli(['plan', 'hello', '-o', 'p.json'], { cwd: project.root, env });
    expect(made, made.stderr).toMatchObject({ status: 0 });
    expect((await readPlanFile('p.json', project.root)).estimate).toMatchObject({ send: 1 });
    expect(await runCli(['approve', 'p.json', '--check'], { cwd: project.root, env })).toMatchObject({ status: 0 });
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
    expect((await readPlanFile('p.json', project.root)).signatures).toHaveLength(1);
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
    const sealed = await planned();
    const { cwd, environment } = { cwd: project.root, environment: 'production' };
    const { signatures: _, ...unsigned } = sealed;
    await expect(send('hello', { ...sending, cwd, environment })).rejects.toMatchObject({
      exit: 2,
      code: 'not-approved',
    });
    await expect(send('hello', { ...sending, cwd, environment, sealed: unsigned })).rejects.toMatchObject({
      exit: 2,
      code: 'not-approved',
    });
    await expect(send('hello', { ...sending, cwd, environment, sealed, occurrence: 'twice' })).rejects.toMatchObject({
      exit: 2,
      code: 'usage',
    });
    await expect(send('hello', { ...sending, cwd, environment, sealed, amend: true })).rejects.toMatchObject({
      exit: 2,
      code: 'usage',
    });
    project.write('hello/hello.hbs', 'Goodbye {{first}}');
    await expect(send('hello', { ...sending, cwd, environment, sealed })).rejects.toMatchObject({
      exit: 2,
      code: 'input-changed',
    });
    project.write('hello/hello.hbs', 'Hello {{first}}');
    expect(received()).toBe(0);
    expect(await send('hello', { ...sending, cwd, environment, sealed })).toMatchObject({ posted: 2 });
  });

  it('takes no list that was put in the place of the approved one after it was compared', async () => {
    const sealed = await planned();
    const env = {
      ...process.env,
      // The key is read when the list has been compared, and before it is loaded.
      get HANDBILL_API_KEY() {
        project.write('hello/people.csv', `${PEOPLE}+447700900003,Cy\n`);
        return API_KEY;
      },
    };
    const refused = send('hello', { ...sending, env, cwd: project.root, environment: 'production', sealed });
    await expect(refused).rejects.toMatchObject({ exit: 2, code: 'input-changed' });
    expect(received()).toBe(0);
    project.write('hello/people.csv', PEOPLE);
    expect(await send('hello', { ...sending, cwd: project.root, environment: 'production', sealed })).toMatchObject({
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

  it('asks for the signers of now: whoever was taken out does not count', async () => {
    const sealed = await planned();
    project.write(
      'handbill.yaml',
      projectFile(api.url).replace(/\{ name: ben[^}]*\}/, `{ name: dan, key: "${keys.mallory.text}" }`),
    );
    const refused = send('hello', { ...sending, cwd: project.root, environment: 'production', sealed });
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
    const sealed = await planned();
    const options = { ...sending, cwd: project.root, environment: 'production', sealed };
    await expect(send('hello', { ...options, now: () => Date.UTC(2027, 0, 2) })).rejects.toMatchObject({
      code: 'not-approved',
    });
    project.write('approvers', 'everybody');
    await expect(send('hello', options)).rejects.toMatchObject({ exit: 2, code: 'invalid-value' });
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
      seal: _,
      version: __,
      ...facts
    } = await plan('.', {
      cwd: evil.root,
      now: () => NOW,
      environment: 'production',
    });
    for (const file of ['evil/campaign.yaml', evil.path('campaign.yaml')]) {
      write(sealPlan({ ...facts, campaign: { ...facts.campaign, file } }));
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
    const made = await runCli(['plan', project.path('hello'), '--env', 'staging', '-o', path], { cwd: outside.root });
    expect(made, made.stderr).toMatchObject({ status: 0 });
    const env = { HANDBILL_API_KEY: API_KEY };
    const refused = await runCli(['send', '--plan', path, '--yes'], { cwd: outside.root, env });
    expect(refused).toMatchObject({ status: 2 });
    expect(refused.stderr).toContain('another project');
    outside.write('sub/handbill.yaml', projectFile(api.url));
    outside.write('sub/hello/campaign.yaml', CAMPAIGN);
    outside.write('sub/hello/hello.hbs', 'Hello {{first}}');
    outside.write('sub/hello/people.csv', PEOPLE);
    await runCli(['plan', 'sub/hello', '--env', 'staging', '-o', path], { cwd: outside.root });
    const sent = await runCli(['send', '--plan', path, '--yes'], { cwd: outside.root, env });
    expect(sent, sent.stderr).toMatchObject({ status: 0 });
  });
});

describe('a plan that was changed after it was signed', () => {
  const changes: readonly [label: string, change: (plan: SealedPlan) => object][] = [
    ['campaign', (p) => ({ ...p, campaign: { ...p.campaign, name: 'other' } })],
    ['file', (p) => ({ ...p, campaign: { ...p.campaign, file: 'evil/campaign.yaml' } })],
    ['environment', (p) => ({ ...p, environment: 'staging' })],
    ['occurrence', (p) => ({ ...p, occurrence: 'twice' })],
    ['recipients', (p) => ({ ...p, recipients: '/tmp/others.csv' })],
    ['skipInvalid', (p) => ({ ...p, skipInvalid: true })],
    ['sealedAt', (p) => ({ ...p, sealedAt: new Date(NOW + 1).toISOString() })],
    ['inputs', (p) => ({ ...p, inputs: p.inputs.map((one) => ({ ...one, sha256: '0'.repeat(64) })) })],
    ['fewer inputs', (p) => ({ ...p, inputs: p.inputs.slice(1) })],
    ['estimate', (p) => ({ ...p, estimate: { ...p.estimate, send: 1 } })],
    ['an unknown key', (p) => ({ ...p, approved: true })],
    ['an unknown key inside', (p) => ({ ...p, campaign: { ...p.campaign, approved: true } })],
  ];

  it.each(changes)('%s: is no longer whole, and sealed anew no longer signed', async (_label, change) => {
    const sealed = await planned();
    const { signatures = [], ...changed } = change(sealed) as SealedPlan;
    expect(readSealedPlan(JSON.stringify({ ...changed, signatures }), 'p')).toMatchObject({ code: 'plan-invalid' });
    const { seal: _, version: __, ...content } = changed;
    const anew = { ...sealPlan(content), signatures };
    expect(readSealedPlan(JSON.stringify(anew), 'p')).toEqual(anew);
    write(anew);
    const refused = await checkApproval('hello.plan.json', asPerson(keys.ben, { unchecked: true })).then(
      // The one environment that asks for no approval: the plan then is not for the one it was approved for.
      ({ plan: { environment } }) => ({ code: environment === 'staging' ? 'not-approved' : 'approved' }),
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({ code: 'not-approved' });
    await expect(
      send('hello', { ...sending, cwd: project.root, environment: 'production', sealed: anew }),
    ).rejects.toMatchObject({ exit: 2 });
    expect(received()).toBe(0);
  });

  it.each<[label: string, change: (text: string) => string]>([
    ['something behind it', (text) => `${text}{}`],
    [
      'a key that stands twice',
      (text) => text.replace('"environment":', '"environment": "sandbox",\n  "environment":'),
    ],
    ['a key that stands twice, inside', (text) => text.replace('"name":', '"name": "x", "name":')],
    ['a key in another spelling', (text) => text.replace('"occurrence"', '"occurrenc\\u0065"')],
    ['a number in another spelling', (text) => text.replace('"version": 1', '"version": 1.0')],
    ['a prototype', (text) => text.replace('"version"', '"__proto__": { "environment": "sandbox" },\n  "version"')],
    ['signatures that are none', (text) => text.replace('"signatures": [', '"signatures": [1, ')],
    ['signatures without end', (text) => text.replace('"signatures": [', `"signatures": [${'"", '.repeat(30)}`)],
  ])('%s: is no plan', async (_label, change) => {
    await planned();
    const text = readFileSync(project.path('hello.plan.json'), 'utf8');
    expect(change(text)).not.toBe(text);
    expect(readSealedPlan(change(text), 'p')).toMatchObject({ code: 'plan-invalid' });
  });

  it('in its lay-out or the order of its keys is the same plan', async () => {
    const sealed = await planned();
    const { signatures, seal, ...rest } = sealed;
    const turned = { signatures, seal, ...rest } as SealedPlan;
    for (const text of [
      JSON.stringify(sealed),
      JSON.stringify(turned),
      JSON.stringify(sealed, null, 2).replaceAll('\n', '\r\n'),
    ]) {
      expect(readSealedPlan(text, 'p')).toEqual(sealed);
    }
    write(turned);
    expect(await checkApproval('hello.plan.json', asPerson(keys.ben))).toMatchObject({ judgement: { approved: true } });
  });
});

describe('whoever approves', () => {
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
    const { signatures: _, seal: __, version: ___, ...facts } = await planned([]);
    write(sealPlan({ ...facts, estimate: { ...facts.estimate, send: 1, parts: 1 } }));
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

  it('must be somebody whose signature counts', async () => {
    await planned([]);
    const before = readFileSync(project.path('hello.plan.json'), 'utf8');
    await expect(approve('hello.plan.json', asPerson(keys.mallory))).rejects.toMatchObject({
      exit: 2,
      code: 'not-approved',
    });
    expect(readFileSync(project.path('hello.plan.json'), 'utf8')).toBe(before);
  });

  it('signs once: the same key again changes nothing', async () => {
    const sealed = await planned([keys.ben, keys.ben]);
    expect(sealed.signatures).toHaveLength(2);
  });

  it('is not whoever planned, and two approvers may be both', async () => {
    const sign = { key: keys.ana.path, env: process.env, interactive: false };
    write(await plan('hello', { cwd: project.root, now: () => NOW, environment: 'production', sign }));
    const alone = await approve('hello.plan.json', asPerson(keys.ana));
    expect(alone.judgement).toMatchObject({ approved: false });
    const both = await approve('hello.plan.json', asPerson(keys.ben));
    expect(both.judgement).toMatchObject({ approved: true });
  });

  it('may sign for environments that ask for none', async () => {
    const sealed = await planned([keys.mallory], 'staging');
    expect(sealed.signatures).toHaveLength(2);
    const options = { ...sending, cwd: project.root, environment: 'staging', sealed };
    expect(await send('hello', options)).toMatchObject({ posted: 2 });
  });
});
