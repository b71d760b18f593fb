import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Arena, openArena } from './arena.ts';
import { CAMPAIGNS, FILES } from './campaigns.ts';
import { damage, damaged } from './mutate.ts';
import { runs, TIMEOUT_MS } from './runs.ts';
import { startTarget, type Target } from './target.ts';
import { changed, changes, type Tree, yamlOf } from './trees.ts';
import { words } from './words.ts';

let target: Target;
let arena: Arena;
beforeAll(async () => {
  target = startTarget();
  arena = await openArena(target, undefined, FILES);
});
afterAll(async () => {
  await arena[Symbol.asyncDispose]();
  await target[Symbol.asyncDispose]();
});

const KEY = 'SEKRET-of-the-suppression-lists';
const RULES = CAMPAIGNS['RULES'] ?? {};
const SSH = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI';

/** All that handbill.yaml can say of who, when and how much. */
const PROJECT: Tree = {
  defaultCountry: 'GB',
  timeZone: 'Europe/London',
  suppressions: ['campaigns/rich/stop.csv'],
  suppressionKey: { env: 'HANDBILL_SUPPRESSION_KEY' },
  windows: {
    GB: { from: '08:00', to: '21:00', holidays: ['2026-12-25'] },
    FR: [{ from: '10:00', to: '13:00', days: 'weekdays' }],
    other: { from: '09:00', to: '20:00' },
  },
  defaults: { send: { window: { from: '00:00', to: '24:00', timeZone: 'UTC' } }, limits: { maxRecipients: 1_000 } },
  environments: {
    test: {
      ...{ baseUrl: 'http://127.0.0.1:1', apiKey: { env: 'HANDBILL_API_KEY' } },
      approvers: [
        { name: 'ana', key: `${SSH}${'A'.repeat(43)}` },
        { name: 'ben', key: `${SSH}${'B'.repeat(43)}` },
      ],
      planners: { file: 'campaigns/rich/stop.csv' },
      approvals: 1,
    },
  },
};

const VALIDATIONS = ['text', 'json', 'github', 'junit'];
const CALLERS = ['text', 'crontab', 'systemd', 'kubernetes', 'github-actions'];

/** What looks at rules and posts nothing. */
const LOOKS: readonly (readonly string[])[] = [
  ...VALIDATIONS.map((format) => ['validate', 'rich', '--format', format]),
  ...CALLERS.map((format) => ['schedule', 'rich', '--format', format]),
  ['schedule', 'rich', '--format', 'kubernetes', '--image', 'a/b', '--ledger', 'postgres://x'],
  ['due', 'rich', '--dry-run', '--format', 'json'],
  ['due', '--dry-run', '--at', '2026-03-29T01:30:00Z'],
  ['preview', 'rich', '--at', '2026-10-25T01:30:00Z'],
  ['preview', 'rich', '--env', 'test', '--format', 'json'],
  ['plan', 'rich', '--env', 'test'],
  ['suppress', 'check', '--format', 'json'],
  ['suppress', 'import', 'campaigns/rich/stop.csv'],
  ['suppress', 'export', '--hashed'],
  ['send', 'rich', '--env', 'test', '--yes'],
];

const PLACES = { campaign: 'campaigns/rich/campaign.yaml', project: 'handbill.yaml', list: 'campaigns/rich/stop.csv' };
const LIST = FILES[PLACES.list] ?? '';
const HASHES = `msisdn,email,hash,reason,until
+447400100009,zoe@example.com,,"a, ""b""",2031-01-31
,,hb1:00000000:${'0'.repeat(64)},,
`;

/** One look at files as they are given; arena.run() says what must not be. */
async function lookAt(args: readonly string[], files: Readonly<Record<string, string | Uint8Array>>): Promise<number> {
  for (const [name, content] of Object.entries(files)) arena.write(name, content);
  try {
    const ran = await arena.run(args, { HANDBILL_SUPPRESSION_KEY: KEY });
    expect(ran.stdout + ran.stderr).not.toContain(KEY);
    expect(arena.server.connections).toBe(0);
    return ran.status ?? 1;
  } finally {
    arena.remove('.handbill');
  }
}

describe('whatever rules say, a command that looks at them ends as documented, and shows no key', () => {
  it(
    'of a campaign and of its project',
    async () => {
      let fine = 0;
      const look = fc.constantFrom(...LOOKS);
      const property = fc.asyncProperty(changes, changes, look, async (campaign, project, args) => {
        const status = await lookAt(args, {
          [PLACES.campaign]: yamlOf(changed(RULES, campaign)),
          [PLACES.project]: yamlOf(changed(PROJECT, project)),
          [PLACES.list]: LIST,
        });
        if (status === 0) fine += 1;
      });
      await fc.assert(property, runs(30, 1_500));
      expect(fine).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );

  it(
    'in suppression lists, damaged',
    async () => {
      const look = fc.constantFrom(...LOOKS.filter(([command]) => command === 'suppress' || command === 'preview'));
      const list = fc.constantFrom(LIST, HASHES);
      const property = fc.asyncProperty(list, damage(words('csv')), look, async (good, { edits, spelling }, args) => {
        await lookAt(args, {
          [PLACES.campaign]: yamlOf(RULES),
          [PLACES.project]: yamlOf(PROJECT),
          [PLACES.list]: damaged(good, edits, spelling),
        });
      });
      await fc.assert(property, runs(20, 750));
    },
    TIMEOUT_MS,
  );
});
