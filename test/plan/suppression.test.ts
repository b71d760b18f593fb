import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loadCampaign } from '../../src/campaign/load.ts';
import { HandbillError } from '../../src/errors.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { previewRows } from '../../src/operations/preview.ts';
import { send } from '../../src/operations/send.ts';
import { loadSuppressions, NO_SUPPRESSIONS, suppressedBy } from '../../src/plan/suppression.ts';
import { createHasher, writeHash } from '../../src/suppression/hash.ts';
import { createProject, type ProjectFiles, type TestProject } from '../helpers/project.ts';
import { examples } from '../helpers/quick.ts';

const NOON = Date.parse('2026-11-21T12:00:00Z');
const KEY = 'sixteen bytes and some more';
const ENV = { LIST_KEY: KEY };
const hasher = createHasher(Buffer.from(KEY));
const hashOf = (form: string): string => writeHash({ keyId: hasher.keyId, hash: hasher.hash(form) });

const CAMPAIGN = 'name: a\nchannel: sms\nfrom: Riverside\ntemplate: { text: Hi }\n';

async function listsOf(files: ProjectFiles, env: Record<string, string> = ENV) {
  using project = createProject({ '.git/HEAD': '', 'people.csv': 'msisdn\n', ...files });
  const { campaign } = await loadCampaign('campaign.yaml', { cwd: project.root });
  return await loadSuppressions(campaign, env);
}

async function refusal(files: ProjectFiles, env: Record<string, string> = ENV): Promise<string[]> {
  const error = await listsOf(files, env).catch((caught: unknown) => caught);
  if (!(error instanceof HandbillError)) throw error;
  expect(error.exit).toBe(2);
  return error.diagnostics.map(({ code, at }) => `${code} ${at?.file}:${at?.line}`);
}

describe('lists in files', () => {
  test('those of the project and of the campaign both count, whatever the order, each file once', async () => {
    const lists = await listsOf({
      'handbill.yaml': 'suppressions: [all.csv, both.csv]\n',
      'campaign.yaml': `${CAMPAIGN}recipients: people.csv\nsuppressions: [own.csv, both.csv]\n`,
      'all.csv': 'msisdn\n+447400100001\n',
      'own.csv': 'email\njane@example.com\n',
      'both.csv': 'contact\nc-1\n',
    });
    const listOf = (to: string) => lists.listOf(to, to, NOON);
    expect(['+447400100001', 'Jane@Example.com', 'c-1', '+447400100002', 'C-1'].map(listOf)).toEqual([
      'all.csv',
      'own.csv',
      'both.csv',
      null,
      null,
    ]);
  });

  const national = '07400 100001';
  test.each<[label: string, project: string, campaign: string, found: string | null]>([
    [
      'the country of the project, in its file',
      'defaultCountry: GB\nsuppressions: s.csv',
      'defaultCountry: FR',
      '+447400100001',
    ],
    ['else that of the campaign', 'suppressions: s.csv', 'defaultCountry: GB', '+447400100001'],
  ])('numbers without a country code: %s', async (_, project, country, found) => {
    const lists = await listsOf({
      'handbill.yaml': `${project}\n`,
      'campaign.yaml': `${CAMPAIGN}recipients: { csv: people.csv, ${country} }\n`,
      's.csv': `msisdn\n${national}\n`,
    });
    expect(lists.listOf(found ?? '', found ?? '', NOON)).toBe('s.csv');
  });

  test('in a file of the campaign its country comes first', async () => {
    const lists = await listsOf({
      'handbill.yaml': 'defaultCountry: FR\n',
      'campaign.yaml': `${CAMPAIGN}recipients: { csv: people.csv, defaultCountry: GB }\nsuppressions: s.csv\n`,
      's.csv': `msisdn\n${national}\n`,
    });
    expect(lists.listOf('+447400100001', '+447400100001', NOON)).toBe('s.csv');
  });

  test('days end in the zone of the project', async () => {
    const lists = await listsOf({
      'handbill.yaml': 'timeZone: America/New_York\n',
      'campaign.yaml': `${CAMPAIGN}recipients: people.csv\nsuppressions: s.csv\n`,
      's.csv': 'msisdn,until\n+447400100001,2026-11-20\n',
    });
    const end = Date.parse('2026-11-21T05:00:00Z');
    expect([end - 1, end].map((now) => lists.listOf('+447400100001', '+447400100001', now))).toEqual(['s.csv', null]);
  });

  test('everything that is wrong with any of them is said at once', async () => {
    const found = await refusal({
      'handbill.yaml': 'suppressions: [a.csv, b.csv]\nsuppressionKey: { env: LIST_KEY }\n',
      'campaign.yaml': `${CAMPAIGN}recipients: people.csv\nsuppressions: [c.csv, d.csv, e.csv]\n`,
      'a.csv': 'msisdn\n+447400100001\n1\n',
      'b.csv': 'email,until\nx@example.com,never\n',
      'c.csv': 'name\nJane\n',
      'd.csv': new Uint8Array([0x6d, 0xff, 0x0a]),
      'e.csv': `hash\nhb1:ffffffff:${'0'.repeat(64)}\n${hashOf('c-1')}\n`,
    });
    expect(found).toEqual([
      'invalid-address a.csv:3',
      'invalid-suppression b.csv:2',
      'invalid-suppression c.csv:1',
      'invalid-encoding d.csv:1',
      'other-suppression-key e.csv:2',
    ]);
  });

  const hashed = {
    'handbill.yaml': 'suppressionKey: { env: LIST_KEY }\n',
    'campaign.yaml': `${CAMPAIGN}recipients: people.csv\nsuppressions: s.csv\n`,
    's.csv': `hash\n${hashOf('+447400100001')}\n`,
  };
  test('hashes are compared under the key, and refused without it', async () => {
    const lists = await listsOf(hashed);
    expect(lists.listOf('+447400100001', '+447400100001', NOON)).toBe('s.csv');
    expect(lists.listOf('+447400100002', '+447400100002', NOON)).toBeNull();
    expect(lists.listOf('+447400100002', '+447400100001', NOON)).toBe('s.csv');
    expect(await refusal(hashed, {})).toEqual(['missing-suppression-key s.csv:2']);
    expect(await refusal(hashed, { LIST_KEY: 'fifteen bytes..' })).toEqual(['invalid-suppression-key s.csv:2']);
    expect(await refusal(hashed, { LIST_KEY: `${KEY}x` })).toEqual(['other-suppression-key s.csv:2']);
  });

  test('a missing key does no harm where no list has hashes', async () => {
    expect((await listsOf({ ...hashed, 's.csv': 'hash\n' }, {})).isEmpty).toBe(true);
  });
});

describe('the ledger behind a filter', () => {
  test('says exactly what the ledger says, before the filter is made and after', () => {
    const folder = mkdtempSync(join(tmpdir(), 'handbill-suppression-'));
    const ledger = openLedger(join(folder, 'ledger.db'), { mode: 'write', nowMs: NOON });
    onTestFinished(() => {
      ledger.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const numberOf = (n: number) => `+4474${String(n).padStart(8, '0')}`;
    const facts = { reason: null, source: 'test' };
    const addresses = Array.from({ length: 800 }, (_, n) => ({
      address: numberOf(n),
      ...facts,
      untilMs: n % 2 === 0 ? null : NOON,
    }));
    const hashes = Array.from({ length: 800 }, (_, n) => ({
      hash: hasher.hash(numberOf(5000 + n)),
      keyId: hasher.keyId,
      ...facts,
      untilMs: n % 2 === 0 ? null : NOON,
    }));
    ledger.suppressAll(addresses, hashes, NOON - 1);
    const lists = { ...NO_SUPPRESSIONS, hasher: { hasher }, rules: { ...NO_SUPPRESSIONS.rules, hasher } };
    const suppressed = suppressedBy(lists, ledger, () => NOON);
    for (let n = 0; n < 6000; n++) {
      const listed = (n < 800 || (n >= 5000 && n < 5800)) && n % 2 === 0;
      expect(suppressed?.({ to: numberOf(n), key: numberOf(n) }) ?? null).toBe(
        listed ? 'on the list in the ledger' : null,
      );
    }
    expect(suppressed?.({ to: '+440000000', key: numberOf(0) })).toBe('on the list in the ledger');
    expect(() => suppressedBy(NO_SUPPRESSIONS, ledger, () => NOON)).toThrow('holds hashes');
  });

  test('asks nothing where all lists are empty', () => {
    const empty = { path: 'x', hashKeyId: () => null, suppressionCounts: () => ({ addresses: 0, hashes: 0 }) };
    const never = (): never => {
      throw new Error('asked');
    };
    const ledger = {
      ...empty,
      isSuppressed: never,
      isHashSuppressed: never,
      suppressions: never,
      suppressedHashes: never,
    };
    expect(suppressedBy(NO_SUPPRESSIONS, ledger, () => NOON)).toBeNull();
  });
});

/** Where a recipient may be listed, and whether that keeps them from being sent to. */
const PLACES = {
  nowhere: false,
  'file, as a number': true,
  'file, national': true,
  'file, with 00 and signs': true,
  'file, as a hash': true,
  'file, until tomorrow': true,
  'file, until yesterday': false,
  'file of emails': false,
  ledger: true,
  'ledger, until yesterday': false,
  'ledger, as a hash': true,
  'ledger, the key of the person': true,
  'file, the key of the person': true,
  'file, the key in capitals': true,
} as const;
type Place = keyof typeof PLACES;

const numberOf = (person: number): string => `+447400${100_000 + person}`;
const keyOf = (person: number): string => `Person.${person}@Example.com`;

test('no recipient on any list is ever sent to, and no other is left out; preview says the same', async () => {
  const places = fc.array(fc.constantFrom(...(Object.keys(PLACES) as Place[])), { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(fc.array(places, { minLength: 1, maxLength: 25 }), async (people) => {
      using project = projectOf(people);
      const options = { cwd: project.root, env: ENV, now: () => NOON };
      const expected = people.map((held) => held.some((place) => PLACES[place]));
      const shown = await previewRows('.', options);
      const decided: boolean[] = [];
      for await (const batch of shown.batches) {
        for (const { decision } of batch)
          decided.push(decision.decision === 'skip' && decision.reason === 'suppressed');
      }
      shown.close();
      expect(decided).toEqual(expected);
      const { report } = await send('.', options);
      const ledger = openLedger(project.path('.handbill/ledger.db'), { mode: 'read', nowMs: NOON });
      const [run] = ledger.runs();
      const outcomes = run === undefined ? [] : [...ledger.outcomes(run)].flat();
      ledger.close();
      expect(outcomes.map(({ outcome, reason }) => reason ?? outcome)).toEqual(
        expected.map((listed) => (listed ? 'suppressed' : 'accepted')),
      );
      expect(report.requests.posted).toBe(expected.filter((listed) => !listed).length);
    }),
    { numRuns: examples(12) },
  );
});

function projectOf(people: readonly (readonly Place[])[]): TestProject {
  const rows: string[] = [];
  const addresses: { address: string; untilMs: number | null; reason: null; source: string }[] = [];
  const hashes: { hash: string; keyId: string; untilMs: null; reason: null; source: string }[] = [];
  for (const [person, held] of people.entries()) {
    const number = numberOf(person);
    const national = `0${number.slice(3)}`;
    const facts = { reason: null, source: 'test' };
    const put: Record<Place, () => unknown> = {
      nowhere: () => undefined,
      'file, as a number': () => rows.push(`${number},,,`),
      'file, national': () => rows.push(`${national.slice(0, 5)} ${national.slice(5)},,,`),
      'file, with 00 and signs': () => rows.push(`0044 (0) 7400-${number.slice(7)},,,`),
      'file, as a hash': () => rows.push(`,,${hashOf(number)},`),
      'file, until tomorrow': () => rows.push(`${number},,,2026-11-22`),
      'file, until yesterday': () => rows.push(`${number},,,2026-11-20`),
      'file of emails': () => rows.push(`,somebody.${person}@example.com,,`),
      ledger: () => addresses.push({ address: number, untilMs: null, ...facts }),
      'ledger, until yesterday': () => addresses.push({ address: number, untilMs: NOON - 1, ...facts }),
      'ledger, as a hash': () =>
        hashes.push({ hash: hasher.hash(number), keyId: hasher.keyId, untilMs: null, ...facts }),
      'ledger, the key of the person': () =>
        addresses.push({ address: keyOf(person).toLowerCase(), untilMs: null, ...facts }),
      'file, the key of the person': () => rows.push(`,${keyOf(person)},,`),
      'file, the key in capitals': () => rows.push(`,${keyOf(person).toUpperCase()},,`),
    };
    for (const place of held) put[place]();
  }
  const list = people.map((_, person) => `${numberOf(person)},${keyOf(person)}`);
  const project = createProject({
    '.git/HEAD': '',
    'handbill.yaml': 'defaultCountry: GB\nsuppressionKey: { env: LIST_KEY }\nsuppressions: a.csv\n',
    'campaign.yaml': `${CAMPAIGN}recipients: { csv: people.csv, key: mail }\nsuppressions: b.csv\n`,
    'people.csv': `msisdn,mail\n${list.join('\n')}\n`,
    'a.csv': `msisdn,email,hash,until\n${rows.filter((_, i) => i % 2 === 0).join('\n')}\n`,
    'b.csv': `msisdn,email,hash,until\n${rows.filter((_, i) => i % 2 === 1).join('\n')}\n`,
  });
  const ledger = openLedger(project.path('.handbill/ledger.db'), { mode: 'write', nowMs: NOON });
  ledger.suppressAll(addresses, hashes, NOON - 1000);
  ledger.close();
  return project;
}
