import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { parse } from 'yaml';
import type { Code } from '../../src/errors.ts';
import type { Json, JsonObject } from '../../src/model.ts';
import { type ValidateResult, validate } from '../../src/operations/validate.ts';
import { GROUPS, OPERATORS } from '../../src/recipients/query.ts';
import { compileSegment, type Segment } from '../../src/recipients/segment.ts';
import { commandRunner } from '../helpers/here.ts';

const runCommand = commandRunner();

const DOCS = join(import.meta.dirname, '..', '..', 'docs');

/** The guides whose examples are whole campaigns, with the errors that some of them are meant to show. */
const GUIDES: Readonly<Record<string, Readonly<Record<string, Code>>>> = {
  'segments.md': {},
  'relative-dates.md': {},
  'follow-ups.md': {},
  'fallback.md': {},
  'provider-templates.md': { wrong: 'template-needs' },
  'recipients.md': {},
  'reference/exports.md': {},
  'performance.md': {},
  'schedule.md': {},
  'canary.md': {},
  'limits.md': { 'spring-limited': 'too-many-parts' },
  'windows.md': {},
};

interface Guide {
  /** Files by their path below the folder in which the commands are given. */
  readonly files: ReadonlyMap<string, string>;
  readonly campaigns: readonly string[];
  readonly commands: readonly { readonly label: string; readonly args: readonly string[]; readonly output: string }[];
}

/** A page: campaigns with a name, the list of the campaign above it, and commands with what they print. */
function readGuide(page: string): Guide {
  const text = readFileSync(join(DOCS, page), 'utf8');
  const files = new Map<string, string>();
  const lists = new Map<string, string>();
  const campaigns: { readonly name: string; readonly list: string | null }[] = [];
  const commands: Guide['commands'][number][] = [];
  for (const [, language = '', block = ''] of text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)) {
    // A part of handbill.yaml has no name.
    if (language === 'yaml' && /^name:/m.test(block)) {
      const campaign = parse(block) as { readonly name: string; readonly recipients: Json };
      campaigns.push({ name: campaign.name, list: listOf(campaign.recipients) });
      files.set(`${campaign.name}/campaign.yaml`, block);
    }
    const last = campaigns.at(-1);
    if (language === 'csv' && typeof last?.list === 'string') {
      lists.set(last.list, block);
      files.set(`${last.name}/${last.list}`, block);
    }
    const [, command = '', output = ''] = /^\$ handbill (.*)\n([\s\S]*)$/.exec(block) ?? [];
    if (language === 'console') commands.push({ label: command, args: command.split(' '), output });
  }
  // A list that is shown once serves every campaign of the page.
  for (const { name, list } of campaigns) {
    if (list !== null && !files.has(`${name}/${list}`)) files.set(`${name}/${list}`, lists.get(list) ?? '');
  }
  return { files, campaigns: campaigns.map(({ name }) => name), commands };
}

function listOf(recipients: Json): string | null {
  if (typeof recipients === 'string') return recipients;
  const csv = Array.isArray(recipients) ? undefined : (recipients as JsonObject)['csv'];
  return typeof csv === 'string' ? csv : null;
}

async function writeFiles(folder: string, files: Guide['files']): Promise<void> {
  await writeFile(join(folder, 'handbill.yaml'), '{}\n');
  for (const [path, text] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

describe.each(Object.entries(GUIDES))('docs/%s', (page, wrong) => {
  const { files, campaigns, commands } = readGuide(page);
  let folder = '';
  let found: ValidateResult;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'handbill-guide-'));
    await writeFiles(folder, files);
    found = await validate(campaigns, { cwd: folder, now: () => Date.UTC(2026, 10, 21) });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('has campaigns that can be sent, but for those that show an error', () => {
    const errors = found.diagnostics.filter(({ severity }) => severity === 'error');
    const shown = errors.map(({ code, at }) => [dirname(at?.file ?? ''), code]);
    expect(shown).toEqual(Object.entries(wrong));
    expect(found.files.length).toBe(campaigns.length);
    expect(campaigns.length).toBeGreaterThan(0);
  });

  it.each(commands)('handbill $label: prints what is shown', async ({ args, output }) => {
    const { stdout, stderr } = await runCommand(args, { cwd: folder });
    const [head = '', more] = output.split('...\n');
    const printed = stderr + stdout;
    if (more === undefined) expect(printed).toBe(output);
    else expect(printed.slice(0, head.length)).toBe(head);
  });

  it('has a command with its output', () => {
    expect(commands.length).toBeGreaterThan(0);
  });
});

describe('what the guides say of the sandbox', () => {
  test.each([
    ['fallback.md', 'table-ready', { accepted: 2, rejected: 0 }, 3],
    ['performance.md', 'closed-today', { accepted: 2, rejected: 1 }, 1],
    ['canary.md', 'spring', { accepted: 1, rejected: 1, pending: 4 }, 2],
    ['canary.md', 'summer', { accepted: 4, pending: 2 }, 4],
  ])('docs/%s: %s', async (page, name, totals, posted) => {
    const folder = mkdtempSync(join(tmpdir(), 'handbill-guide-'));
    try {
      await writeFiles(folder, readGuide(page).files);
      const { stdout } = await runCommand(['send', name, '--format', 'json'], { cwd: folder });
      expect(JSON.parse(stdout)).toMatchObject({ totals, requests: { posted } });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('docs/segments.md', () => {
  const text = readFileSync(join(DOCS, 'segments.md'), 'utf8');
  const columns = ['msisdn', 'name', 'city', 'visits', 'last_visit'];
  const segmentOf = (written: string): Segment => {
    const where = { query: parse(written) as JsonObject, at: { file: 'segments.md', line: 1 }, timeZone: 'UTC' };
    const result = compileSegment(where, columns, { visits: 'number', last_visit: 'date' }, 0);
    if (Array.isArray(result)) throw new Error(result.map(({ message }) => message).join('\n'));
    return result.segment;
  };

  it('names every operator', () => {
    for (const name of [...Object.keys(OPERATORS), ...GROUPS, '$not']) expect(text).toContain(`\`${name}\``);
  });

  /** Rows that show who is meant: name, city, visits, last visit. */
  const PEOPLE: Readonly<Record<string, readonly string[]>> = {
    Ada: ['Bath', '4', '2026-03-14'],
    Ravi: ['York', '9', '2026-01-20'],
    Zoe: ['Bristol', '2', ''],
    Anna: ['Bristol', '12', '2026-10-02'],
  };
  const MEANT: Readonly<Record<string, readonly string[]>> = {
    'from Bath, with 2 to 9 visits': ['Ada'],
    'from York, or with more than 5 visits': ['Ravi', 'Anna'],
    'never here': ['Zoe'],
    'whose name begins with A and who is not from Bath': ['Anna'],
    'neither from York nor with less than 3 visits': ['Ada', 'Anna'],
  };
  const rows = [...text.matchAll(/^\| `(\{ .* \})` \| (.*) \|$/gm)].map(([, written = '', who = '']) => ({
    written,
    who,
  }));

  test.each(rows)('$written: $who', ({ written, who }) => {
    const segment = segmentOf(written);
    const meant = Object.entries(PEOPLE).filter(([name, cells]) => segment.judge(['', name, ...cells]) === 'in');
    expect(meant.map(([name]) => name)).toEqual(MEANT[who]);
  });

  it('says of every example who is meant', () => {
    expect(rows.map(({ who }) => who)).toEqual(Object.keys(MEANT));
  });
});
