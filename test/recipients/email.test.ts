import { describe, expect, it, test } from 'vitest';
import { readEmail } from '../../src/recipients/email.ts';

const read = readEmail;

/** The address, or what is wrong with it. */
function said(raw: string): string {
  const found = read(raw);
  return 'problem' in found ? `! ${found.problem}` : found.to;
}

const a = (length: number, letter = 'a'): string => letter.repeat(length);

describe('email addresses', () => {
  const cases: readonly [label: string, written: string, email: string][] = [
    ['plain', 'jane@example.com', 'jane@example.com'],
    ['case counts before the @ only', 'Jane.DOE@Example.COM', 'Jane.DOE@example.com'],
    ['blanks around it', ' \tjane@example.com \n', 'jane@example.com'],
    ['marks that show nothing around it', '\ufeff\u200bjane@example.com\u202c', 'jane@example.com'],
    ['a tag stays', 'jane+spring@example.com', 'jane+spring@example.com'],
    ['dots stay', 'j.a.n.e@example.com', 'j.a.n.e@example.com'],
    ['an apostrophe inside', "o'brien@example.com", "o'brien@example.com"],
    ['everything that RFC 5322 calls atext', "a!#$%&'*+-/=?^_`{|}~0@example.com", "a!#$%&'*+-/=?^_`{|}~0@example.com"],
    ['short', 'a@b.c', 'a@b.c'],
    ['a local part in quotes', '"jane doe"@example.com', '"jane doe"@example.com'],
    ['an @ in quotes', '"jane@home"@example.com', '"jane@home"@example.com'],
    ['quotes that are not needed', '"jane"@example.com', 'jane@example.com'],
    ['backslashes that are not needed', '"j\\ane d\\oe"@example.com', '"jane doe"@example.com'],
    ['backslashes that are needed', '"a\\"b\\\\c"@example.com', '"a\\"b\\\\c"@example.com'],
    ['a domain of other letters', 'jane@Zürich.example', 'jane@xn--zrich-kva.example'],
    ['the same, composed otherwise', 'jane@zu\u0308rich.example', 'jane@xn--zrich-kva.example'],
    ['the same, converted before', 'jane@XN--ZRICH-KVA.example', 'jane@xn--zrich-kva.example'],
    ['dots of other scripts', 'jane@例え。テスト', 'jane@xn--r8jz45g.xn--zckzah'],
    ['a local part of other letters', 'zoe\u0308@example.com', 'zoë@example.com'],
    ['a name in front', 'Jane Doe <Jane@Example.com>', 'Jane@example.com'],
    ['a name in quotes', '"Doe, Jane" <jane@example.com>', 'jane@example.com'],
    ['only angle brackets', '<jane@example.com>', 'jane@example.com'],
    ['a link', 'mailto:jane@example.com', 'jane@example.com'],
    ['64 octets before the @', `${a(64)}@example.com`, `${a(64)}@example.com`],
    ['64 octets of two-octet letters', `${a(32, 'é')}@example.com`, `${a(32, 'é')}@example.com`],
    ['63 characters between dots', `jane@${a(63)}.com`, `jane@${a(63)}.com`],
    ['254 octets', `${a(4)}@${a(61)}.${a(61)}.${a(61)}.${a(63)}`, `${a(4)}@${a(61)}.${a(61)}.${a(61)}.${a(63)}`],
  ];

  test.each(cases)('%s', (_, written, email) => {
    expect(read(written)).toEqual({ to: email, country: null, assigned: true });
  });
});

describe('text that is not an email address', () => {
  const cases: readonly [label: string, written: string, problem: string][] = [
    ['nothing', '', 'is empty'],
    ['blanks', ' \u00a0', 'is empty'],
    ['a word', 'jane', 'is not an email address: it has no "@"'],
    ['a phone number', '+44 7700 900123', 'is not an email address: it looks like a phone number'],
    ['no local part', '@example.com', 'has nothing before the "@"'],
    ['no domain', 'jane@', 'has nothing after the "@"'],
    ['two @', 'jane@home@example.com', 'has more than one "@"'],
    ['two, with a comma', 'a@x.com, b@x.com', 'is more than one address'],
    ['two, with a semicolon', 'a@x.com;b@x.com', 'is more than one address'],
    ['two, with a blank', 'a@x.com b@x.com', 'is more than one address'],
    ['two, with a line end', 'a@x.com\r\nb@x.com', 'is more than one address'],
    ['two, one as the name of the other', 'a@x.com <b@x.com>', 'is more than one address'],
    ['a header', 'a@x.com\r\nBcc: b@x.com', 'holds a line end'],
    ['a header in quotes', '"a\r\nBcc: b"@x.com', 'holds a line end'],
    ['a header by only LF', 'a@x.com\nSubject: x', 'holds a line end'],
    ['a header by only CR', 'a@x.com\rSubject: x', 'holds a line end'],
    ['a line end of Unicode', 'a\u2028b@x.com', 'holds a line end'],
    ['NUL', 'a\0@x.com', 'holds the control character U+0000'],
    ['DEL', 'a\x7f@x.com', 'holds the control character U+007F'],
    ['C1', 'a\u0085@x.com', 'holds the control character U+0085'],
    ['a comma behind it', 'a@x.com,', 'ends with ","'],
    ['a comma inside', 'a,b@x.com', 'holds ","'],
    ['a link with a subject', 'mailto:a@x.com?subject=x', 'is a link'],
    ['a link with escapes', 'mailto:a%2Bb@x.com', 'is a link'],
    ['half of the angle brackets', 'Jane <a@x.com', 'has angle brackets'],
    ['dot first', '.a@x.com', 'has a dot too many before the "@"'],
    ['dot last', 'a.@x.com', 'has a dot too many before the "@"'],
    ['two dots', 'a..b@x.com', 'has a dot too many before the "@"'],
    ['an apostrophe in front', "'a@x.com", 'begins with an apostrophe'],
    ['a blank before the @', 'jane doe@x.com', 'has a blank before the "@"'],
    ['a blank after the @', 'jane@x .com', 'has a blank after the "@"'],
    ['a quote inside', 'a"b@x.com', 'has \'"\' before the "@"'],
    ['a comment', 'jane(home)@x.com', 'has "(" before the "@"'],
    ['a character that cannot be seen', 'ja\u200bne@x.com', 'holds a character that cannot be seen (U+200B)'],
    ['a blank that does not break', 'jane\u00a0@x.com', 'holds a character that cannot be seen (U+00A0)'],
    ['half a character', 'jane\ud800@x.com', 'holds a character that cannot be seen (U+D800)'],
    ['an override in the domain', 'jane@\u202ex.com', 'holds a character that cannot be seen (U+202E)'],
    ['one name of a domain', 'jane@localhost', 'has no ending such as ".com"'],
    ['an IP address', 'jane@192.0.2.1', 'has a domain that ends in a number'],
    ['an IP address in full width', 'jane@１９２.0.2.1', 'has a domain that ends in a number'],
    ['an IP address in brackets', 'jane@[192.0.2.1]', 'has an IP address for a domain'],
    ['an underscore', 'jane@a_b.com', 'has "_" after the "@"'],
    ['a percent sign', 'jane@ex%41mple.com', 'has "%" after the "@"'],
    ['a percent sign between other letters', 'jane@zü%41.com', 'has "%" after the "@"'],
    ['a slash', 'jane@x.com/y', 'has "/" after the "@"'],
    ['a port', 'jane@x.com:25', 'has ":" after the "@"'],
    ['a slash in full width', 'jane@x.com／y', 'has a domain that cannot be one: its letters cannot be combined'],
    ['a hyphen first', 'jane@-x.com', 'has a hyphen next to a dot, or at an end of its domain'],
    ['a hyphen last', 'jane@x-.com', 'has a hyphen next to a dot, or at an end of its domain'],
    ['a dot behind it', 'jane@x.com.', 'ends with a dot'],
    ['two dots in the domain', 'jane@x..com', 'has a dot too many after the "@"'],
    ['65 octets before the @', `${a(65)}@x.com`, 'has 65 octets before the "@", and 64 are the most'],
    ['66 octets of two-octet letters', `${a(33, 'é')}@x.com`, 'has 66 octets before the "@", and 64 are the most'],
    [
      '64 characters between dots',
      `jane@${a(64)}.com`,
      'has 64 characters between two dots of its domain, and 63 are the most',
    ],
    [
      '64 after it was converted',
      `jane@${a(58, 'ü')}.com`,
      'has 64 characters between two dots of its domain, and 63 are the most',
    ],
    ['255 octets', `${a(5)}@${a(61)}.${a(61)}.${a(61)}.${a(63)}`, 'has 255 octets, and no address has more than 254'],
    ['a text', a(2000), 'has 2000 characters, and no address has more than 254'],
  ];

  test.each(cases)('%s', (_, written, problem) => {
    expect(said(written)).toBe(`! ${problem}`);
  });

  it('is read or refused, however it is written', () => {
    const hostile = [
      '@@',
      `@${a(400, ' ')}`,
      a(900, '"'),
      `${a(900, 'a.')}@x`,
      `"${a(900, '\\a')}`,
      `<${a(800, '<')}@`,
    ];
    for (const piece of hostile) {
      for (const text of [piece, piece + a(900, ' '), a(900, ',') + piece]) expect(() => read(text)).not.toThrow();
    }
  });
});
