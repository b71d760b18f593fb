import { expect, test } from 'vitest';
import { handbillHere } from '../cli/in-process.ts';
import { createProject, type ProjectFiles } from '../helpers/project.ts';

const CODES = ['link-shortener', 'insecure-link', 'odd-blanks', 'cut-link', 'capitals', 'no-opt-out'];

/** The warnings about what carriers do with the text, and their words. */
async function advice(
  text: string | null,
  settings = 'channel: sms',
  files: ProjectFiles = {},
): Promise<{ codes: readonly string[]; said: string }> {
  const isEmail = settings.startsWith('channel: email');
  const template = text === null ? '' : `template: { text: ${JSON.stringify(text)} }\n`;
  using here = createProject({
    ...files,
    'c.yaml': `name: c\n${settings}\nfrom: ${isEmail ? 'news@riverside.example' : 'Riverside'}\n${template}recipients: p.csv\n`,
    'p.csv': isEmail ? 'email,name\nmair@riverside.example,Mair\n' : 'msisdn,name,title\n+447400123456,Mair,\n',
  });
  const { out } = await handbillHere(here.root, ['validate', 'c.yaml', '--format', 'json']);
  type Found = { readonly code: string; readonly severity: string; readonly message: string };
  const found: readonly Found[] = JSON.parse(out).diagnostics;
  expect(found.filter(({ severity }) => severity === 'error')).toEqual([]);
  const ours = found.filter(({ code }) => CODES.includes(code));
  return { codes: ours.map(({ code }) => code).toSorted(), said: ours.map(({ message }) => message).join(' ') };
}

/** So many characters without a link, in words. */
const filled = (length: number): string =>
  'so it is. '
    .repeat(40)
    .slice(0, length - 1)
    .concat(' ');
const LINK = 'https://riverside.example/orders';

test.each<[string, string, readonly string[]]>([
  ['a shortener', 'See https://bit.ly/3xYz', ['link-shortener at line 1, column 13']],
  ['a shortener without a scheme', 'Hello {{name}},\nsee www.TinyURL.com/abc', ['link-shortener at line 2, column 5']],
  ['a shortener with a port', 'See https://bit.ly:443/x', ['link-shortener at line 1, column 13']],
  [
    'a shortener over http',
    'See http://t.co/x',
    ['link-shortener at line 1, column 12', 'insecure-link at line 1, column 5'],
  ],
  ['a shortener after letters that have no spaces', '请看bit.ly/3xYz', ['link-shortener at line 1, column 3']],
  [
    'a shortener after another link',
    'https://riverside.example/a or bit.ly/x',
    ['link-shortener at line 1, column 32'],
  ],
  ['a shortener after the name of a user', 'See https://me@Bit.ly/x', ['link-shortener at line 1, column 16']],
  ['http in capitals', 'See HTTP://riverside.example', ['insecure-link at line 1, column 5']],
  ['http twice', 'See http://a.example and http://b.example', ['insecure-link at line 1, column 5 of']],
  ['http after a question', 'Questions?http://riverside.example', ['insecure-link at line 1, column 11']],
  ['http after a dash', 'Shop now-http://riverside.example/a', ['insecure-link at line 1, column 10']],
  ['http after a colon of another script', '详情：http://riverside.example', ['insecure-link at line 1, column 4']],
  [
    'two blanks around an empty value',
    'Hello {{#if title}}{{title}}{{/if}} {{name}}',
    ['odd-blanks at line 1, column 6'],
  ],
  [
    'a blank before the text',
    '{{#if title}}{{title}}{{/if}} Hello',
    ['odd-blanks at the beginning, at line 1, column 1 of'],
  ],
  [
    'blanks after the text',
    'Hello {{name}},\nbye {{#if title}}{{title}}{{/if}} ',
    ['odd-blanks at the end, at line 2, column 4'],
  ],
  ['a link that the first part end cuts', `${filled(150)}${LINK}`, ['cut-link at line 1, column 151']],
  ['a link that the end of part 2 cuts', `${filled(300)}${LINK}`, ['cut-link the end of part 2 cuts']],
  ['a link without a scheme that is cut', `${filled(150)}${LINK.slice(8)}`, ['cut-link at line 1, column 151']],
  ['a link without a path that is cut', `${filled(150)}riverside.example?o=12`, ['cut-link at line 1, column 151']],
  ['a shortener with a port alone', 'See bit.ly:443', ['link-shortener at line 1, column 5']],
  ['two blanks of which one does not break', 'Hello\u00a0 {{name}}', ['odd-blanks at line 1, column 6']],
  ['capitals with ß', 'HEUTE: GROßE ERÖFFNUNG IN DER STRAßE', ['capitals 6 of 6 words']],
  ['capitals', 'HELLO {{name}}, YOUR ORDER IS READY', ['capitals 5 of 6 words']],
  ['capitals of another alphabet', 'ΓΕΙΑ ΣΑΣ Η ΠΑΡΑΓΓΕΛΙΑ ΕΙΝΑΙ έτοιμη σήμερα', ['capitals 4 of 6 words']],
])('%s is warned about, with its place', async (_, text, expected) => {
  const { codes, said } = await advice(text);
  expect(codes).toEqual(expected.map((one) => one.split(' ')[0]).toSorted());
  for (const one of expected) expect(said).toContain(one.slice(one.indexOf(' ') + 1));
});

test.each([
  'See https://riverside.example/orders',
  'See https://orbit.ly/x, my-bit.ly/x and https://bit.ly.example/x',
  'Write to ada@t.co/x, about bit.ly and AT&T.co/x',
  'See https://riverside.example/t.co/x and décret.co/x, Ét.co/x',
  `${filled(119)}x ${LINK}. Bye now`,
  `${filled(153)}${LINK}`,
  `${'好'.repeat(20)}${LINK}，${'好'.repeat(40)}`,
  `Hello {{name}},\n  - one\n  - two`,
  `${LINK} ${filled(200)}`.trim(),
  'PIN 1234',
  'YOUR PIN: 1234, NEVER SHARE',
  'Smile: https://smile.example/r?u=http://x.example',
  'Smile: smile.example/r?u=http://x.example',
  'See https://riverside.example/go?to=https://bit.ly/x',
  'Now at RIVERSIDE.EXAMPLE/SUMMER/SALE or HTTPS://RIVERSIDE.EXAMPLE/BIG/WINTER/SALE, dear guests',
  'Am Samstag: große Eröffnung in der STRAßE',
  'YOUR ORDER READY at our shop',
  'NHS and BDA say: UK GP, ask DR OX',
  'The BBC and the NHS are in the UK, and so is HMRC',
  'مرحبا بكم في المتجر الجديد اليوم',
])('%j is not', async (text) => {
  expect((await advice(text)).codes).toEqual([]);
});

test.each([
  ['topic: offers', '20% off', true],
  ['messageType: PROMOTIONAL', '20% off', true],
  ['topic: spring-sale', '20% off', true],
  ['topic: boots\nmessageType: promotional', '20% off', true],
  ['topic: appointments', '20% off', false],
  ['topic: wholesale', '20% off', false],
  ['messageType: transactional', '20% off', false],
  ['topic: essential\nmessageType: marketing', '20% off', false],
  ['topic: offers', '20% off. Reply STOP to opt out', false],
  ['topic: offers', 'Stop scrolling! 20% off', true],
  ['topic: offers', '20% off: https://riverside.example/unsubscribe?u=1', false],
  ['topic: offers', '20% off: https://riverside.example/shop', true],
])('with %j, %j is a marketing text without a way to opt out: %s', async (settings, text, isWarned) => {
  expect((await advice(text, `channel: sms\n${settings}`)).codes).toEqual(isWarned ? ['no-opt-out'] : []);
});

const UNSUBSCRIBE = '<a href=https://riverside.example/u>Unsubscribe</a>';

test.each([
  ['content: { subject: Sale, text: "20% off" }', '', true],
  ['content: { subject: Sale, html: sale.html }', '', true],
  ['content: { subject: Sale, html: sale.html, text: "20% off" }', '', true],
  ['content: { subject: "Sale. Reply STOP to unsubscribe", html: sale.html }', '', false],
  ['content: { subject: Sale, text: "20% off. Unsubscribe: https://riverside.example/u" }', '', false],
  ['content: { subject: Sale, html: sale.html }', UNSUBSCRIBE, false],
  ['content: { subject: Sale, html: sale.html, text: "20% off" }', UNSUBSCRIBE, false],
  ['content: { subject: Sale, text: "20% off", unsubscribe: { mailto: u@riverside.example } }', '', false],
  ['template: { id: spring, needs: [name] }', '', false],
])('an email of marketing with %s and %j is without a way to opt out: %s', async (message, footer, isWarned) => {
  const files = { 'sale.html': `<p>20% off</p>${footer}` };
  const settings = (topic: string) => `channel: email\n${topic}\n${message}`;
  expect((await advice(null, settings('topic: offers'), files)).codes).toEqual(isWarned ? ['no-opt-out'] : []);
  expect((await advice(null, settings('topic: essential\nmessageType: marketing'), files)).codes).toEqual([]);
});

test('a button of RCS is a way to opt out, and a messaging app is no carrier, nor is email but for that', async () => {
  const rcs = 'channel: rcs\ntopic: offers';
  const button = `${rcs}\ncontent: { buttons: [{ text: Stop, reply: STOP }] }`;
  expect((await advice('20% off', rcs)).codes).toEqual(['no-opt-out']);
  expect((await advice('20% off', button)).codes).toEqual([]);
  const card = (title: string) => `${rcs}\ncontent: { card: { title: "${title}" } }`;
  expect((await advice(null, card('20% off'))).codes).toEqual(['no-opt-out']);
  expect((await advice(null, card('20% off. Reply STOP to end'))).codes).toEqual([]);
  const linked = `channel: rcs\ncontent: { text: See, buttons: [{ text: Shop, url: "http://tinyurl.com/x" }] }`;
  expect((await advice(null, linked)).codes).toEqual(['insecure-link', 'link-shortener']);
  const template = `${rcs}\ntemplate: { id: spring }\ncontent: { buttons: [{ text: Shop, url: "https://riverside.example" }] }`;
  expect((await advice(null, template)).codes).toEqual([]);
  expect((await advice('See http://bit.ly/x', 'channel: messaging-app\ntopic: offers')).codes).toEqual([]);
  const email = 'channel: email\ntopic: offers\ncontent: { subject: Sale, text: "See  http://bit.ly/x" }';
  expect((await advice(null, email)).codes).toEqual(['no-opt-out']);
});
