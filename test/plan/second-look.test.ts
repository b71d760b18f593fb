import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadCampaign } from '../../src/campaign/load.ts';
import { HandbillError } from '../../src/errors.ts';
import { decisions, type View } from '../../src/plan/decide.ts';
import { createPlan } from '../../src/plan/plan.ts';
import { duplicatesIn } from '../../src/plan/second-look.ts';
import { type Duplicate, type Duplicates, UnsureKey } from '../../src/recipients/duplicates.ts';
import { createKeyHash, type KeyHash } from '../../src/recipients/key-hash.ts';
import { createProject } from '../helpers/project.ts';

const runs = process.env['HANDBILL_FULL'] === '1' ? 500 : 40;
const CAMPAIGN = `name: hello
channel: email
from: news@example.com
content: { subject: Hi, text: 'Hello {{default name "you"}}' }
`;
const FILE = 'recipients: { csv: people.csv, to: email, where: { name: { $ne: Zoe } } }\n';
const WEAK: KeyHash = (key) => 2 ** 52 + (key.charCodeAt(0) || 0);

interface Person {
  readonly email: string;
  readonly name: string;
}

const csvOf = (people: readonly Person[]): string =>
  `email,name\n${people.map(({ email, name }) => `${email},${name}\n`).join('')}`;

const inlineOf = (people: readonly Person[]): string =>
  `recipients: { to: email, where: { name: { $ne: Zoe } }, list: ${JSON.stringify(people)} }\n`;

/** What each row comes to; the list in a file, or in the campaign. Duplicates may be asked for through `around`. */
async function outcomes(
  people: readonly Person[],
  hashOf: KeyHash,
  { inline = false, around = (ask: () => Duplicate | null, _root: string): Duplicate | null => ask() } = {},
): Promise<readonly string[]> {
  using here = createProject({
    'handbill.yaml': '{}\n',
    'hello/campaign.yaml': CAMPAIGN + (inline ? inlineOf(people) : FILE),
    'hello/people.csv': csvOf(people),
  });
  const { campaign } = await loadCampaign('hello', { cwd: here.root, now: 0 });
  const plan = await createPlan(campaign, { environment: 'sandbox', occurrence: 'once' });
  const duplicates = duplicatesIn(plan, hashOf);
  const find: Duplicates['find'] = (recipient) => around(() => duplicates.find(recipient), here.root);
  const view: View = { duplicates: { ...duplicates, find }, skipInvalid: true };
  const stream = decisions(plan, view);
  const found: string[] = [];
  for await (const batch of stream) {
    for (const one of batch) found.push(one.decision === 'skip' ? one.reason : one.decision);
  }
  expect(stream.digest().size).toBeGreaterThan(0);
  return found;
}

/** The same rules, the slow way. */
function expected(people: readonly Person[]): readonly string[] {
  const known = new Set<string>();
  return people.map(({ email, name }) => {
    if (name === 'Zoe') return 'excluded';
    if (!email.includes('@')) return 'invalid-address';
    if (known.has(email)) return 'duplicate';
    known.add(email);
    return 'send';
  });
}

const person = fc.record({
  email: fc.oneof(
    { arbitrary: fc.integer({ min: 0, max: 400 }).map((n) => `person-${n}@example.com`), weight: 9 },
    { arbitrary: fc.constantFrom('not an address', 'x'), weight: 1 },
  ),
  name: fc.constantFrom('Ann', 'Zoe', ''),
});

describe('a list that is looked at again', () => {
  it.each([
    ['a good hash', () => createKeyHash(), { inline: false, most: 1500, numRuns: runs }],
    ['a weak hash', () => WEAK, { inline: false, most: 1500, numRuns: runs }],
    ['a weak hash, and the list in the campaign', () => WEAK, { inline: true, most: 600, numRuns: 10 }],
  ] as const)(
    'comes to what a Set of its keys says: %s',
    async (_, makeHash, { inline, most, numRuns }) => {
      // Enough rows for several pieces of the file.
      const people = fc.array(person, { minLength: 1, maxLength: most, size: 'max' });
      await fc.assert(
        fc.asyncProperty(people, async (list) => {
          expect(await outcomes(list, makeHash(), { inline })).toEqual(expected(list));
        }),
        { numRuns, endOnFailure: true },
      );
    },
    60_000,
  );

  it('is refused when it changed in between', async () => {
    const people = Array.from({ length: 2000 }, (_, n) => ({ email: `p${n % 1999}@example.com`, name: 'Ann' }));
    const found = outcomes(people, createKeyHash(), {
      around: (ask, root) => {
        try {
          return ask();
        } catch (error) {
          if (error instanceof UnsureKey) writeFileSync(join(root, 'hello/people.csv'), csvOf(people.slice(0, 1998)));
          throw error;
        }
      },
    });
    const error = await found.catch((caught: unknown) => caught);
    if (!(error instanceof HandbillError)) throw new Error('it was not refused');
    expect(error.diagnostics.map(({ code }) => code)).toEqual(['input-changed']);
  });

  it('gives whoever takes the decisions a moment to stop', async () => {
    const people = Array.from({ length: 2000 }, (_, n) => ({ email: `p${n % 1999}@example.com`, name: 'Ann' }));
    using here = createProject({
      'handbill.yaml': '{}\n',
      'hello/campaign.yaml': CAMPAIGN + FILE,
      'hello/people.csv': csvOf(people),
    });
    const { campaign } = await loadCampaign('hello', { cwd: here.root, now: 0 });
    const plan = await createPlan(campaign, { environment: 'sandbox', occurrence: 'once' });
    let batches = 0;
    let rows = 0;
    for await (const batch of decisions(plan, { duplicates: duplicatesIn(plan), skipInvalid: true })) {
      batches += 1;
      rows += batch.length;
      if (batch.length === 0) break;
    }
    expect(batches).toBeGreaterThan(1);
    expect(rows).toBeLessThan(2000);
  });
});
