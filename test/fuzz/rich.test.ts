import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CODES } from '../../src/errors.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { CANARY_KEY } from '../oracle/scene.ts';
import { type Arena, openArena } from './arena.ts';
import { CAMPAIGNS, FILES, WIRE } from './campaigns.ts';
import { runs, TIMEOUT_MS } from './runs.ts';
import { startTarget, type Target } from './target.ts';
import { changed, changes, type Tree, yamlOf } from './trees.ts';

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

const CAMPAIGN = 'campaigns/rich/campaign.yaml';
const NAMES = Object.keys(CAMPAIGNS);

function projectOf(wire: Tree, baseUrl = `http://127.0.0.1:${arena.server.port}`): string {
  const test = { baseUrl, apiKey: { env: 'HANDBILL_API_KEY' }, wire };
  return yamlOf({ partials: 'campaigns/partials', environments: { test } });
}

interface Found {
  readonly code: string;
  readonly file: string | null;
  readonly line: number | null;
  readonly column: number | null;
}

/** What `validate` says, every place of it looked up. */
async function validate(): Promise<{ readonly errors: number; readonly codes: readonly string[] }> {
  const ran = await arena.run(['validate', 'rich', '--format', 'json']);
  const { diagnostics } = JSON.parse(ran.stdout) as { readonly diagnostics: readonly Found[] };
  for (const found of diagnostics) {
    expect(Object.keys(CODES)).toContain(found.code);
    expect(found.code).not.toBe('bug');
    expectPlace(found);
  }
  expect(arena.server.connections).toBe(posted.connections);
  return { errors: ran.status ?? 1, codes: diagnostics.map(({ code }) => code) };
}

function expectPlace({ file, line, column }: Found): void {
  if (file === null || line === null) return;
  const path = join(arena.root, file);
  expect([file, existsSync(path)]).toEqual([file, true]);
  const lines = readFileSync(path, 'utf8').split(/\r\n?|\n/);
  expect(line).toBeGreaterThanOrEqual(1);
  expect(line).toBeLessThanOrEqual(lines.length);
  if (column === null) return;
  expect(column).toBeGreaterThanOrEqual(1);
  expect(column).toBeLessThanOrEqual((lines[line - 1] ?? '').length + 1);
}

/** Connections that a send of an earlier input made. */
const posted = { connections: 0 };

interface Row {
  readonly decision: string;
  readonly request: { readonly body?: unknown } | null;
  readonly fallbacks?: readonly { readonly request: { readonly body: unknown } }[];
}

/** Every decision of a dry run, which connects to nothing. */
async function preview(): Promise<{ readonly status: number | null; readonly rows: readonly Row[] }> {
  const { status, stdout } = await arena.run(['preview', 'rich', '--env', 'test', '--format', 'jsonl']);
  expect(arena.server.connections).toBe(posted.connections);
  const lines = stdout.split('\n').filter((line) => line !== '');
  return { status, rows: lines.map((line) => JSON.parse(line) as Row) };
}

function shownIn(rows: readonly Row[]): readonly string[] {
  return rows.flatMap(({ request }) => (request?.body === undefined ? [] : [JSON.stringify(request.body)]));
}

/** What is previewed is what is posted, and what is posted is what is counted. */
async function sendAndCompare(): Promise<number> {
  const before = arena.server.requests.length;
  const { status, rows } = await preview();
  const shown = shownIn(rows);
  // What `validate` takes, a dry run takes too.
  expect(status).toBe(0);
  const sent = await arena.run(['send', 'rich', '--env', 'test', '--yes', '--format', 'json']);
  posted.connections = arena.server.connections;
  const bodies = arena.server.requests.slice(before).map(({ body }) => JSON.stringify(JSON.parse(body)));
  if (sent.status === 0) expect(bodies.toSorted()).toEqual(shown.toSorted());
  if (sent.status === 2) expect(bodies).toEqual([]);
  // The answer of the server can mean a refusal, where the environment says so: then a run ends early, or falls back.
  const fallbacks = rows.flatMap((row) => (row.fallbacks ?? []).map(({ request }) => JSON.stringify(request.body)));
  expect(bodies.filter((body) => !shown.includes(body) && !fallbacks.includes(body))).toEqual([]);
  return bodies.length;
}

/** The sandbox, and the bodies that it took since it was last asked. */
async function openSandbox() {
  const sandbox = await startSandbox({ apiKey: CANARY_KEY, fields: 'any' });
  const messages = `${sandbox.url}/sandbox/messages`;
  return {
    url: sandbox.url,
    async taken(): Promise<readonly string[]> {
      const answer = (await (await fetch(messages)).json()) as { messages: { status: number; text: string }[] };
      await fetch(messages, { method: 'DELETE' });
      return answer.messages.filter(({ status }) => status < 300).map(({ text }) => text);
    },
    [Symbol.asyncDispose]: async () => await sandbox.close(),
  };
}

describe('whatever a campaign says of its message', () => {
  it.each(NAMES)('the whole one is valid, and is posted as it was previewed: %s', async (name) => {
    arena.write(CAMPAIGN, yamlOf(CAMPAIGNS[name] ?? {}));
    try {
      for (const wire of [{}, WIRE]) {
        arena.write('handbill.yaml', projectOf(wire));
        expect(await validate()).toMatchObject({ errors: 0 });
        expect(await sendAndCompare()).toBeGreaterThan(0);
        arena.remove('.handbill');
      }
    } finally {
      arena.remove('.handbill');
    }
  });

  it.each(NAMES)('a sandbox that takes any fields gets it as it was previewed: %s', async (name) => {
    await using sandbox = await openSandbox();
    arena.write(CAMPAIGN, yamlOf(CAMPAIGNS[name] ?? {}));
    for (const wire of [{}, WIRE]) {
      arena.write('handbill.yaml', projectOf(wire, sandbox.url));
      try {
        const { rows } = await preview();
        const sent = await arena.run(['send', 'rich', '--env', 'test', '--yes', '--format', 'json']);
        expect(sent.status).toBe(0);
        expect((await sandbox.taken()).toSorted()).toEqual(shownIn(rows).toSorted());
      } finally {
        arena.remove('.handbill');
      }
    }
  });

  it(
    'it is valid and posted as it was previewed, or refused at places that exist',
    async () => {
      const codes = new Set<string>();
      let sent = 0;
      const input = fc.tuple(fc.constantFrom(...NAMES), changes, fc.boolean());
      const property = fc.asyncProperty(input, async ([name, list, mapped]) => {
        arena.write('handbill.yaml', projectOf(mapped ? WIRE : {}));
        arena.write(CAMPAIGN, yamlOf(changed(CAMPAIGNS[name] ?? {}, list)));
        try {
          const found = await validate();
          for (const code of found.codes) codes.add(code);
          if (found.errors === 0) sent += await sendAndCompare();
        } finally {
          arena.remove('.handbill');
        }
      });
      await fc.assert(property, runs(40, 1_500));
      // Neither all refused nor all taken: both halves of the promise were looked at.
      expect(sent).toBeGreaterThan(15);
      expect(codes.size).toBeGreaterThan(5);
    },
    TIMEOUT_MS,
  );

  it(
    'and whatever an environment says of the wire',
    async () => {
      let sent = 0;
      const input = fc.tuple(fc.constantFrom(...NAMES), changes);
      const property = fc.asyncProperty(input, async ([name, list]) => {
        arena.write('handbill.yaml', projectOf(changed(WIRE, list)));
        arena.write(CAMPAIGN, yamlOf(CAMPAIGNS[name] ?? {}));
        try {
          const found = await validate();
          if (found.errors === 0) sent += await sendAndCompare();
        } finally {
          arena.remove('.handbill');
        }
      });
      await fc.assert(property, runs(20, 750));
      expect(sent).toBeGreaterThan(10);
    },
    TIMEOUT_MS,
  );
});
