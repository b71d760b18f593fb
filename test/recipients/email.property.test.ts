import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readEmail } from '../../src/recipients/email.ts';

const numRuns = process.env['HANDBILL_FULL'] === '1' ? 50_000 : 3000;
const read = readEmail;

// What means something to a mail header, to a domain, to quotes or to Unicode, and plain letters.
const character = fc.constantFrom(
  ...['a', 'B', '7', '.', '-', '_', '+', '@', '"', '\\', "'", '<', '>', ' ', ',', ';', ':', '%', '[', ']', '(', '/'],
  ...['\r', '\n', '\0', '\u200b', '\u2028', 'é', 'e\u0301', 'ß', '例', '。', '．', '／', '７', '😀', '\ud800', 'K'],
);
const soup = fc.string({ unit: character, maxLength: 20 });
const word = fc.string({ unit: fc.constantFrom('a', 'B', '7', '-', 'é', '例', 'ß', '.'), minLength: 1, maxLength: 70 });
const written = fc.oneof(
  soup,
  fc.string(),
  fc.tuple(soup, soup).map(([local, domain]) => `${local}@${domain}.com`),
  fc.tuple(word, fc.array(word, { minLength: 1, maxLength: 5 })).map(([local, d]) => `${local}@${d.join('.')}`),
  fc.tuple(soup, word).map(([local, domain]) => `"${local}"@${domain}.example`),
  fc.emailAddress(),
);

test('whatever is in a cell, an accepted address keeps the rules and is read again as itself', () => {
  let accepted = 0;
  const property = fc.property(written, (raw) => {
    const found = read(raw);
    if ('problem' in found) {
      expect(found.problem).toMatch(/^\S.*[^.]$/s);
      expect(found.problem).not.toMatch(/[\p{Cc}\p{Cs}]/u);
      return;
    }
    accepted++;
    const { to: email } = found;
    const at = email.lastIndexOf('@');
    const domain = email.slice(at + 1);
    expect(email).not.toMatch(/[\p{C}\u2028\u2029]/u);
    expect(Buffer.byteLength(email.slice(0, at))).toBeLessThanOrEqual(64);
    expect(Buffer.byteLength(email)).toBeLessThanOrEqual(254);
    expect(domain).toMatch(/^[a-z0-9.-]+\.[a-z0-9-]+$/);
    for (const label of domain.split('.')) {
      expect(label.length).toBeGreaterThan(0);
      expect(label.length).toBeLessThanOrEqual(63);
    }
    // Nothing outside quotes separates addresses or ends a header.
    if (!email.startsWith('"')) expect(email.slice(0, at)).not.toMatch(/[\s,;:<>()[\]@"\\]/);
    expect(read(email)).toMatchObject({ to: email });
  });
  fc.assert(property, { numRuns });
  expect(accepted).toBeGreaterThan(0);
});

test('every address that RFC 5322 has in plain letters is accepted, its domain in lower case', () => {
  const property = fc.property(fc.emailAddress(), (address) => {
    fc.pre(!address.startsWith("'"));
    const at = address.lastIndexOf('@');
    expect(read(address)).toMatchObject({ to: address.slice(0, at) + address.slice(at).toLowerCase() });
  });
  fc.assert(property, { numRuns });
});
