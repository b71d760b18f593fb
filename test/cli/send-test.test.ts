import { beforeEach, describe, expect, it } from 'vitest';
import { accepted, useApi } from '../helpers/api.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { handbillHere } from './in-process.ts';

const ME = '+447400900001';
const YOU = '+447400900002';
const MAIL = 'me@example.com';
const PEOPLE = ['+447400123456', '+447400123457'];
const MAILS = ['ann@example.com', 'ben@example.com'];

const LIST = `id,msisdn,name,email
1,${PEOPLE[0]},Ann,${MAILS[0]}
2,${PEOPLE[1]},Ben,${MAILS[1]}
3,${ME},Me,${MAIL}
`;

const HELLO = {
  name: 'hello',
  channel: 'sms',
  from: 'Riverside',
  recipients: { csv: 'people.csv', key: 'id' },
  variants: [
    { name: 'a', template: { text: 'A {{name}} {{msisdn}}' } },
    { name: 'b', template: { text: 'B {{name}} {{email}}' } },
  ],
  fallback: {
    channel: 'email',
    to: 'email',
    from: 'shop@example.com',
    content: { subject: 'Hello {{name}}', text: 'By mail {{msisdn}}' },
  },
  frequency: { max: 1, per: '7d' },
};

/** A template of the provider gets every column as a variable, those with addresses too. */
const OTHER = {
  name: 'other',
  channel: 'messaging-app',
  from: 'Riverside',
  template: { id: 'welcome' },
  recipients: { csv: 'people.csv' },
  frequency: { max: 1, per: '7d' },
  exclude: ['hello'],
};

interface Posted {
  readonly body: { readonly text?: string };
  readonly recipients: readonly {
    readonly msisdn?: string;
    readonly email?: string;
    readonly metaData: Readonly<Record<string, string>>;
  }[];
}

let status = 202;
const api = useApi((body, number) => ({ ...accepted(body, number), status }));
beforeEach(() => {
  status = 202;
});

function projectOf(more: object = {}, real: object = {}): TestProject {
  return createProject({
    'handbill.yaml': JSON.stringify({
      environments: { real: { baseUrl: api.url, apiKey: { env: 'API_KEY' }, ...real } },
      ...more,
    }),
    'hello/campaign.yaml': JSON.stringify(HELLO),
    'hello/people.csv': LIST,
    'other/campaign.yaml': JSON.stringify(OTHER),
    'other/people.csv': LIST,
  });
}

const env = { API_KEY: 'k'.repeat(20) };
const handbill = (here: TestProject, ...args: readonly string[]) => handbillHere(here.root, args, { env });
const sendReal = (here: TestProject, campaign: string, ...args: readonly string[]) =>
  handbill(here, 'send', campaign, '--env', 'real', '--yes', ...args);

function posted(): readonly Posted[] {
  return api.bodies.map((text) => JSON.parse(text) as Posted);
}

function addresses(): readonly (string | undefined)[] {
  return posted().flatMap(({ recipients }) => recipients.map(({ msisdn, email }) => msisdn ?? email));
}

describe('send --test-to', () => {
  it('posts only to testers: no address of the list is in any request, of any variant, fallback or channel', async () => {
    using here = projectOf();
    const hello = await sendReal(here, 'hello', '--test-to', ME, YOU, MAIL, '--quiet');
    const other = await sendReal(here, 'other', '--test-to', ME, '--line', '4', '--quiet');
    expect([hello, other]).toEqual([
      { status: 0, out: '', err: '' },
      { status: 0, out: '', err: '' },
    ]);
    expect(addresses().toSorted()).toEqual([ME, ME, ME, YOU, YOU, MAIL].toSorted());
    for (const address of [...PEOPLE, ...MAILS]) expect(api.bodies.join('\n')).not.toContain(address);
    const said = posted().map(({ body }) => body.text);
    expect(said).toEqual(expect.arrayContaining([`A Ann ${ME}`, `B Ann ${MAIL}`]));
    for (const { recipients } of posted()) {
      for (const { metaData } of recipients) expect(metaData['handbill']).toMatch(/^test-[\w-]{17}$/);
    }
  });

  it('takes the data of the row that is named, and the message of one variant', async () => {
    using here = projectOf();
    await sendReal(here, 'hello', '--test-to', ME, '--key', '2', '--variant', 'b');
    await sendReal(here, 'hello', '--test-to', ME, '--line', '3', '--variant', 'a');
    expect(posted().map(({ body }) => body.text)).toEqual([`B Ben ${ME}`, `A Ben ${ME}`]);
  });

  it('uses up no occurrence, no list and no cap: all recipients get the message afterwards, the tester too', async () => {
    using here = projectOf();
    await sendReal(here, 'hello', '--test-to', ME);
    await sendReal(here, 'other', '--test-to', ME);
    api.bodies.length = 0;
    const other = await sendReal(here, 'other', '--format', 'json');
    expect(JSON.parse(other.out)).toMatchObject({ occurrence: 'once', totals: { accepted: 3, skipped: 0 } });
    expect(addresses().toSorted()).toEqual([...PEOPLE, ME].toSorted());
    // Nor does a cap or a finished run keep a test back.
    api.bodies.length = 0;
    expect(await sendReal(here, 'other', '--test-to', ME, '--quiet')).toMatchObject({ status: 0, err: '' });
    expect(addresses()).toEqual([ME]);
  });

  it('is not judged by the guards of the list, which are about the campaign', async () => {
    using here = projectOf();
    const guarded = { ...OTHER, limits: { minRecipients: 3, change: '10%' } };
    here.write('other/campaign.yaml', JSON.stringify(guarded));
    expect(await sendReal(here, 'other', '--quiet')).toMatchObject({ status: 0, err: '' });
    api.bodies.length = 0;
    expect(await sendReal(here, 'other', '--test-to', ME, '--quiet')).toMatchObject({ status: 0, err: '' });
    expect(addresses()).toEqual([ME]);
  });

  it('is recorded apart: in runs and by its id, and not as the run of its campaign', async () => {
    using here = projectOf();
    const sent = await sendReal(here, 'hello', '--test-to', ME, '--format', 'json', '--variant', 'a');
    const [test] = (JSON.parse(sent.out) as { readonly runs: readonly { run: string; occurrence: string }[] }).runs;
    expect(test?.occurrence).toMatch(/^test-\d{4}-.*Z-variant-a$/);
    for (const args of [['report'], ['report', 'hello'], ['doubt', 'list', 'hello']]) {
      expect(await handbill(here, ...args)).toMatchObject({ status: 2, err: expect.stringContaining('by its id') });
    }
    expect((await handbill(here, 'report', test?.run ?? '')).out).toContain('sent  1  100%');
    await sendReal(here, 'hello');
    const again = await sendReal(here, 'hello', '--test-to', ME, '--variant', 'a');
    expect(again.status).toBe(0);
    const report = await handbill(here, 'report', 'hello', '--format', 'json');
    expect(JSON.parse(report.out)).toMatchObject({ occurrence: 'once' });
    // Its name is for no other campaign, or the list would be sent to under it.
    api.bodies.length = 0;
    const taken = await sendReal(here, 'hello', '--occurrence', test?.occurrence ?? '', '--allow', 'input-changed');
    expect(taken).toMatchObject({ status: 2, err: expect.stringContaining('is the name of a test') });
    expect(api.bodies).toEqual([]);
  });

  it('takes the testers of handbill.yaml that fit where none is named', async () => {
    using here = projectOf({ testers: [ME, MAIL] });
    await sendReal(here, 'other', '--test-to');
    expect(addresses()).toEqual([ME]);
    await sendReal(here, 'hello', '--test-to');
    expect(addresses()).toEqual([ME, ME, ME, MAIL]);
  });

  it('leaves out a tester who is suppressed', async () => {
    using here = projectOf();
    await handbill(here, 'suppress', 'add', ME);
    const sent = await sendReal(here, 'other', '--test-to', ME, YOU, '--format', 'json');
    expect(JSON.parse(sent.out).runs[0].totals).toMatchObject({ accepted: 1, skipped: 1 });
    expect(addresses()).toEqual([YOU]);
  });

  it('asks first, and posts nothing without a yes', async () => {
    using here = projectOf();
    const sent = await handbill(here, 'send', 'hello', '--env', 'real', '--test-to', ME);
    expect(sent).toMatchObject({ status: 2, err: expect.stringContaining('variant a (sms) to +44••••••0001') });
    expect(sent.err).not.toContain(ME);
    expect(api.bodies).toEqual([]);
  });

  it('says what the API refused, and stops there', async () => {
    using here = projectOf();
    status = 401;
    const sent = await sendReal(here, 'hello', '--test-to', ME);
    expect(sent.status).toBe(5);
    expect(sent.out).toContain('send another test');
    expect(sent.out).not.toContain('handbill send');
    expect(api.bodies).toHaveLength(1);
  });

  it('goes to an environment with approvers only where handbill.yaml names the testers', async () => {
    const approvers = ['ana', 'ben'].map((name, at) => ({ name: `${name}@example.com`, key: KEYS[at] }));
    using here = projectOf({ testers: [ME] }, { approvers });
    const stranger = await sendReal(here, 'hello', '--test-to', ME, YOU);
    expect(stranger).toMatchObject({ status: 2, err: expect.stringContaining('is not one of its testers') });
    expect(api.bodies).toEqual([]);
    expect(await sendReal(here, 'hello', '--test-to', ME, '--quiet')).toMatchObject({ status: 0, err: '' });
    expect(await sendReal(here, 'hello')).toMatchObject({ status: 2, err: expect.stringContaining('not-approved') });
    expect(addresses()).toEqual([ME, ME]);
  });

  it.each([
    [['--test-to', '12'], 'of a tester'],
    [['--test-to', MAIL, '--variant', 'a'], 'of a tester'],
    [['--test-to'], 'There is no tester'],
    [['--test-to', ME, '--line', '9'], 'no row that begins at line 9'],
    [['--test-to', ME, '--key', 'x'], 'no row with the key "x"'],
    [['--test-to', ME, '--variant', 'c'], 'no variant "c"'],
    [['--test-to', ME, '--limit', '1'], '--limit is not for a test'],
    [['--test-to', ME, '--allow', 'input-changed'], '"input-changed"'],
    [['--line', '2'], 'add --test-to'],
  ])('refuses %j', async (args, says) => {
    using here = projectOf();
    expect(await sendReal(here, 'hello', ...args)).toMatchObject({ status: 2, err: expect.stringContaining(says) });
    expect(api.bodies).toEqual([]);
  });
});

/** Public keys of people who are not asked for anything here. */
const KEYS = ['a', 'b'].map((letter) => {
  const parts = [Buffer.from('ssh-ed25519'), Buffer.alloc(32, letter)];
  const sized = parts.flatMap((part) => [Buffer.from([0, 0, 0, part.length]), part]);
  return `ssh-ed25519 ${Buffer.concat(sized).toString('base64')}`;
});
