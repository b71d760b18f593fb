import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { DEFAULT_WIRE } from '../../src/campaign/defaults.ts';
import { builtIn, DEFAULT_PROVIDER } from '../../src/campaign/read-provider.ts';
import type { Campaign, Environment, SendDecision } from '../../src/model.ts';
import { createExpander, createReference } from '../../src/plan/expand.ts';
import { changedInputs, createPlanFile, parsePlanFile } from '../../src/plan/plan-file.ts';
import { canonical } from '../../src/plan/settings.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { jsonText } from '../../src/util/escape.ts';

const environment: Environment = {
  name: 'sandbox',
  identity: 'sandbox',
  provider: builtIn(DEFAULT_PROVIDER).provider,
  vars: {},
  secrets: null,
  baseUrl: 'http://sandbox.invalid',
  url: 'http://sandbox.invalid/v2/messages',
  ratePerSecond: null,
  concurrency: null,
  proxy: null,
  webhook: {
    receiver: null,
    mapping: { events: null, fields: {}, states: {}, unsupported: [], permanent: [], optedOut: [], optOut: undefined },
    fetches: [],
    url: undefined,
  },
  fetch: false,
  wire: DEFAULT_WIRE,
  approval: null,
  git: null,
  countries: null,
  budget: null,
  only: null,
  redirect: null,
};

function campaign(more: Partial<Campaign> = {}): Campaign {
  const base: Partial<Campaign> = {
    name: 'hello',
    channel: 'sms',
    from: null,
    accountReference: null,
    messageType: null,
    characterSet: 'auto',
    characterSetWritten: false,
    validity: null,
    metaData: null,
    template: { kind: 'text', source: { text: '', file: 'hello.hbs', line: 1, column: 1 } },
    variables: null,
    content: null,
    variants: [],
    fallbacks: [],
    recipients: { kind: 'msisdn' } as Campaign['recipients'],
    ...more,
  };
  return base as Campaign;
}

const START = Date.UTC(2026, 10, 21, 9, 0, 0, 5);
type Personal = Partial<Pick<SendDecision, 'text' | 'variables' | 'metaData' | 'content' | 'to'>>;

function decision(personal: Personal, key = 'k'): SendDecision {
  const message = {
    step: 0,
    channel: 'sms',
    country: 'GB',
    text: null,
    variables: null,
    metaData: null,
    content: null,
    headers: null,
    sms: null,
  };
  return { key, to: '+447700900123', variant: null, ...message, ...personal } as unknown as SendDecision;
}

const reference = (key: string) => `ref-${key}`;

function body(c: Campaign, personal: Personal = { text: 'Hi' }, words: Partial<Provider> = {}): unknown {
  const provider = { ...environment.provider, ...words };
  const expander = createExpander(c, { ...environment, provider }, reference, { startMs: START });
  const one = decision(personal);
  return JSON.parse(expander.one(one, one).body);
}

const provider = (id: string) => ({ kind: 'provider', id, needs: null, place: {} }) as const;

describe('the body of a request', () => {
  it('has only what was written, and the reference', () => {
    expect(body(campaign())).toEqual({
      name: 'hello',
      channel: 'SMS',
      body: { text: 'Hi' },
      recipients: [{ msisdn: '+447700900123', metaData: { handbill: 'ref-k' } }],
    });
  });

  it('has every field that was written, in the order of the document', () => {
    const full = campaign({
      accountReference: 'EX0001',
      characterSetWritten: true,
      characterSet: 'gsm',
      from: 'Riverside',
      validity: { kind: 'duration', ms: 3_600_000 },
      messageType: 'transactional',
      metaData: { team: 'a"b' },
    });
    const sent = body(full, { text: 'Hi', variables: null, metaData: { row: '7' } }) as object;
    expect(Object.keys(sent)).toEqual(
      'accountReference name characterSet channel from validity messageType body recipients metaData'.split(' '),
    );
    expect(sent).toMatchObject({
      validity: '2026-11-21T10:00:00.005+00:00',
      metaData: { team: 'a"b' },
      recipients: [{ metaData: { row: '7', handbill: 'ref-k' } }],
    });
  });

  it('names the provider template and its variables', () => {
    const sent = body(campaign({ template: provider('welcome') }), {
      text: null,
      variables: { name: 'Zoë "Z"' },
      metaData: null,
    });
    expect(sent).toMatchObject({
      body: { templateId: 'welcome' },
      recipients: [{ msisdn: '+447700900123', variables: { name: 'Zoë "Z"' } }],
    });
  });

  test('any text, variable and metadata comes back exactly', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), fc.string(), (text, value, meta) => {
        const sent = body(campaign(), { text, variables: null, metaData: { meta } }) as {
          body: { text: string };
          recipients: { metaData: { meta: string } }[];
        };
        expect(sent.body.text).toBe(text);
        expect(sent.recipients[0]?.metaData.meta).toBe(meta);
        const other = body(campaign({ template: provider(value) }), {
          text: null,
          variables: { value },
          metaData: null,
        });
        expect(other).toMatchObject({ body: { templateId: value }, recipients: [{ variables: { value } }] });
      }),
    );
  });

  const rich = { tree: {}, texts: new Map(), places: new Map() };
  const buttons = { buttons: [{ text: 'Yes', reply: 'yes' }] };

  it('puts rich content beside the text', () => {
    const c = campaign({ channel: 'rcs', content: rich });
    expect(body(c, { text: 'Hi', content: buttons })).toMatchObject({ body: { text: 'Hi', content: buttons } });
  });

  it('writes numbers, addresses and types with the words of the provider', () => {
    const c = campaign({ messageType: 'marketing', validity: { kind: 'until', epochMs: START } });
    const words = { msisdn: 'digits', messageTypes: { marketing: 'M' } } as const;
    expect(body(c, { text: 'Hi' }, words)).toMatchObject({
      messageType: 'M',
      validity: '2026-11-21T09:00:00.005+00:00',
      recipients: [{ msisdn: '447700900123', metaData: { handbill: 'ref-k' } }],
    });
    expect(body(c, { text: 'Hi' }, { msisdn: '00' })).toMatchObject({ recipients: [{ msisdn: '00447700900123' }] });
    const email = campaign({ channel: 'email', recipients: { kind: 'email' } as Campaign['recipients'] });
    const to = '"a b"@example.com';
    expect(body(email, { text: 'Hi', to })).toMatchObject({ recipients: [{ email: to }] });
  });

  it('names a contact, whose metadata is the message’s', () => {
    const c = campaign({ metaData: { team: 'a' }, recipients: { kind: 'contact' } as Campaign['recipients'] });
    expect(body(c, { text: 'Hi', to: 'c0a8', metaData: { row: '7' } })).toEqual({
      name: 'hello',
      channel: 'SMS',
      body: { text: 'Hi' },
      addressBook: { contacts: [{ id: 'c0a8' }] },
      metaData: { team: 'a', row: '7', handbill: 'ref-k' },
    });
  });

  it('holds several recipients, each with its own reference; the same ones have the same idempotency key', () => {
    const expander = createExpander(campaign(), environment, reference, { startMs: START });
    const both = [decision({ text: 'Hi' }, 'a'), decision({ text: 'Hi', to: '+447700900124' }, 'b')];
    const request = expander.many(both);
    expect(JSON.parse(request.body)).toMatchObject({
      body: { text: 'Hi' },
      recipients: [
        { msisdn: '+447700900123', metaData: { handbill: 'ref-a' } },
        { msisdn: '+447700900124', metaData: { handbill: 'ref-b' } },
      ],
    });
    expect(request.addressees.map((one) => one.reference)).toEqual(['ref-a', 'ref-b']);
    expect(expander.many(both).reference).toBe(request.reference);
    expect(expander.many(both.slice(0, 1)).reference).not.toBe(request.reference);
  });
});

describe('the reference', () => {
  const identity = { environment: 'production', campaign: 'hello', occurrence: 'once' };
  it('differs when anything of the identity differs, and only then', () => {
    const references = [
      createReference(identity, 'sms')('a'),
      createReference(identity, 'sms')('b'),
      createReference(identity, 'rcs')('a'),
      createReference({ ...identity, occurrence: 'twice' }, 'sms')('a'),
      createReference({ ...identity, environment: 'sandbox' }, 'sms')('a'),
      createReference({ environment: 'production', campaign: 'hello","once', occurrence: '' }, 'sms')('a'),
    ];
    expect(new Set(references).size).toBe(references.length);
    expect(createReference({ ...identity }, 'sms')('a')).toBe(references[0]);
    for (const reference of references) expect(reference).toMatch(/^[\w-]{22}$/);
  });
});

describe('the fingerprint', () => {
  const facts = {
    campaign: { name: 'hello', file: 'hello.yaml' },
    environment: 'production',
    occurrence: 'once',
    recipients: null,
    allow: [],
    plannedAt: '2026-11-21T09:00:00.000Z',
    commit: null,
    inputs: [{ role: 'template', file: 'hello.hbs', sha256: 'a' }],
    estimate: { rows: 2, send: 2, parts: 2, unpriced: 0, deferred: {}, done: {}, costMicros: null, currency: null },
  } as unknown as Parameters<typeof createPlanFile>[0];
  const planFile = createPlanFile(facts);

  it('opens what it wrote, in any order of keys', () => {
    const reordered = JSON.stringify(Object.fromEntries(Object.entries(planFile).reverse()));
    expect(parsePlanFile(reordered, 'p.json')).toMatchObject({ fingerprint: planFile.fingerprint });
  });

  it('opens a plan whose strings escape what a terminal would obey, and no other spelling of it', () => {
    const named = createPlanFile({ ...facts, occurrence: 'autumn\u202e\u009b' });
    expect(parsePlanFile(jsonText(named, 2), 'p.json')).toEqual(named);
    for (const other of [JSON.stringify(named), jsonText(named).replace('autumn', '\\u0061utumn')]) {
      expect(parsePlanFile(other, 'p.json')).toMatchObject({ message: expect.stringContaining('not spelt') });
    }
  });

  test.each([
    ['an edited figure', JSON.stringify({ ...planFile, occurrence: 'twice' }), 'changed after'],
    ['another fingerprint', JSON.stringify({ ...planFile, fingerprint: 'x' }), 'changed after'],
    ['no JSON', 'hello', 'not JSON'],
    ['another document', '{"version":1}', 'not a plan'],
    ['null', 'null', 'not a plan'],
  ])('refuses %s', (_what, text, message) => {
    expect(parsePlanFile(text, 'p.json')).toMatchObject({
      code: 'plan-invalid',
      message: expect.stringContaining(message),
    });
  });

  it('names every input that changed, was added or is gone', () => {
    const before = [
      { role: 'template', file: 'a.hbs', sha256: '1' },
      { role: 'recipients', file: 'a.csv', sha256: '2' },
      { role: 'settings', file: 'handbill.yaml', sha256: '3' },
      { role: 'partial', file: 'gone.hbs', sha256: '4' },
    ] as const;
    const now = [
      { role: 'template', file: 'a.hbs', sha256: '1' },
      { role: 'recipients', file: 'a.csv', sha256: 'x' },
      { role: 'settings', file: 'campaign.yaml', sha256: '3' },
      { role: 'partial', file: 'new.hbs', sha256: '5' },
    ] as const;
    const found = changedInputs(before, now, 'the plan was made');
    expect(found.map((d) => [d.at?.file, d.message])).toEqual([
      ['a.csv', 'The list changed since the plan was made.'],
      ['new.hbs', 'The partial file was added since the plan was made.'],
      ['gone.hbs', 'The partial file is gone since the plan was made.'],
    ]);
  });

  it('hashes the same for any order of keys', () => {
    expect(canonical({ b: [{ d: 1, c: 2 }], a: null })).toBe(canonical({ a: null, b: [{ c: 2, d: 1 }] }));
  });
});
