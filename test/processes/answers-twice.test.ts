import type { Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type RawServer, startRawServer } from '../helpers/raw-server.ts';
import { createScene, type Scene } from '../oracle/scene.ts';

// Each test starts processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 });

const ROWS = 12;
/** The request that is answered twice, from 1. */
const TWICE = 4;

const open: (RawServer | Scene)[] = [];

afterEach(async () => {
  for (const thing of open.splice(0)) await ('behaviour' in thing ? thing.close() : thing[Symbol.dispose]());
});

/** One recipient, as the request names it. */
interface Named {
  readonly to: string;
  readonly reference: string;
}

interface Said {
  readonly status: number;
  readonly body: object;
}

/** What an API says to request `number`. */
type Says = (number: number, named: readonly Named[]) => Said;

const accepts: Says = (number) => ({ status: 202, body: { id: `m-${number}` } });
const refusing =
  (body: (named: Named) => object): Says =>
  (number, named) =>
    number === TWICE ? { status: 422, body: body(named[0] ?? { to: '', reference: '' }) } : accepts(number, named);

/**
 * An API that answers request `TWICE` once more in the place of the next answer, so that each later answer of the
 * connection is the one to the request before; and what it said to each recipient.
 */
async function play(says: Says, several = 1): Promise<{ scene: Scene; truth: ReadonlyMap<string, Said> }> {
  const truth = new Map<string, Said>();
  const held = new Map<Socket, string>();
  let number = 0;
  const server = await startRawServer({
    behaviour({ body, socket }) {
      number += 1;
      const references = [...body.matchAll(/"handbill":"([^"]+)"/g)].map(([, reference = '']) => reference);
      const named = [...body.matchAll(/"msisdn":"([^"]+)"/g)].map(([, to = ''], at) => ({
        to,
        reference: references[at] ?? '',
      }));
      const said = says(number, named);
      for (const { to } of named) truth.set(to, said);
      const json = JSON.stringify(said.body);
      const text = `HTTP/1.1 ${said.status} Said\r\ncontent-type: application/json\r\ncontent-length: ${json.length}\r\n\r\n${json}`;
      socket.write(held.get(socket) ?? text);
      if (number === TWICE || held.has(socket)) held.set(socket, text);
      const isLast = truth.size === ROWS;
      if (isLast && held.has(socket)) setTimeout(() => socket.write(text), 10);
    },
  });
  const request = several === 1 ? '' : `, recipientsPerRequest: ${several}`;
  const scene = createScene({
    rows: ROWS,
    baseUrl: `http://127.0.0.1:${server.port}`,
    receipts: '/nowhere',
    ...(several === 1 ? {} : { message: ['channel: sms', 'from: Riverside', 'template: { text: Hello }'] }),
    campaign: `send: { concurrency: 1, timeout: 10s${request} }\nlimits: { stopAfter: { inDoubt: 50 } }`,
  });
  open.push(server, scene);
  return { scene, truth };
}

/** Recipients whose outcome is not what the API said of them; doubts are not counted. */
function mixedUp(scene: Scene, truth: ReadonlyMap<string, Said>): readonly string[] {
  return scene
    .endings()
    .filter(({ outcome, messageId, httpStatus, key }) => {
      const { status = 0, body = {} } = truth.get(key ?? '') ?? {};
      const id = 'id' in body || messageId !== null ? `"${messageId}"` : '';
      if (outcome === 'accepted') return status !== 202 || !JSON.stringify(body).includes(id);
      return outcome === 'rejected' && httpStatus !== status;
    })
    .map(({ key }) => String(key));
}

function doubts(scene: Scene): readonly string[] {
  return scene.endings().flatMap(({ outcome, reason, line }) => (outcome === 'in-doubt' ? [`${line} ${reason}`] : []));
}

describe('an answer that comes twice', () => {
  const cases: readonly (readonly [label: string, says: Says])[] = [
    ['with a message id', accepts],
    ['that refuses, and names the number', refusing(({ to }) => ({ title: 'no', to }))],
    ['that refuses, and names the number as APIs write it', refusing(({ to }) => ({ to: to.replace('+44', '0') }))],
    ['that refuses, and names the reference', refusing(({ reference }) => ({ metaData: { handbill: reference } }))],
    [
      'that accepts without an id, and names the number',
      (_number, [one]) => ({ status: 202, body: { messages: [{ to: one?.to, status: 'queued' }] } }),
    ],
  ];
  it.each(cases)(
    '%s: the next recipient is in doubt, and no recipient gets the outcome of another',
    async (_label, says) => {
      const { scene, truth } = await play(says);
      const sent = await scene.send();
      expect(sent, sent.stderr).toMatchObject({ status: 4 });
      expect(doubts(scene)).toEqual([`${TWICE + 2} mismatch`]);
      expect(mixedUp(scene, truth)).toEqual([]);
    },
  );

  it('to several recipients: all of the next request are in doubt', async () => {
    const { scene, truth } = await play(
      (_number, named) => ({ status: 202, body: { messages: named.map(({ to }) => ({ to, id: `m-${to}` })) } }),
      2,
    );
    expect(await scene.send()).toMatchObject({ status: 4 });
    expect(doubts(scene)).toEqual([`${2 * TWICE + 2} mismatch`, `${2 * TWICE + 3} mismatch`]);
    expect(mixedUp(scene, truth)).toEqual([]);
  });

  it('to several recipients, but with the name of none', async () => {
    const { scene, truth } = await play(accepts, 2);
    expect(await scene.send()).toMatchObject({ status: 4 });
    expect(doubts(scene)).toEqual([`${2 * TWICE + 2} mismatch`, `${2 * TWICE + 3} mismatch`]);
    expect(mixedUp(scene, truth)).toEqual([]);
  });

  it('that says nothing by which it could be told: a warning names the ids in question', async () => {
    const { scene, truth } = await play(refusing(() => ({ title: 'no' })));
    const sent = await scene.send();
    expect(mixedUp(scene, truth)).not.toEqual([]);
    expect(sent.stderr).toContain('warning[unasked-answer]');
    expect(sent.stderr).toContain('message ids m-1, m-2, m-3, m-5');
  });
});

it('an answer that names another recipient than its request: in doubt', async () => {
  const { scene } = await play((number, [one]) => ({
    status: 202,
    body: { id: `m-${number}`, to: number === TWICE - 1 ? '+447400999999' : one?.to },
  }));
  await scene.send();
  expect(doubts(scene)).toContain(`${TWICE} mismatch`);
});
