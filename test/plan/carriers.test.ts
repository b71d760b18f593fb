import { expect, test } from 'vitest';
import { handbillHere } from '../cli/in-process.ts';
import { golden } from '../helpers/golden.ts';
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

golden('carriers hold back these texts', 'plan/carriers', async (text) => {
  const { codes, said } = await advice(text);
  return codes.length === 0 ? [] : [codes.join(' '), said];
});

golden('a marketing text says how to opt out', 'plan/marketing', async (input) => {
  const [text = '', ...settings] = input.split('\n');
  return (await advice(text, ['channel: sms', ...settings].join('\n'))).codes;
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
