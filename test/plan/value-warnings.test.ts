import { expect, test } from 'vitest';
import { handbillHere } from '../cli/in-process.ts';
import { createProject } from '../helpers/project.ts';

const SMS = 'channel: sms\nfrom: Riverside\ntemplate: ';
const APP = 'channel: messaging-app\nfrom: "447400999999"\ntemplate: { id: order_ready, needs: [name] }\n';

async function previewed(message: string, value: string): Promise<string> {
  using here = createProject({
    'c.yaml': `name: c\n${message}\nrecipients: p.csv\n`,
    'p.csv': `msisdn,name\n+447400123456,"${value}"\n`,
  });
  const { out, err } = await handbillHere(here.root, ['preview', 'c.yaml']);
  return `${out}${err}`;
}

const sms = (text: string): string => `${SMS}{ text: ${JSON.stringify(text)} }`;

test.each([
  ['https://a.example/?n={{name}}', 'Ada Lovelace', 'blank'],
  ['https://a.example/{{name}}/x', 'Ada Lovelace', 'blank'],
  ['http://a.example/?a=1&n={{upper name}}', 'Bo&n=Cy', '"&"'],
  ['https://a.example/?n={{default name "x"}}', 'a#b', '"#"'],
  ['See HTTPS://a.example/?x={{#if name}}{{name}}{{/if}} now', 'what?', '"?"'],
  ['https://a.example/?n={{name}}&m={{trim name}}', 'a=b', '"="'],
  ['https://a.example/?p={{name}}', '+447400123456', '"+"'],
  ['https://a.example/{{name}}/x', '100% off', '"%"'],
  ['a.example/?n={{name}}', 'Ada Lovelace', 'blank'],
  ['www.a.example/?n={{name}}', 'Bo&n=Cy', '"&"'],
  ['mailto:a@b.example?subject={{name}}', 'Ada Lovelace', 'blank'],
])('%s with %j is warned about', async (text, value, why) => {
  const said = await previewed(sms(text), value);
  expect(said).toContain('is not encoded in a link');
  expect(said).toContain(why);
});

test.each([
  ['https://a.example/?n={{url name}}', 'Ada & Bo'],
  ['https://a.example/?n=1 {{name}}', 'Ada & Bo'],
  ['Hello {{name}}, https://a.example', 'Ada & Bo'],
  ['https://a.example/{{name}}', 'sale?x=1&y=2'],
  ['https://a.example/?n={{name}}', 'Ada'],
  ['https://a.example/?n={{name}}', 'Ada+Lovelace%20x'],
  ['Meet at 5.30/{{name}}', 'Ada Lovelace'],
  ['{{name}}', 'https://a.example/?x=1&y=2'],
])('%s with %j is not', async (text, value) => {
  expect(await previewed(sms(text), value)).not.toContain('in a link');
});

test('what {{url}} makes is decoded to the value again', async () => {
  const value = "Ada & Bo? #1 = 100% + é/'";
  const said = await previewed(sms('https://a.example/?n={{url name}}'), value);
  expect(decodeURIComponent(/\?n=(\S+)/.exec(said)?.[1] ?? '')).toBe(value);
});

test('an href of an email is a link', async () => {
  using here = createProject({
    'c.yaml':
      'name: c\nchannel: email\nfrom: a@b.example\ncontent: { subject: Hi, html: n.html, text: Hi }\nrecipients: p.csv\n',
    'n.html': '<p>Hi</p><a href="https://a.example/?n={{name}}">Yes</a> <a href="{{name}}">No</a>',
    'p.csv': 'email,name\nada@b.example,Ada&e=x\n',
  });
  const { out } = await handbillHere(here.root, ['preview', 'c.yaml']);
  expect(out.match(/is not encoded in a link/g)).toHaveLength(1);
});

test.each([
  ['Ada\nLovelace', 'a line end'],
  ['Bo\tX', 'a tab'],
  ['Cy      Six', 'more than four blanks'],
  ['Cy\r\nSix', 'a line end'],
  ['Cy\u00a0\u00a0\u00a0\u00a0\u00a0Six', 'more than four blanks'],
])('a messaging app refuses %j in a template', async (value, why) => {
  expect(await previewed(APP, value)).toContain(`has ${why}`);
  expect(await previewed(`${APP}variables: { name: "{{oneline name}}" }`, value)).not.toContain(
    'messaging apps refuse',
  );
});

test.each(['\u200b', ' \ufeff', '\u00ad\u2060', '\u3164'])('%j is empty', async (value) => {
  expect(await previewed(APP, value)).toContain('missing-variable');
  expect(await previewed(sms('Hi {{default name "you"}}'), value)).toContain('| Hi you');
});

test.each([
  ['Fran&ccedil;ois', true],
  ['O&#39;Brien', true],
  ['Tom &amp; Co', true],
  ['&#x1F600;', true],
  ['Main St<br>London', true],
  ['<b>Bo</b>', true],
  ['I <3 you', false],
  ['a<b', false],
  ['<Bo>', false],
  ['AT&T', false],
  ['R&D; no', false],
  ['a & b; c', false],
])('entities in %j: %s', async (value, isFound) => {
  const said = await previewed(sms('Hi {{name}}'), value);
  expect(said.includes('warning[html-entity]')).toBe(isFound);
  if (isFound) expect(said).toContain('p.csv:2');
});

test.each([
  ['{{first_name}}', true],
  ['*|FNAME|*', true],
  ['%%FirstName%%', true],
  ['#{user.name}', true],
  ['{Bo}', false],
  ['100% [sure]', false],
])('placeholders of another program in %j: %s', async (value, isFound) => {
  const said = await previewed(sms('Hi {{name}}'), value);
  expect(said.includes('warning[foreign-tag]')).toBe(isFound);
  if (isFound)
    expect(said).toMatch(/The column "name" holds .* would be sent literally[\s\S]*p\.csv:2[\s\S]*did not fill it in/);
});

test.each([
  ['=A1', /a formula of a spreadsheet/],
  ['=$B$2*C2', /a formula/],
  ['=VLOOKUP(A2,Sheet2!A:B,2,0)', /a formula/],
  ["='My sheet'!A1", /a formula/],
  ['M=C3=BCller', /encoded/],
  ['Ren\\u00e9e', /encoded/],
])('%s was never meant for people', async (value, expected) => {
  expect(await previewed(sms('Hi {{name}}'), value)).toMatch(
    new RegExp(`warning\\[damaged-value\\].*${expected.source}`),
  );
});

test.each(['=)', '= Bo =', 'a=b', 'C:\\users', '=Bo', 'E=mc2'])('%s is left alone', async (value) => {
  expect(await previewed(sms('Hi {{name}}'), value)).not.toContain('damaged-value');
});

test.each(['Ren\u201ae', 'M\u00b3ller', 'J\u00f7rg', 'Ren\u00dae', 'Mu\u00a4oz', 'Stra\u00d4e'])(
  '%s was read in a code page of DOS, or the other way round',
  async (value) => {
    expect(await previewed(sms('Hi {{name}}'), value)).toContain('warning[wrong-encoding]');
  },
);

test.each(['5m\u00b3 a', '\u00b1ten', 'don\u2019t', 'Brand\u2122', 'a\u00f7b', 'McD\u00d3N'])(
  '%s is right',
  async (value) => {
    expect(await previewed(sms('Hi {{name}}'), value)).not.toContain('wrong-encoding');
  },
);

test('entities are said once for a column, and not of one that no message uses', async () => {
  using here = createProject({
    'c.yaml': `name: c\n${sms('Hi {{name}}')}\nrecipients: p.csv\n`,
    'p.csv': 'msisdn,name,note\n+447400123456,Tom &amp; Co,x &lt;\n+447400123457,Tom &amp; Co,x &lt;\n',
  });
  const { out, err } = await handbillHere(here.root, ['preview', 'c.yaml']);
  expect(`${out}${err}`.match(/html-entity/g)).toHaveLength(1);
});
