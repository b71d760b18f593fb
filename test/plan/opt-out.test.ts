import { expect, test } from 'vitest';
import { createOptOutFinder } from '../../src/plan/opt-out.ts';
import { golden } from '../helpers/golden.ts';
import { examples } from '../helpers/quick.ts';

const saysHow = createOptOutFinder(['raus']);

golden('a text says how to opt out, or only holds such words', 'plan/opt-out', (text) =>
  saysHow(text, null) ? 'yes' : 'no',
);

test('words of the project count as those of replies do', () => {
  expect(saysHow('20 % auf alles. Antworte RAUS', null)).toBe(true);
  expect(saysHow('Raus aus dem Alltag: 20 % auf alles', null)).toBe(false);
});

test.each([
  [{ buttons: [{ text: 'Stop', reply: 'STOP' }] }, true],
  [{ buttons: [{ text: 'No more offers', reply: 'no-more' }] }, true],
  [{ buttons: [{ text: 'Opt out', url: 'https://riverside.example/o' }] }, true],
  [{ buttons: [{ text: 'Too many texts?', url: 'https://riverside.example/unsubscribe' }] }, true],
  [{ card: { title: 'Boots', buttons: [{ text: 'Darme de baja', reply: 'BAJA' }] } }, true],
  [{ card: { title: 'Boots', description: '20% off. Reply STOP to opt out' } }, true],
  [{ card: { title: 'Stop scrolling', description: 'Our big sale' } }, false],
  [{ buttons: [{ text: 'Shop non-stop', url: 'https://riverside.example/non-stop' }] }, false],
])('a rich message with %j says how: %s', (content, isSaid) => {
  expect(saysHow('20% off', content)).toBe(isSaid);
});

test.each([
  ['<p>20% off</p><a href="https://rvs.example/w">Abmelden</a>', true],
  ['<p>20% off</p><a href="https://rvs.example/unsubscribe/1">here</a>', true],
  ["<p>20% off</p><p>No more?</p><a class=x href='https://rvs.example/optout'>Here</a>", true],
  ['<p class="stop">20% off</p><td align="end">Boots</td>', false],
  ['<style>.unsubscribe { color: red }</style><p id="unsubscribe">20% off</p>', false],
])('an email with %s says how: %s', (html, isSaid) => {
  expect(saysHow('20% off', { subject: 'Sale', html })).toBe(isSaid);
});

// A pattern that grows with the square of the text takes minutes here, and the test times out.
test.each([
  ['a', false],
  ['a.', false],
  ['a-', false],
  ['stop ', false],
  ['reply to ', false],
  ['http://', false],
  ['x/', false],
  ['"stop" ', true],
  ['STOP2', false],
  ['<a href= ', false],
  ['<style>', false],
  ['manage your ', false],
])('a text of any length has an answer: %j again and again', (part, says) => {
  expect(saysHow(part.repeat(examples(100_000)), null)).toBe(says);
  expect(saysHow('', { html: part.repeat(examples(100_000)) })).toBe(says);
});
