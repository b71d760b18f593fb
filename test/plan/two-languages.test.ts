import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { plan } from '../../src/operations/plan.ts';
import { handbillHere } from '../cli/in-process.ts';
import { accepted, useApi } from '../helpers/api.ts';
import { jsonLines } from '../helpers/json-lines.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { examples } from '../helpers/quick.ts';

/** Takes every SMS, unless the test says otherwise. */
let smsStatus = 202;
/** Refuses RCS to all, so that each recipient gets the fallback. */
const api = useApi((body, number) =>
  JSON.parse(body).channel === 'RCS'
    ? { status: 422, body: '{"code":"channel-not-supported"}' }
    : { ...accepted(body, number), status: smsStatus },
);
const env = { API_KEY: 'k'.repeat(20) };

const LIST = `msisdn,name,lang,total,day
+447400123450,Ann,en,1234.5,2026-12-05
+447400123451,Rhys,cy,1234.5,2026-12-05
+447400123452,Uwe,de,1234.5,2026-12-05
`;
const HEAD = 'name: ready\nchannel: rcs\nfrom: Riverside\nrecipients: { csv: people.csv, columns: { day: date } }\n';
const OWN = `template: { text: 'Ready on {{date day "d MMMM"}}: {{currency total "EUR"}}' }
fallback: { channel: sms, template: { text: 'Ready {{date day "d MMMM"}}' } }
`;
const SHORT = `template: { text: 'Yn barod i chŵi {{date day "d MMMM"}}' }`;
const WELSH = `  - name: welsh
    where: { lang: cy }
    locale: cy
    template: { text: 'Yn barod ar {{date day "d MMMM"}}: {{currency total "EUR"}}' }
    fallback: { channel: sms, ${SHORT} }
`;
const GERMAN = `  - { name: german, where: { lang: de }, locale: de, template: { text: 'Am {{date day "d MMMM"}}: {{currency total "EUR"}}' } }
`;
const TWO = `${HEAD}${OWN}variants:\n${WELSH}${GERMAN}`;

function projectOf(campaign: string, list = LIST, more: Readonly<Record<string, string>> = {}): TestProject {
  return createProject({
    'handbill.yaml': `environments: { real: { baseUrl: "${api.url}", apiKey: { env: API_KEY } } }\n${more['handbill.yaml'] ?? ''}`,
    'ready/campaign.yaml': campaign,
    'ready/people.csv': list,
    ...Object.fromEntries(Object.entries(more).filter(([name]) => name !== 'handbill.yaml')),
  });
}

const run = (here: TestProject, ...args: readonly string[]) => handbillHere(here.root, args, { env });

interface Row {
  readonly variant: string | null;
  readonly request: { readonly body: { readonly body: { readonly text: string } } } | null;
  readonly fallbacks?: readonly { readonly request: { readonly body: { readonly body: { readonly text: string } } } }[];
}

async function rowsOf(here: TestProject, ...args: readonly string[]): Promise<readonly Row[]> {
  const { out, err } = await run(here, 'preview', 'ready', '--env', 'real', '--format', 'jsonl', ...args);
  expect(err).not.toContain('error[');
  return jsonLines<Row>(out);
}

const textsOf = ({ request, fallbacks = [] }: Row) => [
  request?.body.body.text,
  ...fallbacks.map((one) => one.request.body.body.text),
];

beforeEach(() => {
  smsStatus = 202;
  api.bodies.length = 0;
});

describe('a variant', () => {
  it('has its own locale, also in the fallback that it shares, and its own fallback', async () => {
    using here = projectOf(TWO);
    expect((await rowsOf(here)).map(textsOf)).toEqual([
      ['Ready on 5 December: €1,234.50', 'Ready 5 December'],
      ['Yn barod ar 5 Rhagfyr: €1,234.50', 'Yn barod i chŵi 5 Rhagfyr'],
      ['Am 5 Dezember: 1.234,50 €', 'Ready 5 Dezember'],
    ]);
  });

  it.each([
    ['subject', `content: { subject: '{{date day "d MMMM"}}', text: Hi }`],
    ['variables', `template: { id: ready }\nvariables: { day: '{{date day "d MMMM"}}' }`],
  ])('has its locale also in its %s', async (_, message) => {
    const email = HEAD.replace('rcs', 'email').replace('Riverside', 'shop@riverside.example');
    using here = projectOf(
      `${email}${message}\nvariants: [{ name: welsh, where: { lang: cy }, locale: cy }]\n`,
      LIST.replace('msisdn', 'email').replace(/\+(\d+)/g, 'p$1@riverside.example'),
    );
    const said = (await rowsOf(here)).map(({ request }) => JSON.stringify(request?.body));
    expect(said).toEqual(['December', 'Rhagfyr', 'December'].map((month) => expect.stringContaining(`5 ${month}`)));
  });

  it('send posts what preview shows, and each fallback once', async () => {
    using here = projectOf(TWO);
    const shown = (await rowsOf(here)).flatMap(textsOf);
    expect(await run(here, 'send', 'ready', '--env', 'real', '--yes', '--quiet')).toMatchObject({ status: 0, err: '' });
    const posted = api.bodies.map((text) => JSON.parse(text).body.text);
    expect(posted.toSorted()).toEqual(shown.toSorted());
  });

  it('counts the parts and the cost of its own fallback', async () => {
    const long = TWO.replace('Yn barod i chŵi', `${'ŵ'.repeat(80)}`);
    const prices = {
      'handbill.yaml': 'prices: prices.csv\n',
      'prices.csv': 'country,channel,price,currency\n*,*,0.01,EUR\n',
    };
    using here = projectOf(long, LIST, prices);
    const { estimate } = await plan('ready', { cwd: here.root, environment: 'real', env });
    // Two parts of UCS-2 for one, one part of GSM-7 for two.
    expect(estimate.fallback).toMatchObject({ recipients: 3, parts: 4, costMicros: { low: 30_000, high: 40_000 } });
    expect(estimate.longest).toEqual({ line: 3, parts: 2 });
  });

  it('is warned about for what its own fallback says', async () => {
    using here = projectOf(TWO.replace('Yn barod i chŵi', 'Gweler http://riverside.example'));
    const { out } = await run(here, 'preview', 'ready', '--format', 'text');
    const warned = out
      .split('\n\n')
      .filter((block) => block.includes('Fallback to sms: A link that begins with http:'));
    expect(warned).toHaveLength(1);
    expect(warned[0]).toContain('variant welsh');
  });

  it('inherits from the fallback of the campaign what it does not say', async () => {
    const mail = `name: ready
channel: sms
from: Riverside
recipients: { csv: people.csv, key: msisdn }
template: { text: Hi }
fallback: { channel: email, to: mail, from: shop@riverside.example, content: { subject: Ready, text: "Hi {{name}}" } }
variants:
  - { name: welsh, where: { lang: cy }, template: { text: Helo }, fallback: { channel: email, content: { text: "Helo {{name}}" } } }
`;
    const list =
      'msisdn,name,lang,mail\n+447400123450,Ann,en,ann@example.com\n+447400123451,Rhys,cy,rhys@example.com\n';
    using here = projectOf(mail, list);
    const { out } = await run(here, 'preview', 'ready', '--format', 'jsonl');
    const fallbacks = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).fallbacks[0]);
    expect(fallbacks.map(({ to }) => to)).toEqual(['ann@example.com', 'rhys@example.com']);
    const bodies = fallbacks.map(({ request }) => request.body);
    expect(bodies.map(({ from }) => from)).toEqual(['shop@riverside.example', 'shop@riverside.example']);
    expect(JSON.stringify(bodies[0])).toContain('Hi Ann');
    expect(JSON.stringify(bodies[1])).toContain('Helo Rhys');
    expect(JSON.stringify(bodies[1])).toContain('Ready');
  });

  it('that waits shows every message it may get, each fallback once', async () => {
    const drawn = `${HEAD}${OWN}variants:
  - { name: A, template: { text: A }, fallback: { channel: sms, template: { text: "A as SMS" } } }
  - { name: B, template: { text: B } }
  - { name: C, template: { text: C } }
test: 1%
`;
    using here = projectOf(drawn);
    await run(here, 'preview', 'ready', '--format', 'html', '-o', 'page.html');
    const page = readFileSync(here.path('page.html'), 'utf8');
    expect(page.match(/If variant A cannot be received/g)?.length).toBeGreaterThan(0);
    expect(page).toContain('If that cannot be received');
    expect(page).not.toContain('If variant B cannot be received');
  });

  it('is tested with its own fallback', async () => {
    using here = projectOf(TWO);
    const texts = async (...args: readonly string[]) => {
      api.bodies.length = 0;
      await run(here, 'send', 'ready', '--env', 'real', '--yes', '--test-to', '+447400900001', ...args);
      return api.bodies.map((text) => JSON.parse(text).body.text);
    };
    const german = ['Am 5 Dezember: 1.234,50 €', 'Ready 5 Dezember'];
    const welsh = ['Yn barod ar 5 Rhagfyr: €1,234.50', 'Yn barod i chŵi 5 Rhagfyr'];
    const own = ['Ready on 5 December: €1,234.50', 'Ready 5 December'];
    expect((await texts()).toSorted()).toEqual([...german, ...welsh, ...own].toSorted());
    expect(await texts('--variant', 'welsh')).toEqual(welsh);
    // The occurrence of each test has its own name.
    const { out } = await run(here, 'runs', '--format', 'json');
    for (const name of ['-variant-welsh', '-fallback-sms-welsh', '-fallback-sms-german', '-fallback-sms'])
      expect(out).toMatch(new RegExp(`Z${name}"`));
  });

  it('decides about the fallback of its message, whatever the list says by then', async () => {
    using here = projectOf(TWO);
    smsStatus = 401;
    const first = LIST.split('\n').filter((line) => !line.includes('Uwe') && !line.includes('Ann'));
    here.write('ready/people.csv', first.join('\n'));
    expect(await run(here, 'send', 'ready', '--env', 'real', '--yes')).toMatchObject({ status: 5 });
    here.write('ready/people.csv', first.join('\n').replace(',cy,', ',en,'));
    const rows = await rowsOf(here, '--allow', 'input-changed');
    expect(rows.map(textsOf)).toEqual([['Yn barod i chŵi 5 Rhagfyr']]);
    smsStatus = 202;
    api.bodies.length = 0;
    await run(here, 'send', 'ready', '--env', 'real', '--yes', '--allow', 'input-changed');
    expect(api.bodies.map((text) => JSON.parse(text).body.text)).toEqual(['Yn barod i chŵi 5 Rhagfyr']);
  });

  it('may fall back to a file, which is an input of the run', async () => {
    const named = TWO.replace(SHORT, 'template: short-cy.hbs');
    using here = projectOf(named, LIST, {
      'ready/short-cy.hbs': 'Yn barod {{> foot}}',
      'ready/foot.hbs': 'Glan yr Afon',
    });
    const [, welsh] = await rowsOf(here);
    expect(welsh && textsOf(welsh)[1]).toBe('Yn barod Glan yr Afon');
    await run(here, 'send', 'ready', '--limit', '1', '--env', 'real', '--yes');
    here.write('ready/foot.hbs', 'Caerdydd');
    const again = await run(here, 'send', 'ready', '--env', 'real', '--yes');
    expect(again).toMatchObject({ status: 2, err: expect.stringContaining('input-changed') });
    expect(again.err).toContain('foot.hbs');
  });
});

describe('what is wrong with the language of a variant', () => {
  const welsh = (more: string) =>
    `${HEAD}${OWN}variants:\n  - name: welsh\n    where: { lang: cy }\n    template: { text: Helo }\n${more}`;
  it.each<[string, string, string, string]>([
    ['a locale that is none', welsh('    locale: cy_GB\n'), '11:13', 'Write it with hyphens: cy-GB'],
    ['a language without data', welsh('    locale: xx\n'), '11:13', 'language "xx"'],
    [
      'another channel',
      welsh('    fallback: { channel: email, template: { text: a } }\n'),
      '11:26',
      'a fallback to "email", and the campaign has none',
    ],
    [
      'a channel twice',
      welsh('    fallback: [{ channel: sms }, { channel: sms }]\n'),
      '11:45',
      'two fallbacks to "sms"',
    ],
    ['no channel', welsh('    fallback: { template: { text: a } }\n'), '11:15', 'names no channel'],
    ['a column with the address', welsh('    fallback: { channel: sms, to: name }\n'), '11:31', '"to"'],
    [
      'a column that the list lacks',
      welsh('    fallback: { channel: sms, template: { text: "{{nmae}}" } }\n'),
      '11:52',
      'nmae',
    ],
    [
      'a fallback where the campaign has none',
      welsh('    fallback: { channel: sms }\n').replace(/fallback: \{ channel: sms, template.*\n/, ''),
      '10:26',
      '(none)',
    ],
  ])('%s', async (_label, campaign, place, says) => {
    using here = projectOf(campaign);
    const { status, err } = await handbillHere(here.root, ['validate', 'ready'], { width: 400 });
    expect(err).toContain(`ready/campaign.yaml:${place}`);
    expect(err).toContain(says);
    expect(status).toBe(2);
  });
});

/* Each recipient gets exactly what a campaign without variants would send that has the words of the variant as its own. */

const word = fc.constantFrom('Ready', 'Yn barod', 'Fertig', '{{name}}');
const text = fc
  .tuple(word, fc.constantFrom('', ' {{date day "d MMMM"}}', ' {{currency total "EUR"}}'))
  .map((both) => both.join(''));
const LOCALES = ['en-GB', 'cy', 'de', 'ar-EG'] as const;
const one = fc.record({
  locale: fc.option(fc.constantFrom(...LOCALES)),
  text,
  sms: fc.option(text),
  mail: fc.option(text),
});

type One = typeof one extends fc.Arbitrary<infer T> ? T : never;

const template = (said: string) => ({ text: said });
const partsOf = ({ sms, mail }: Pick<One, 'sms' | 'mail'>, more: object = {}) => [
  ...(sms === null ? [] : [{ channel: 'sms', template: template(sms) }]),
  ...(mail === null
    ? []
    : [{ channel: 'email', ...more, template: template(mail), content: { subject: 'Riverside' } }]),
];

it('gets what a campaign with this message alone would send (property)', async () => {
  const list = LIST.replaceAll('\n+', ',mail\n+')
    .replace('day,mail', 'day,mail')
    .split('\n')
    .filter((line) => line !== '');
  const [, ...people] = list.map((line) => line.replace(/,mail$/, ''));
  const csv = `msisdn,name,lang,total,day,mail\n${people.map((line, i) => `${line},p${i}@example.com`).join('\n')}\n`;
  await fc.assert(
    fc.asyncProperty(one, one, one, async (main, welsh, german) => {
      const base = { sms: main.sms ?? 'Short', mail: main.mail ?? 'Long' };
      const shared = {
        name: 'ready',
        channel: 'rcs',
        from: 'Riverside',
        recipients: { csv: 'people.csv', columns: { day: 'date' } },
      };
      const campaignOf = (said: One, more: object) =>
        JSON.stringify({
          ...shared,
          ...(said.locale === null ? {} : { locale: said.locale }),
          template: template(said.text),
          fallback: partsOf({ sms: said.sms, mail: said.mail }, { to: 'mail', from: 'shop@riverside.example' }),
          ...more,
        });
      const variantOf = (name: string, lang: string, said: One) => ({
        ...{ name, where: { lang }, template: template(said.text) },
        ...(said.locale === null ? {} : { locale: said.locale }),
        ...(said.sms === null && said.mail === null ? {} : { fallback: partsOf(said) }),
      });
      const own = { ...main, ...base };
      const all = campaignOf(own, { variants: [variantOf('welsh', 'cy', welsh), variantOf('german', 'de', german)] });
      const alone = ({ locale, text, sms, mail }: One) =>
        campaignOf({ locale: locale ?? main.locale, text, sms: sms ?? base.sms, mail: mail ?? base.mail }, {});
      using here = projectOf(all, csv);
      const got = (await rowsOf(here)).map(textsOf);
      for (const [at, said] of [own, welsh, german].entries()) {
        here.write('ready/campaign.yaml', alone(said));
        expect(got[at]).toEqual((await rowsOf(here)).map(textsOf)[at]);
      }
    }),
    { numRuns: examples(45) },
  );
});
