import { describe, expect, it, test } from 'vitest';
import { brief, folderWith } from './helper.ts';

const LIST = 'msisdn,name\n+447700900123,Ada\n';

async function read(text: string, files: Record<string, string> = {}) {
  await using folder = await folderWith({ 'c/campaign.yaml': text, 'c/people.csv': LIST, ...files });
  return await folder.read('c');
}

const RCS = 'name: offer\nchannel: rcs\nfrom: Riverside\nrecipients: people.csv\n';

describe('variants', () => {
  it('say what differs: the rest, and every other part of the content, is the campaign’s', async () => {
    const { campaign, diagnostics } = await read(
      `name: mail\nchannel: email\nfrom: a@riverside.example\nrecipients: { csv: people.csv, to: name }\ntemplate: hi.txt
content:
  subject: One
  preheader: Same
variants:
  - { name: A }
  - { name: B, weight: 3, content: { subject: Two } }
  - { name: C, template: { text: Other }, from: b@riverside.example }
`,
      { 'c/hi.txt': 'Hi {{name}}' },
    );
    expect(diagnostics).toEqual([]);
    const seen = campaign?.variants.map(({ name, weight, step }) => [
      name,
      weight,
      step.from,
      step.content?.texts.get('/subject')?.text,
      step.content?.texts.get('/preheader')?.text,
      step.template?.kind === 'text' ? step.template.source.text : null,
    ]);
    expect(seen).toEqual([
      ['A', 1, 'a@riverside.example', 'One', 'Same', 'Hi {{name}}'],
      ['B', 3, 'a@riverside.example', 'Two', 'Same', 'Hi {{name}}'],
      ['C', 1, 'b@riverside.example', 'One', 'Same', 'Other'],
    ]);
    expect(campaign?.variants[1]?.step.content?.places.get('/subject')?.at?.line).toBe(11);
    expect(campaign?.variants[1]?.step.content?.places.get('/preheader')?.at?.line).toBe(8);
  });

  test.each([
    ['11 of them', `variants:\n${'  - { name: X, template: { text: a } }\n'.repeat(11)}`, /11 variants/],
    ['one', 'variants: [{ name: A, template: { text: a } }]\n', /no comparison/],
    ['two of one name', 'variants: [{ name: A, template: { text: a } }, { name: A, template: { text: b } }]\n', /"A"/],
    ['one without a name', 'variants: [{ template: { text: a } }, { name: B, template: { text: b } }]\n', /no name/],
    ['one that says nothing', 'variants: [{ name: A }, { name: B, template: { text: b } }]\n', /neither "template"/],
    ['a winner that is none of them', 'template: { text: a }\ntest: 10%\nwinner: Z\n', /no variant "Z"/],
    ['a test without them', 'template: { text: a }\ntest: 10%\n', /compares variants/],
    ['a holdout of all recipients', 'template: { text: a }\nholdout: 100%\n', /holdout/],
  ])('%s: refused', async (_label, lines, message) => {
    const { campaign, diagnostics } = await read(RCS + lines);
    expect(campaign).toBeNull();
    expect(diagnostics.map((d) => d.message).join('\n')).toMatch(message);
    for (const { at } of diagnostics) expect(at?.line).toBeGreaterThan(0);
  });

  it('are divided by a seed, which is the campaign’s name unless it is said', async () => {
    const lines =
      'variants: [{ name: A, template: { text: a } }, { name: B, template: { text: b } }]\nholdout: 10%\ntest: { share: 20% }\nwinner: { variant: B }\n';
    expect((await read(RCS + lines)).campaign?.split).toEqual({
      seed: 'offer',
      holdout: 0.1,
      test: 0.2,
      winner: 'B',
      decides: null,
    });
    expect((await read(`${RCS}${lines}seed: other\n`)).campaign?.split.seed).toBe('other');
  });
});

describe('fallbacks', () => {
  it('are one or several, with the sender of the campaign unless they have their own', async () => {
    const one = await read(`${RCS}template: { text: Hi }\nfallback: { channel: sms, template: { text: Short } }\n`);
    expect(one.campaign?.fallbacks).toMatchObject([
      { channel: 'sms', from: 'Riverside', to: null, content: null, template: { source: { text: 'Short', line: 6 } } },
    ]);
    const two = await read(`${RCS}template: { text: Hi }
fallback:
  - { channel: messaging-app, from: "+447700900100", template: { text: App } }
  - { channel: email, to: mail, from: a@b.example, content: { subject: S, text: Mail } }
`);
    expect(two.campaign?.fallbacks).toMatchObject([
      { channel: 'messaging-app', from: '+447700900100' },
      { channel: 'email', to: 'mail', template: { source: { text: 'Mail' } }, content: { tree: { subject: 'S' } } },
    ]);
  });

  test.each([
    ['the same channel', '{ channel: rcs, template: { text: a } }', /tried before/],
    [
      'a channel twice',
      '[{ channel: sms, template: { text: a } }, { channel: sms, template: { text: b } }]',
      /tried before/,
    ],
    ['no channel', '{ template: { text: a } }', /names no channel/],
    ['no message', '{ channel: sms }', /no message/],
    ['a sender that is none', '{ channel: sms, from: A name too long, template: { text: a } }', /at most 11/],
  ])('%s: refused', async (_label, fallback, message) => {
    const { campaign, diagnostics } = await read(`${RCS}template: { text: Hi }\nfallback: ${fallback}\n`);
    expect(campaign).toBeNull();
    expect(diagnostics.map((d) => d.message).join('\n')).toMatch(message);
  });
});

describe('what a message is made of', () => {
  it('the text can be in the content, in the place of a template', async () => {
    const { campaign } = await read(`${RCS}content: { text: "Hi {{name}}", buttons: [{ text: Yes, reply: y }] }\n`);
    expect(campaign?.template).toMatchObject({ kind: 'text', source: { text: 'Hi {{name}}', line: 5, column: 19 } });
    expect(campaign?.content?.tree).toEqual({ buttons: [{ text: 'Yes', reply: 'y' }] });
    expect(campaign?.content?.places.get('/buttons/0/text')?.at).toMatchObject({ line: 5 });
  });

  it('but not beside one', async () => {
    const { diagnostics } = await read(`${RCS}template: { text: a }\ncontent: { text: b }\n`);
    expect(diagnostics).toMatchObject([{ code: 'invalid-value', at: { line: 6, column: 18 } }]);
  });

  it('the template of an email is its HTML where the file says so', async () => {
    const mail = 'name: m\nchannel: email\nrecipients: { csv: people.csv, to: name }\ncontent: { subject: S }\n';
    for (const [file, html] of [
      ['mail.html', true],
      ['mail.mjml', true],
      ['mail.html.hbs', true],
      ['mail.hbs', false],
      ['mail.txt', false],
    ] as const) {
      const { campaign } = await read(`${mail}template: ${file}\n`, { [`c/${file}`]: 'Hi' });
      expect(campaign?.content?.texts.has('/html'), file).toBe(html);
      expect(campaign?.template === null, file).toBe(html);
      expect(
        campaign?.inputs.map((input) => input.file),
        file,
      ).toContain(`c/${file}`);
    }
  });
});

describe('recipients that are listed', () => {
  it('are rows with their lines, as they were written', async () => {
    const { campaign } = await read(`name: few\nchannel: sms\ntemplate: { text: Hi }\nrecipients:
  - { msisdn: +447700900123, name: Ada, vip: true }
  - msisdn: 00447700900124
    age: 007
`);
    expect(campaign?.recipients).toMatchObject({ kind: 'msisdn', file: 'c/campaign.yaml' });
    expect(campaign?.recipients.inline).toEqual({
      columns: ['msisdn', 'name', 'vip', 'age'],
      rows: [
        { line: 5, values: ['+447700900123', 'Ada', 'true', ''] },
        { line: 6, values: ['00447700900124', '', '', '007'] },
      ],
    });
  });

  it('may be contacts of the address book', async () => {
    const { campaign } = await read(
      'name: few\nchannel: sms\ntemplate: { text: Hi }\nrecipients:\n  contacts:\n    - c0a8\n    - c0a9\n',
    );
    expect(campaign?.recipients).toMatchObject({
      kind: 'contact',
      to: 'contact',
      inline: { columns: ['contact'], rows: [{ line: 6, values: ['c0a8'] }, { line: 7 }] },
    });
  });

  it('are ignored when a list is passed', async () => {
    await using folder = await folderWith({
      'c/campaign.yaml': 'name: few\nchannel: sms\ntemplate: { text: Hi }\nrecipients: [{ msisdn: "+447700900123" }]\n',
      'c/people.csv': LIST,
    });
    const { campaign } = await folder.read('c', { recipients: 'c/people.csv' });
    expect(campaign?.recipients).toMatchObject({ inline: null, file: 'c/people.csv' });
  });

  test.each([
    ['two kinds of lists', 'recipients: { csv: people.csv, contacts: [a] }\n', /only one of/],
    ['a column and a contact', 'recipients: { csv: people.csv, to: a, contact: b }\n', /both say where/],
  ])('%s: refused', async (_label, lines, message) => {
    const { diagnostics } = await read(`name: few\nchannel: sms\ntemplate: { text: Hi }\n${lines}`);
    expect(brief(diagnostics)).toHaveLength(1);
    expect(diagnostics[0]?.message).toMatch(message);
  });
});
