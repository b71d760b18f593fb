import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { handbillHere } from '../cli/in-process.ts';
import { type RunningCli, startCli, until } from '../helpers/cli.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { PROOFS, type Proof } from '../providers/webhook-proofs.ts';
import { exchange } from '../webhook/sender.ts';

/*
 * Twilio is down, and Vonage stands in for it: one run, two APIs that share no field name. Both number their messages from
 * one, so that an id alone may be that of either.
 */

const PEOPLE = [0, 1, 2, 3, 4, 5, 6, 7, 8].map((i) => `+44770090020${i}`);
const [ANN = '', BO = '', CY = '', DI = '', ED = '', FAY = '', GUS = '', HAL = '', IDA = ''] = PEOPLE;
const PUBLIC = 'https://hooks.riverside.example/webhooks';

interface Post {
  readonly to: string;
  /** As the request has it. */
  readonly reference: string;
}

interface Answer {
  readonly status: number;
  readonly body: object;
}

/** An API that notes what it received, and answers by number; `null` ends the connection. */
function api(readPost: (body: string) => Post, usual: (id: string) => Answer) {
  const posts: Post[] = [];
  const answers = new Map<string, Answer | null>();
  let taken = 0;
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const post = readPost(body);
      posts.push(post);
      const own = answers.get(post.to);
      if (own === null) {
        response.destroy();
        return;
      }
      if (own === undefined) taken += 1;
      const { status, body: said } = own ?? usual(`id-${taken}`);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said));
    });
  });
  return {
    posts,
    answers,
    server,
    url: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reset() {
      posts.length = 0;
      answers.clear();
      taken = 0;
    },
  };
}

const twilio = api(
  (body) => {
    const form = new URLSearchParams(body);
    const callback = new URL(form.get('StatusCallback') ?? '');
    return { to: form.get('To') ?? '', reference: callback.searchParams.get('handbill') ?? '' };
  },
  (sid) => ({ status: 201, body: { sid, status: 'queued', error_code: null } }),
);
const vonage = api(
  (body) => {
    const { to, client_ref } = JSON.parse(body) as { to: string; client_ref: string };
    return { to: `+${to}`, reference: client_ref };
  },
  (message_uuid) => ({ status: 202, body: { message_uuid } }),
);
const both = [twilio, vonage];
const NO_ACCOUNT: Answer = { status: 400, body: { code: 20005, message: 'The account is not active.', status: 400 } };
const STOPPED_AT_TWILIO: Answer = { status: 400, body: { code: 21610, message: 'Unsubscribed', status: 400 } };
const STOPPED_AT_VONAGE: Answer = {
  status: 422,
  body: { type: 'https://developer.vonage.com/api-errors/messages#1240', title: 'Illegal Number' },
};

const ENV = {
  TOKEN: 'token-of-a-test',
  SECRET: 'secret-of-a-test',
  HOOK_TWILIO: proofOf('twilio').secret,
  HOOK_VONAGE: proofOf('vonage-messages').secret,
};

function proofOf(name: string): Proof {
  const proof = PROOFS[name];
  if (proof === undefined) throw new Error(`There is no proof of ${name}.`);
  return proof;
}

let here: TestProject;
let listening: RunningCli | null = null;
beforeAll(async () => {
  for (const { server } of both) await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
});
afterAll(() => {
  for (const { server } of both) {
    server.closeAllConnections();
    server.close();
  }
});
beforeEach(() => {
  for (const one of both) one.reset();
  const campaign = (name: string) =>
    `name: ${name}\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{name}}" }\nrecipients: people.csv\nsend: { concurrency: 1 }\nlimits: { stopAfter: { inDoubt: 5 } }\n`;
  here = createProject({
    'people.csv': `msisdn,name\n${PEOPLE.map((to) => `${to},Name\n`).join('')}`,
    'urgent.yaml': campaign('urgent'),
    'later.yaml': campaign('later'),
    'handbill.yaml': `defaultCountry: GB
environments:
  production:
    provider: twilio
    vars: { account: AC0000 }
    secrets: { token: { env: TOKEN } }
    baseUrl: "${twilio.url()}"
    webhook: { url: "${PUBLIC}/production", secrets: [{ env: HOOK_TWILIO }] }
  backup:
    provider: vonage-messages
    vars: { key: abcd0000 }
    secrets: { secret: { env: SECRET } }
    baseUrl: "${vonage.url()}"
    standsInFor: production
    webhook: { url: "${PUBLIC}/backup", secrets: [{ env: HOOK_VONAGE }] }
`,
  });
});
afterEach(async () => {
  listening?.kill('SIGKILL');
  await listening?.done;
  listening = null;
  here[Symbol.dispose]();
});

const run = (line: string) => handbillHere(here.root, line.split(' '), { env: ENV, width: 300 });

interface Row {
  readonly to: string;
  readonly outcome: string;
  readonly reason: string | null;
  readonly messageId: string | null;
  readonly delivery: string | null;
  readonly reference: string;
  readonly postedFrom?: string;
}

async function rows(campaign = 'urgent'): Promise<ReadonlyMap<string, Row>> {
  const { out } = await run(`report ${campaign} --format jsonl`);
  const all = jsonLines<Row>(out);
  return new Map(all.map((row) => [row.to, row]));
}

async function endings(campaign = 'urgent') {
  return [...(await rows(campaign)).values()].map(({ outcome, reason, postedFrom = 'production' }) =>
    [reason === null ? outcome : `${outcome}(${reason})`, postedFrom].join(' '),
  );
}

/** Twilio takes two, leaves one in doubt, knows that one has opted out, and then refuses the account. */
async function halted(): Promise<void> {
  twilio.answers.set(CY, null).set(DI, STOPPED_AT_TWILIO).set(ED, NO_ACCOUNT);
  const { status, out, err } = await run('send urgent --env production --yes');
  expect({ status, said: out + err }).toMatchObject({
    status: 5,
    said: expect.stringContaining('The account is not active.'),
  });
}

/** Vonage takes the rest, but for one that has opted out there. */
async function takenOver(): Promise<void> {
  await halted();
  vonage.answers.set(FAY, STOPPED_AT_VONAGE);
  expect(await run('send urgent --env backup --yes --allow other-provider')).toMatchObject({ status: 4 });
}

async function listen(): Promise<string> {
  const started = startCli(['listen', '--port', '0'], { cwd: here.root, env: ENV });
  listening = started;
  await until('the process listens', () => started.stdout().includes('Ctrl-C'));
  return new URL(/http:\S+/.exec(started.stdout())?.[0] ?? '').origin;
}

/** Posts to the listener as Twilio does: a form, and the reference in the URL that the request named. */
async function fromTwilio(origin: string, form: Readonly<Record<string, string>>, reference?: string): Promise<void> {
  const url = `${PUBLIC}/production${reference === undefined ? '' : `?handbill=${reference}`}`;
  await told(origin, 'twilio', url, `${new URLSearchParams(form)}`, 'application/x-www-form-urlencoded');
}

/** And as Vonage does: JSON with the reference in `client_ref`, and a token that covers the body. */
async function fromVonage(origin: string, json: object): Promise<void> {
  const body = JSON.stringify({ timestamp: new Date().toISOString(), channel: 'sms', ...json });
  await told(origin, 'vonage-messages', `${PUBLIC}/backup`, body, 'application/json');
}

async function told(origin: string, provider: string, url: string, body: string, type: string): Promise<void> {
  const { headers } = proofOf(provider).prove({ method: 'POST', url, body, atMs: Date.now() });
  const { pathname, search } = new URL(url);
  const options = { method: 'POST', headers: { 'content-type': type, ...headers } };
  expect(await exchange(`${origin}${pathname}${search}`, options, (to) => to.end(body))).toMatchObject({ status: 200 });
}

const digits = (number: string): string => number.slice(1);
const referenceFor = (posts: readonly Post[], to: string): string =>
  posts.find((post) => post.to === to)?.reference ?? '';

describe('a run that Twilio began, and Vonage goes on with', () => {
  it('is taken over when a person says so, and reaches each recipient once', async () => {
    await halted();
    const asked = await run('send urgent --env backup --yes');
    expect(asked).toMatchObject({ status: 2, err: expect.stringContaining('--allow other-provider') });
    expect(asked.err).not.toMatch(/input-changed|sent-elsewhere/);
    expect(vonage.posts).toEqual([]);

    vonage.answers.set(FAY, STOPPED_AT_VONAGE);
    await run('send urgent --env backup --yes --allow other-provider');
    // The answer that stopped the run says that nothing was sent.
    expect(twilio.posts.map(({ to }) => to)).toEqual([ANN, BO, CY, DI, ED]);
    expect(vonage.posts.map(({ to }) => to)).toEqual([ED, FAY, GUS, HAL, IDA]);
    expect(await endings()).toEqual([
      'accepted production',
      'accepted production',
      'in-doubt(no-response) production',
      'rejected(opted-out) production',
      'accepted backup',
      'rejected(opted-out) backup',
      'accepted backup',
      'accepted backup',
      'accepted backup',
    ]);
    // Each recipient is found by what their own provider was sent, in its alphabet.
    const known = await rows();
    for (const { to, reference } of [...twilio.posts.slice(0, 4), ...vonage.posts]) {
      expect(known.get(to)?.reference, to).toBe(reference);
    }
    expect(twilio.posts[0]?.reference).toMatch(/^[0-9a-z]{26}$/);
    expect(vonage.posts[0]?.reference).toMatch(/^[\w-]{22}$/);
    expect((await run('doubt list --format jsonl')).out).toContain(referenceFor(twilio.posts, CY));
    // Nothing is left to send, from either of them.
    for (const env of ['production', 'backup']) await run(`send urgent --env ${env} --yes --allow other-provider`);
    expect([twilio.posts.length, vonage.posts.length]).toEqual([5, 5]);
  });

  it('has the reports of both, each in the form and the words of its API', async () => {
    await takenOver();
    const origin = await listen();
    const before = await rows();
    expect([ANN, BO, ED, GUS].map((to) => before.get(to)?.messageId)).toEqual(['id-1', 'id-2', 'id-1', 'id-2']);
    // By the id alone, which Vonage gave out too.
    await fromTwilio(origin, { MessageSid: 'id-1', MessageStatus: 'delivered', To: ANN, From: 'Riverside' });
    await fromTwilio(origin, { MessageSid: 'id-2', MessageStatus: 'undelivered', ErrorCode: '30005' });
    await fromVonage(origin, { message_uuid: 'id-2', status: 'delivered' });
    // By the reference, of a message whose id is another one.
    const client_ref = referenceFor(vonage.posts, HAL);
    await fromVonage(origin, { message_uuid: 'id-3', to: digits(HAL), status: 'rejected', client_ref });
    // Of a message that it refused before Vonage took it.
    await fromTwilio(origin, { MessageSid: 'id-9', MessageStatus: 'failed', To: ED }, referenceFor(twilio.posts, ED));
    const after = await rows();
    expect(PEOPLE.map((to) => after.get(to)?.delivery ?? null)).toEqual([
      ...['delivered', 'undeliverable', null, null, null],
      ...[null, 'delivered', 'rejected', null],
    ]);
  });

  it('leaves a doubt of Twilio a doubt, until Twilio reports the message', async () => {
    await takenOver();
    const origin = await listen();
    const reference = referenceFor(twilio.posts, CY);
    // What Vonage says about the person is about no message of Twilio.
    await fromVonage(origin, { message_uuid: 'id-7', to: digits(CY), status: 'delivered' });
    await fromVonage(origin, { message_uuid: 'id-8', to: digits(CY), status: 'delivered', client_ref: reference });
    await run('send urgent --env backup --yes --retry rejected');
    expect((await rows()).get(CY)).toMatchObject({ outcome: 'in-doubt', delivery: null });
    await fromTwilio(origin, { MessageSid: 'id-5', MessageStatus: 'delivered', To: CY }, reference);
    await run('send urgent --env backup --yes');
    expect((await rows()).get(CY)).toMatchObject({ outcome: 'accepted', messageId: 'id-5', delivery: 'delivered' });
    expect((await rows()).get(CY)?.postedFrom).toBeUndefined();
    expect([...twilio.posts, ...vonage.posts].filter(({ to }) => to === CY)).toHaveLength(1);
  });

  it('shares what its recipients decided: a STOP at one, and an opt-out that only the other knows', async () => {
    await takenOver();
    const origin = await listen();
    await fromTwilio(origin, { MessageSid: 'r-1', From: ANN, To: '+447700900100', Body: 'Stop', OptOutType: 'STOP' });
    await fromVonage(origin, {
      message_uuid: 'r-1',
      from: digits(HAL),
      to: '447700900100',
      message_type: 'text',
      text: 'STOP',
    });
    const optedOut = [ANN, DI, FAY, HAL];
    for (const one of both) one.reset();
    await run('send later --env backup --yes --limit 2');
    await run('send later --env production --yes --allow other-provider');
    expect([...vonage.posts, ...twilio.posts].map(({ to }) => to)).toEqual(
      PEOPLE.filter((to) => !optedOut.includes(to)),
    );
    const skipped = [...(await rows('later')).values()].filter(({ reason }) => reason === 'suppressed');
    expect(skipped.map(({ to }) => to)).toEqual(optedOut);
  });
});

describe('a run that Infobip began with several recipients in a request, until its credit was used up', () => {
  const requests: string[][] = [];
  const infobip = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const [{ destinations }] = JSON.parse(body).messages as [
        { destinations: readonly { readonly to: string; readonly messageId: string }[] },
      ];
      requests.push(destinations.map(({ to }) => `+${to}`));
      // It takes the first, says nothing of the second, and has no credit for those that follow.
      const messages = destinations.flatMap(({ to, messageId }, i) => {
        const [groupName, name] =
          i === 0 ? ['PENDING', 'PENDING_ACCEPTED'] : ['REJECTED', 'REJECTED_NOT_ENOUGH_CREDITS'];
        return i === 1 ? [] : [{ destination: to, messageId, status: { groupName, name, description: name } }];
      });
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ messages }));
    });
  });
  beforeAll(async () => {
    await new Promise<void>((done) => infobip.listen(0, '127.0.0.1', done));
  });
  afterAll(() => {
    infobip.closeAllConnections();
    infobip.close();
  });
  beforeEach(() => {
    requests.length = 0;
    here.write(
      'shared.yaml',
      'name: shared\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\nrecipients: people.csv\nsend: { concurrency: 1, recipientsPerRequest: 4 }\n',
    );
    here.write(
      'handbill.yaml',
      `environments:
  production:
    provider: infobip
    vars: { host: abc.api.infobip.com }
    secrets: { key: { env: SECRET } }
    baseUrl: "http://127.0.0.1:${(infobip.address() as AddressInfo).port}"
  backup:
    provider: twilio
    vars: { account: AC0000 }
    secrets: { token: { env: TOKEN } }
    baseUrl: "${twilio.url()}"
    standsInFor: production
    webhook: { url: "${PUBLIC}/backup", secrets: [{ env: HOOK_TWILIO }] }
`,
    );
  });

  it('goes on at Twilio, which takes one in a request', async () => {
    expect(await run('send shared --env production --yes')).toMatchObject({ status: 5 });
    const early = requests.flat();
    const untouched = PEOPLE.filter((to) => !early.includes(to));
    const previewed = await run('preview shared --env backup');
    expect(previewed).toMatchObject({ status: 0, out: expect.stringContaining('Twilio takes one in a request') });
    const taken = await run('send shared --env backup --yes --allow other-provider');
    expect(taken.err).not.toContain('input-changed');
    const known = await rows('shared');
    const of = (outcome: string) => PEOPLE.filter((to) => known.get(to)?.outcome === outcome);
    expect(of('in-doubt').length).toBeGreaterThan(0);
    expect(twilio.posts.map(({ to }) => to)).toEqual(PEOPLE.filter((to) => known.get(to)?.postedFrom === 'backup'));
    expect(of('accepted').length + of('in-doubt').length).toBe(PEOPLE.length);
    for (const to of untouched) expect(known.get(to)?.postedFrom).toBe('backup');
    for (const { to, reference } of twilio.posts) expect(known.get(to)?.reference).toBe(reference);
    // The id of a message at Infobip is the reference.
    const ofInfobip = PEOPLE.flatMap((to) => known.get(to) ?? []).filter((row) => row.postedFrom === undefined);
    for (const { outcome, messageId, reference } of ofInfobip)
      if (outcome === 'accepted') expect(messageId).toBe(reference);
  });
});
