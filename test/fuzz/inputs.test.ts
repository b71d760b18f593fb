import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Arena, openArena, projectFile } from './arena.ts';
import { template } from './grammar.ts';
import { damage, damaged } from './mutate.ts';
import { runs, TIMEOUT_MS } from './runs.ts';
import { realTarget, startTarget, type Target } from './target.ts';
import { words } from './words.ts';

let target: Target;
let arena: Arena;
beforeAll(async () => {
  target = startTarget();
  arena = await openArena(target);
});
afterAll(async () => {
  await arena[Symbol.asyncDispose]();
  await target[Symbol.asyncDispose]();
});

const NAMES = [
  ...['notification', 'one-time-password', 'reminder', 'marketing', 'survey', 'support'],
  ...['booking', 'delivery', 'invitation', 'members', 'newsletter'],
] as const;
const example = (path: string): string =>
  readFileSync(join(import.meta.dirname, '..', '..', 'campaigns', path), 'utf8');

/** Commands that never send, whatever they are given. The last one asks, and no user answers. */
const LOOKS: readonly (readonly string[])[] = [
  ['validate', 'NAME'],
  ['validate', 'NAME', '--format', 'json', '--allow', 'invalid-rows'],
  ['preview', 'NAME', '--env', 'test', '--limit', '2'],
  ['preview', 'NAME', '--env', 'test', '--format', 'jsonl', '--allow', 'invalid-rows'],
  ['plan', 'NAME', '--env', 'test'],
  ['send', 'NAME', '--env', 'test', '--allow', 'invalid-rows'],
];
const look = fc.constantFrom(...LOOKS);
const of = (name: string, args: readonly string[]): readonly string[] =>
  args.map((arg) => (arg === 'NAME' ? name : arg));

describe('whatever a file holds, a command that looks at it ends as documented and connects to nothing', () => {
  it(
    'campaign.yaml',
    async () => {
      const input = fc.tuple(fc.constantFrom(...NAMES), damage(words('yaml')), look);
      const property = fc.asyncProperty(input, async ([name, { edits, spelling }, args]) => {
        const file = `campaigns/${name}/campaign.yaml`;
        const good = example(`${name}/campaign.yaml`);
        arena.write(file, damaged(good, edits, spelling));
        try {
          await arena.run(of(name, args));
          expect(arena.server.connections).toBe(0);
        } finally {
          arena.write(file, good);
          arena.remove('.handbill');
        }
      });
      await fc.assert(property, runs(60, 500));
    },
    TIMEOUT_MS,
  );

  it(
    'handbill.yaml',
    async () => {
      const good = projectFile(arena.server.port);
      const property = fc.asyncProperty(damage(words('yaml')), look, async ({ edits, spelling }, args) => {
        arena.write('handbill.yaml', damaged(good, edits, spelling));
        try {
          await arena.run(of('notification', args));
          expect(arena.server.connections).toBe(0);
        } finally {
          arena.write('handbill.yaml', good);
          arena.remove('.handbill');
        }
      });
      await fc.assert(property, runs(60, 500));
    },
    TIMEOUT_MS,
  );
});

/** As LOOKS, and a real send: whatever passes the checks is posted, to a server that takes everything. */
const doOrLook = fc.oneof(
  { weight: 3, arbitrary: look },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ['send', 'NAME', '--env', 'test', '--yes', '--allow', 'invalid-rows'],
      ['send', 'NAME', '--env', 'test', '--yes'],
    ),
  },
);

describe('whatever a list or template holds, a command ends as documented and posts only what it counts', () => {
  it(
    'lists',
    async () => {
      const input = fc.tuple(fc.constantFrom(...LISTS), damage(words('csv')), doOrLook);
      const property = fc.asyncProperty(input, async ([[name, file], { edits, spelling }, args]) => {
        await withFile(`campaigns/${file}`, damaged(example(file), edits, spelling), of(name, args));
      });
      await fc.assert(property, runs(60, 500));
    },
    TIMEOUT_MS,
  );

  it(
    'templates, damaged',
    async () => {
      const input = fc.tuple(fc.constantFrom(...TEMPLATES), damage(words('template')), doOrLook);
      const property = fc.asyncProperty(input, async ([[name, file], { edits, spelling }, args]) => {
        await withFile(`campaigns/${file}`, damaged(example(file), edits, spelling), of(name, args));
      });
      await fc.assert(property, runs(50, 300));
    },
    TIMEOUT_MS,
  );

  it(
    'templates, made up',
    async () => {
      const property = fc.asyncProperty(template, doOrLook, async (text, args) => {
        await withFile('campaigns/notification/parcel.hbs', Buffer.from(text), of('notification', args));
      });
      await fc.assert(property, runs(60, 500));
    },
    TIMEOUT_MS,
  );
});

it(
  'a share of it through the real command line, a process for each',
  async () => {
    await using real = realTarget();
    await using there = await openArena(real);
    const input = fc.tuple(fc.constantFrom(...REAL), doOrLook);
    const property = fc.asyncProperty(
      input,
      damage(words('any')),
      async ([[name, file], args], { edits, spelling }) => {
        const good = readFileSync(join(there.root, file));
        const { connections } = there.server;
        there.write(file, damaged(good.toString('utf8'), edits, spelling));
        try {
          await there.run(of(name, args));
          if (!args.includes('--yes')) expect(there.server.connections).toBe(connections);
        } finally {
          there.write(file, good);
          there.remove('.handbill');
        }
      },
    );
    await fc.assert(property, runs(6, 30));
  },
  TIMEOUT_MS,
);

const REAL = [
  ['notification', 'handbill.yaml'],
  ['notification', 'campaigns/notification/campaign.yaml'],
  ['marketing', 'campaigns/marketing/customers.csv'],
  ['support', 'campaigns/support/ticket.hbs'],
] as const;

const LISTS = [
  ['notification', 'notification/people.csv'],
  ['one-time-password', 'one-time-password/sessions.csv'],
  ['reminder', 'reminder/bookings.csv'],
  ['marketing', 'marketing/customers.csv'],
  ['survey', 'survey/guests.csv'],
  ['support', 'support/tickets.csv'],
  ['marketing', 'prices.csv'],
  ['delivery', 'delivery/orders.csv'],
  ['invitation', 'invitation/guests.csv'],
  ['members', 'members/members.csv'],
  ['newsletter', 'newsletter/readers.csv'],
] as const;

const TEMPLATES = [
  ['notification', 'notification/parcel.hbs'],
  ['one-time-password', 'one-time-password/code.hbs'],
  ['reminder', 'reminder/call.hbs'],
  ['marketing', 'marketing/voucher.hbs'],
  ['support', 'support/ticket.hbs'],
  ['notification', 'partials/sign-off.hbs'],
  ['newsletter', 'newsletter/december.mjml'],
] as const;

/** Runs a command with one file as given; what was posted must be what was counted. */
async function withFile(file: string, content: Uint8Array, args: readonly string[]): Promise<void> {
  const { server } = arena;
  const good = readFileSync(join(arena.root, file));
  const before = server.requests.length;
  arena.write(file, content);
  try {
    const ran = await arena.run(args[0] === 'send' ? [...args, '--format', 'json'] : args);
    const posted = server.requests.slice(before);
    // One for each recipient; some of them share a request.
    const references = posted.flatMap(({ body }) => [...body.matchAll(/"handbill":"([^"]+)"/g)].map(([, own]) => own));
    expect(new Set(references).size).toBe(references.length);
    for (const { body } of posted) expect(body).toContain('"handbill":"');
    for (const { body } of posted) expect(() => JSON.parse(body)).not.toThrow();
    if (!args.includes('--yes')) expect(posted).toEqual([]);
    else if (ran.stdout !== '')
      expect(JSON.parse(ran.stdout)).toMatchObject({ totals: { accepted: references.length } });
  } finally {
    arena.write(file, good);
    arena.remove('.handbill');
  }
}
