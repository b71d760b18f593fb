import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canonical } from '../../src/plan/settings.ts';
import { type Arena, openArena } from './arena.ts';
import { damage, damaged } from './mutate.ts';
import { runs, TIMEOUT_MS } from './runs.ts';
import { startTarget, type Target } from './target.ts';
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

const COMMANDS = [
  ...['validate', 'preview', 'plan', 'send', 'report', 'runs', 'suppress', 'completion', 'help'],
  ...['diff', 'approve', 'schedule', 'due', 'purge', 'pause', 'resume'],
] as const;
const SUBCOMMANDS = ['add', 'remove', 'list', 'import', 'export', 'check', 'bash', 'send', 'nope'] as const;
const OPTIONS = [
  ...['--env', '--occurrence', '--limit', '--concurrency', '--rate', '--if-locked', '--allow', '--retry'],
  ...['--recipients', '--quiet', '-q', '--ledger', '--format', '--plan'],
  ...'--older-than --with-open --dry-run --campaign --hashed --check --sign --unchecked --next'.split(' '),
  ...['--environment-file', '--image', '--folder', '--runner', '--wait'],
  ...['--key', '--line', '--at', '--outcome', '--reason', '--until', '--full', '--help', '-h', '--version', '--', '-'],
  ...'--api-key --no-quiet --winner --=x --env= --limit=1 -qq --upload-pack=x --- --__proto__'.split(' '),
];
const VALUES = [
  ...['github', 'junit', 'markdown', 'crontab', 'systemd', 'kubernetes', 'github-actions', '90d', 'P13W', '1s'],
  ...'HEAD HEAD~1.. ... @{-1} :/x --output=x contact:x hb1:00000000: campaigns/marketing/stop.csv'.split(' '),
  ...'test sandbox production once 1 0 -1 1e9 99999999999 50/s 1/h 0/s skip fail'.split(' '),
  ...'json jsonl csv html text xml +447700900123 2027-01-31 2026-12-01T09:00:00Z notification'.split(' '),
  ...[
    'campaigns/marketing',
    'campaigns/prices.csv',
    'handbill.yaml',
    '/dev/null',
    '/dev/zero',
    '/proc/self/mem',
    '.',
    '..',
  ],
  ...[
    '/',
    '~',
    '*',
    '$HOME',
    '../../x',
    'a\u001b]0;x\u0007',
    '\u202e',
    '{{name}}',
    "'); drop table runs;--",
    'x'.repeat(5_000),
  ],
];

const argument = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...OPTIONS) },
  { weight: 3, arbitrary: fc.constantFrom(...VALUES) },
  { weight: 1, arbitrary: fc.constantFrom(...SUBCOMMANDS) },
  // No NUL: no operating system passes it on.
  { weight: 1, arbitrary: fc.constantFrom(...words('any')).filter((word) => !word.includes('\0')) },
  { weight: 1, arbitrary: fc.string({ maxLength: 10, unit: 'grapheme' }) },
);

/** Mostly a command first; never the sandbox, which serves until it is told to stop, and never `--yes`. */
const commandLine = fc
  .tuple(fc.option(fc.constantFrom(...COMMANDS), { freq: 20, nil: '' }), fc.array(argument, { maxLength: 7 }))
  .map(([command, rest]) => (command === '' ? rest : [command, ...rest]))
  // Without it, what is due is sent to the sandbox.
  .map((args) => (args[0] === 'due' ? ['due', '--dry-run', ...args.slice(1)] : args))
  .filter((args) => !args.includes('sandbox') || (args[0] !== 'sandbox' && args[0] !== 'send'));

it(
  'whatever the command line is, it ends as documented',
  async () => {
    const property = fc.asyncProperty(commandLine, async (args) => {
      await arena.run(args);
      expect(arena.server.connections).toBe(0);
      arena.remove('.handbill');
    });
    await fc.assert(property, runs(200, 2_000));
  },
  TIMEOUT_MS,
);

describe('a plan file is sent as it was made or refused, whatever it holds', () => {
  let planFile = '';
  beforeAll(async () => {
    planFile = (await arena.run(['plan', 'notification', '--env', 'test'])).stdout;
    expect(JSON.parse(planFile)).toMatchObject({ campaign: { name: 'notification' } });
  });

  const send = async (plan: string | Uint8Array): Promise<number | null> => {
    const before = arena.server.requests.length;
    arena.write('.plan.json', plan);
    try {
      const { status } = await arena.run(['send', '--plan', '.plan.json', '--yes', '--format', 'json']);
      const posted = arena.server.requests.slice(before).map(({ body }) => body);
      expect(new Set(posted).size).toBe(posted.length);
      expect(posted.length).toBeLessThan(30);
      return status;
    } finally {
      arena.remove('.handbill');
    }
  };

  it(
    'damaged',
    async () => {
      const property = fc.asyncProperty(damage(words('json')), async ({ edits, spelling }) => {
        const plan = damaged(planFile, edits, spelling);
        const same = sameJson(plan, planFile);
        const status = await send(plan);
        if (!same) expect(status).toBe(2);
      });
      await fc.assert(property, runs(50, 700));
    },
    TIMEOUT_MS,
  );

  it.each([
    ['an input that is none', { inputs: [null] }],
    ['an input without a name', { inputs: [{ role: 'campaign' }] }],
  ])('refused: %s', async (_, change) => {
    const { fingerprint: _old, ...plan } = JSON.parse(planFile) as Record<string, unknown>;
    const changed = { ...plan, ...change };
    expect(await send(JSON.stringify({ ...changed, fingerprint: fingerprintOf(changed) }))).toBe(2);
  });

  it('refused: deeper than the call stack', async () => {
    const depth = 100_000;
    expect(await send(planFile.replace('{', `{"deep":${'['.repeat(depth)}${']'.repeat(depth)},`))).toBe(2);
  });

  it(
    'damaged, with a fingerprint that fits',
    async () => {
      const property = fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        const { fingerprint: _, ...plan } = JSON.parse(planFile) as Record<string, unknown>;
        for (const { path, value } of changes) set(plan, path, structuredClone(value));
        await send(JSON.stringify({ ...plan, fingerprint: fingerprintOf(plan) }));
      });
      await fc.assert(property, runs(50, 700));
    },
    TIMEOUT_MS,
  );
});

const PATHS = [
  ...['version', 'campaign', 'campaign.name', 'campaign.file', 'environment', 'occurrence', 'recipients', 'allow'],
  ...['plannedAt', 'inputs', 'inputs.0', 'inputs.0.role', 'inputs.0.file', 'inputs.0.sha256', 'inputs.3', 'estimate'],
  ...['estimate.send', 'estimate.costMicros', 'estimate.variants', 'estimate.fallback', 'estimate.deferred'],
  ...['winner', 'extra', '__proto__', 'toString'],
];
const change = fc.record({
  path: fc.constantFrom(...PATHS),
  value: fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom('campaigns/survey', '../x', '/etc/passwd', 'sandbox', 'once', 'x'.repeat(5_000), null, [null], {}),
  ),
});

function fingerprintOf(plan: object): string {
  return createHash('sha256').update(canonical(plan)).digest('hex');
}

function set(plan: Record<string, unknown>, path: string, value: unknown): void {
  const [first = '', ...rest] = path.split('.');
  if (rest.length === 0) plan[first] = value;
  else if (typeof plan[first] === 'object' && plan[first] !== null) {
    set(plan[first] as Record<string, unknown>, rest.join('.'), value);
  }
}

function sameJson(plan: Uint8Array, text: string): boolean {
  try {
    return canonical(JSON.parse(new TextDecoder().decode(plan))) === canonical(JSON.parse(text));
  } catch {
    return false;
  }
}
