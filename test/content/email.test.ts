import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { EMAIL_LIMITS, email } from '../../src/content/email.ts';
import {
  emailContent,
  MAX_UNSUBSCRIBE_URL,
  unsubscribeHeaders,
  withPreheader,
} from '../../src/content/email-content.ts';
import { loadHtmlText } from '../../src/content/html-text.ts';
import type { JsonObject } from '../../src/model.ts';
import { anyText } from '../helpers/any-text.ts';
import { golden } from '../helpers/golden.ts';
import { examples } from '../helpers/quick.ts';
import { stated } from './check-table.ts';

const textOfHtml = await loadHtmlText();
const GOOD: JsonObject = { subject: 'Your table', html: '<p>x</p>' };

const brief = (content: JsonObject, text?: string | null) =>
  email.check(content, text).map(({ code, severity, pointer }) => `${severity} ${code} ${pointer}`);

golden('an email can be sent, or has problems at their places', 'content/email', (input) => {
  const { content, text } = JSON.parse(input);
  return stated(email.check(content, text));
});

golden('an email says how to unsubscribe in its headers', 'content/unsubscribe', (unsubscribe) =>
  unsubscribeHeaders({ ...GOOD, unsubscribe: JSON.parse(unsubscribe) }),
);

test.each<[label: string, content: JsonObject, problem: string, message: RegExp]>([
  ['a subject of 999 bytes', { ...GOOD, subject: 'x'.repeat(999) }, 'error content-limit /subject', /999 bytes.*998/],
  [
    'a subject of 998 bytes',
    { ...GOOD, subject: 'x'.repeat(998) },
    'warning content-advice /subject',
    /998 characters.*70/,
  ],
  ['HTML that is clipped', { ...GOOD, html: 'x'.repeat(102 * 1024 + 1) }, 'warning content-advice /html', /103 KB/],
  [
    'HTML that is clipped for its bytes',
    { ...GOOD, html: 'é'.repeat(60_000) },
    'warning content-advice /html',
    /118 KB/,
  ],
  [
    'an address beyond a line',
    { ...GOOD, unsubscribe: { url: `https://a.example/${'x'.repeat(900)}` } },
    'error content-invalid /unsubscribe/url',
    /unsubscribe/,
  ],
])('%s', (_label, content, expected, message) => {
  expect(brief(content)).toEqual([expected]);
  expect(email.check(content, undefined)[0]?.message).toMatch(message);
});
it('says everything at once', () => {
  expect(brief({ subject: '', preheader: 'x', unsubscribe: { url: 'x', oneClick: true } })).toEqual([
    'error content-invalid /subject',
    'error content-invalid /text',
    'warning content-advice /preheader',
    'error content-invalid /unsubscribe/url',
  ]);
});

it('lets no subject pass that would begin another header', () => {
  fc.assert(
    fc.property(anyText(40), fc.constantFrom('\r', '\n', '\r\n', '\0', '\x7f', '\x85'), (text, sign) => {
      const subject = `${text}${sign}${text}`;
      expect(brief({ ...GOOD, subject }, 'x')).toContain('error content-invalid /subject');
    }),
  );
});

it('judges every subject by its bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1200 }), (text) => {
      const subject = text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, 'x');
      const over = Buffer.byteLength(subject) > EMAIL_LIMITS.subjectOctets;
      expect(brief({ ...GOOD, subject }).includes('error content-limit /subject')).toBe(over);
    }),
  );
});

it('has no subject when there is nothing but a text', () => {
  expect(brief({}, 'x')).toEqual(['error content-invalid /subject']);
  // The same of a text that depends on the row: it is the campaign that lacks one, and no row.
  expect(brief({}, null)).toContain('error content-invalid /subject');
  expect(brief({ preheader: 'x' }, null)).toContain('error content-invalid /subject');
});

describe('unsubscribe headers', () => {
  it('are none without content.unsubscribe', () => expect(unsubscribeHeaders(GOOD)).toEqual({}));

  it('are one line of ASCII each, with the addresses in brackets, whatever the values hold', () => {
    const part = fc.oneof(anyText(20), fc.constantFrom('>', '<', ',', '\r\n', ' ', '%', '@', '#', '?'));
    const text = fc.array(part, { maxLength: 6 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, text, (path, name) => {
        const headers = unsubscribeHeaders({
          unsubscribe: { url: `https://a.example/${path}`, mailto: `${name}@a.example`, oneClick: true },
        });
        for (const value of Object.values(headers)) {
          expect(value).toMatch(/^(?:<[!-;=?-~]+>(?:, <[!-;=?-~]+>)?|List-Unsubscribe=One-Click)$/);
          expect(value.length).toBeLessThan(2 * MAX_UNSUBSCRIBE_URL + 20);
        }
      }),
      { numRuns: examples(500) },
    );
  });
});

describe('an email on the wire', () => {
  it('has its preheader in the HTML and its text made from it', () => {
    const tree = {
      subject: 'Your table',
      preheader: 'Half <past> "seven" & more',
      html: '<html><body class="a>b"><p>Dear Ann</p></body></html>',
      unsubscribe: { url: 'https://a.example/u' },
    };
    const { content, text } = emailContent(tree, undefined, textOfHtml);
    expect(Object.keys(content)).toEqual(['subject', 'html']);
    expect(content['subject']).toBe('Your table');
    expect(content['html']).toMatch(
      /^<html><body class="a>b"><div style="display:none;[^"]*">Half &lt;past&gt; &quot;seven&quot; &amp; more(?:&zwnj;&nbsp;){124}<\/div><p>Dear Ann<\/p><\/body><\/html>$/,
    );
    expect(text).toBe('Dear Ann');
  });

  it('keeps a text of its own', () => {
    expect(emailContent({ subject: 'x', html: '<p>a</p>' }, 'b', textOfHtml)).toEqual({
      content: { subject: 'x', html: '<p>a</p>' },
      text: 'b',
    });
  });

  it('can be only a text, or only pictures', () => {
    expect(emailContent({ subject: 'x', preheader: 'y' }, 'b', textOfHtml)).toEqual({
      content: { subject: 'x' },
      text: 'b',
    });
    expect(emailContent({ subject: 'x', html: '<img src="a">' }, undefined, textOfHtml).text).toBeUndefined();
  });

  it('has the same text with and without a preheader: mail programs and readers see it once', () => {
    const html = '<body><p>Dear Ann</p></body>';
    expect(textOfHtml(withPreheader(html, 'Half past seven'))).toBe(textOfHtml(html));
  });
});

test.each<[label: string, html: string, before: string]>([
  ['a body', '<html><body><p>', '<html><body>'],
  ['a body in capitals with attributes', '<BODY bgcolor=red\n id="x">y', '<BODY bgcolor=red\n id="x">'],
  ['no body', '<p>x</p>', ''],
  ['a body in a comment', '<!-- <body> --><body>x', '<!-- <body> --><body>'],
  ['a comment that is not closed', '<!-- <body>x', ''],
  ['a tag that is not closed', '<body class="', ''],
  ['another tag that begins so', '<bodyguard><body>x', '<bodyguard><body>'],
])('the preheader comes after %s', (_label, html, before) => {
  const whole = withPreheader(html, 'seven');
  expect(whole.startsWith(`${before}<div style="display:none`)).toBe(true);
  expect(whole.endsWith(`</div>${html.slice(before.length)}`)).toBe(true);
});

test('a preheader in another direction is sent unchanged', () => {
  expect(withPreheader('<body>', '\u200fمرحبا\u200f')).toContain('>\u200fمرحبا\u200f&zwnj;');
});

test('no preheader, no change', () => expect(withPreheader('<body>x', ' ')).toBe('<body>x'));

it('finds the body of hostile HTML in time', () => {
  for (const piece of ['<!--', '<body', '<body "', '<']) {
    const start = performance.now();
    expect(withPreheader(piece.repeat(100_000), 'x')).toContain('display:none');
    expect(performance.now() - start).toBeLessThan(10_000);
  }
});

test('the table of docs/email.md has the figures', () => {
  const guide = readFileSync(new URL('../../docs/email.md', import.meta.url), 'utf8');
  const table = guide.slice(0, guide.indexOf('## MJML'));
  const { subjectOctets, subjectAdvised, preheaderAdvised, htmlAdvised } = EMAIL_LIMITS;
  for (const figure of [subjectOctets, subjectAdvised, preheaderAdvised, htmlAdvised / 1024, MAX_UNSUBSCRIBE_URL]) {
    expect(table).toMatch(new RegExp(`\\b${figure}\\b`));
  }
});
