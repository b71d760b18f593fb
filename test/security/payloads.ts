import process from 'node:process';

/** What an attacker would write into a name or an answer to run a script in the browser that shows it. */
export const SCRIPTS: readonly string[] = [
  '<script>alert(1)</script>',
  '</title><script>alert(1)</script>',
  '</style><script>alert(1)</script>',
  '</td></tr></table><script>alert(1)</script>',
  '--><script>alert(1)</script>',
  '<![CDATA[<script>alert(1)</script>]]>',
  '<ScRiPt>alert(1)</sCrIpT>',
  '<script\n>alert(1)</script\n>',
  '<script/src=http://127.0.0.1:PORT/x.js></script>',
  '<script src="http://127.0.0.1:PORT/x.js"></script>',
  '<img src=x onerror=alert(1)>',
  '<img src=http://127.0.0.1:PORT/x.png>',
  '<svg onload=alert(1)>',
  '<svg><script>alert(1)</script></svg>',
  '<body onload=alert(1)>',
  '<iframe src="javascript:alert(1)"></iframe>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<object data="http://127.0.0.1:PORT/x"></object>',
  '<embed src="http://127.0.0.1:PORT/x">',
  '<link rel=stylesheet href=http://127.0.0.1:PORT/x.css>',
  '<style>@import "http://127.0.0.1:PORT/x.css";</style>',
  '<style>body{background:url(http://127.0.0.1:PORT/x)}</style>',
  '<meta http-equiv=refresh content="0;url=http://127.0.0.1:PORT/">',
  '<base href="http://127.0.0.1:PORT/">',
  '<form action=http://127.0.0.1:PORT/><input autofocus onfocus=alert(1)>',
  '<details open ontoggle=alert(1)>',
  '<video><source onerror=alert(1)></video>',
  '<a href="javascript:alert(1)" autofocus onfocus="alert(1)">x</a>',
  '" onmouseover="alert(1)" style="position:fixed;inset:0',
  "' onmouseover='alert(1)' x='",
  '` onmouseover=alert(1) `',
  '"><script>alert(1)</script>',
  "'><script>alert(1)</script>",
  'javascript:alert(1)',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '&#60;script&#62;alert(1)&#60;/script&#62;',
  '\\u003cscript\\u003ealert(1)\\u003c/script\\u003e',
  '＜script＞alert(1)＜/script＞',
  '<\u0000script>alert(1)</script>',
  '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>',
];

/** What a terminal would obey, each with a name. */
const ESCAPES: readonly (readonly [string, string])[] = [
  ['clipboard (OSC 52)', '\u001b]52;c;ZXZpbA==\u0007'],
  ['link (OSC 8)', '\u001b]8;;http://evil.test\u001b\\click\u001b]8;;\u001b\\'],
  ['title (OSC 0)', '\u001b]0;owned\u0007'],
  ['clear screen (CSI 2J)', '\u001b[2J\u001b[H'],
  ['C1 control sequence', '\u009b2J\u0090x\u009c'],
  ['carriage return', 'failed\rall is well'],
  ['backspaces and bell', 'abc\b\b\bxyz\u0007\u007f'],
  ['right-to-left override', 'a\u202egpj.exe\u2066x\u2069'],
  ['line separators', 'a\u2028b\u2029c\u0085d'],
  ['byte order mark', 'a\ufeffb'],
];

export const ALL_ESCAPES = ESCAPES.map(([, text]) => text).join('');

/** All in one for a sample, one by one in the full set. */
export const CHOSEN = process.env['HANDBILL_FULL'] === '1' ? ESCAPES : [['all of them', ALL_ESCAPES] as const];

/** What a terminal may be given: no control but tab and newline, nothing that turns the line round. */
export const PRINTABLE =
  /^[\t\n\x20-\x7e\u00a0-\u061b\u061d-\u200d\u2010-\u2027\u202f-\u2065\u206a-\ufefe\uff00-\uffff\u{10000}-\u{10ffff}]*$/u;
