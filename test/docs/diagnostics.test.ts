import { describe, expect, it, test } from 'vitest';
import { stalePages } from '../../.scripts/docs.ts';
import { diagnosticsPage, EXPLAINED } from '../../.scripts/docs-diagnostics.ts';
import { type Example, type Ran, runExample } from '../../.scripts/docs-example.ts';
import { codePages } from '../../src/cli/pages.ts';
import { CODES, type Code, SUMMARY_CODE } from '../../src/errors.ts';

/** Codes without an example: what it would take is in `cause`. */
const WITHOUT: readonly Code[] = [
  ...([
    'unused-column',
    'unknown-revision',
    'interrupted',
    'runtime-too-old',
    'other-build',
    'locked',
    'schedule-new',
  ] as const),
  ...([
    'ledger-write',
    'ledger-filesystem',
    'bug',
    'address-changed',
    'unasked-answer',
    'mismatch',
    'fetch-failed',
  ] as const),
  ...([
    'connection-limit',
    'follow-up-list',
    'approval-ends',
    'ledger-taken-over',
    'sent-elsewhere',
    'other-provider',
  ] as const),
];

const EXAMPLES = (Object.keys(CODES) as readonly Code[]).flatMap((code) => {
  const { example } = EXPLAINED[code];
  return example === null ? [] : [[code, example] as const];
});

const ran = new Map<Code, Ran>();

async function once(code: Code, example: Example): Promise<Ran> {
  const found = ran.get(code) ?? (await runExample(code, example));
  ran.set(code, found);
  return found;
}

describe('the example of', () => {
  test.each(EXAMPLES)('%s makes handbill say exactly that', async (code, example) => {
    const { codes, said } = await once(code, example);
    // A summary never comes without what it sums up, and comes with it.
    const own = [...codes].filter((one) => (code === SUMMARY_CODE) === (one === SUMMARY_CODE));
    expect(own).toEqual([code]);
    expect(said).toMatch(/^(?:error|warning|note)\[/);
  });

  it('every code is there, but for those that need more than an example has', () => {
    const without = (Object.keys(CODES) as readonly Code[]).filter((code) => EXPLAINED[code].example === null);
    expect(without.toSorted()).toEqual([...WITHOUT].toSorted());
  });
});

describe('cause and fix of', () => {
  test.each(Object.entries(EXPLAINED))('%s are sentences', (_code, { cause, fix }) => {
    expect(cause).toMatch(/^[`A-Za-z].{15,}[.)]$/);
    expect(fix).toMatch(/^[`A-Za-z].{10,}\.$/);
  });
});

it('docs/diagnostics.md is what the codes and their examples make of it, with a section for each code', async () => {
  const text = await diagnosticsPage(once);
  expect(stalePages(new Map([['docs/diagnostics.md', text]])), 'run `node .scripts/docs.ts`').toEqual([]);
  expect(codePages().map(({ name }) => name)).toEqual(Object.keys(CODES));
  const listed = [...text.matchAll(/\[([a-z0-9-]+)\]\(#\1\)/g)].map(([, code]) => code);
  expect(listed).toEqual(Object.keys(CODES));
  for (const { name, markdown } of codePages()) {
    expect(markdown).toContain(`# ${name}\n\n${CODES[name as Code]}\n\n**Cause:** ${EXPLAINED[name as Code].cause}\n`);
    expect(markdown.match(/\*\*Fix:\*\*/g)).toHaveLength(1);
  }
});
