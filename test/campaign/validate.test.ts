import { describe, expect, it, test } from 'vitest';
import type { Diagnostic } from '../../src/errors.ts';
import { brief, check, SMALLEST, visible } from './helper.ts';

function one(diagnostics: readonly Diagnostic[]): Diagnostic {
  expect(brief(diagnostics)).toHaveLength(1);
  const [diagnostic] = diagnostics;
  if (diagnostic === undefined) throw new Error('There is no diagnostic.');
  return diagnostic;
}

const campaign = (lines: string, base = SMALLEST) => check('campaign', base + lines).diagnostics;
const project = (text: string) => check('project', text).diagnostics;

describe('a campaign with one mistake has one error', () => {
  test.each<[lines: string, expected: string, message: RegExp, hint: RegExp]>([
    ['chanel: sms', 'unknown-key 6:1', /"chanel" is not a key of a campaign/, /mean "channel"/],
    ['send: { concurency: 4 }', 'unknown-key 6:9', /"concurency" is not a key of "send"/, /mean "concurrency"/],
    [
      'limits: { stopAfter: { doubt: 4 } }',
      'unknown-key 6:24',
      /of "limits.stopAfter"/,
      /Known keys: inDoubt, rejected/,
    ],
    [
      'send: { windows: { from: "09:00", to: "20:00" } }',
      'unknown-key 6:9',
      /"windows" is not a key of "send"/,
      /^Did you mean "window"\? As for "windows": It belongs in handbill\.yaml\.$/,
    ],
    // Not where a key of that name is deep inside something else.
    ['schedule: { cron: "0 9 * * *", sender: "09:00" }', 'unknown-key 6:32', /of "schedule"/, /^Known keys: at, cron/],
    ['rate: 50/s', 'unknown-key 6:1', /"rate"/, /belongs under "send"/],
    // Only where such a value can be.
    ['send: { at: 2026-12-01T09:00 }', 'unknown-key 6:9', /of "send"/, /^It belongs under "schedule"\.$/],
    ['send: { at: { hour: 9 } }', 'unknown-key 6:9', /of "send"/, /^Known keys: concurrency/],
    ['rate: { max: 5 }', 'unknown-key 6:1', /"rate"/, /^(?!It belongs)/],
    ['send: { cron: [1, 2] }', 'unknown-key 6:9', /of "send"/, /^Known keys: concurrency/],
    ['send: { window: { rate: 50/s } }', 'unknown-key 6:19', /of "send.window"/, /^It belongs under "send"\.$/],
    // A key that is known elsewhere is no slip for one that is known here.
    ['text: Hi', 'unknown-key 6:1', /"text"/, /^It belongs under "template"\.$/],
    // Words of other tools.
    ['sender: Riverside', 'unknown-key 6:1', /"sender"/, /^It is called "from" here\.$/],
    [
      'body: Hi',
      'unknown-key 6:1',
      /"body"/,
      /^It is called "template" here: the name of a file, or `template: \{ text: "Hi \{\{name\}\}" \}`\.$/,
    ],
    ['message: Hi', 'unknown-key 6:1', /"message"/, /called "template"/],
    ['list: people.csv', 'unknown-key 6:1', /"list"/, /^It is called "recipients" here\.$/],
    ['to: mobile', 'unknown-key 6:1', /"to"/, /^It belongs under "recipients"\.$/],
    ['csv: x.csv', 'unknown-key 6:1', /"csv"/, /belongs under "recipients"/],
    ['baseUrl: https://evil.example', 'unknown-key 6:1', /"baseUrl"/, /belongs in handbill.yaml, under "environments/],
    ['environments: {}', 'unknown-key 6:1', /"environments"/, /belongs in handbill.yaml/],
    ['$schema: x', 'unknown-key 6:1', /"\$schema"/, /./],
    ['<<: { a: 1 }', 'unknown-key 6:1', /"<<"/, /Merge keys are not part of YAML 1.2/],
    ['toString: 1', 'unknown-key 6:1', /"toString"/, /./],
    [
      'accountReference: 07700900123',
      'unquoted-number 6:19',
      /number, 07700900123, and would lose its leading 0/,
      /"07700900123"/,
    ],
    ['accountReference: 42', 'unquoted-number 6:19', /number, 42\./, /accountReference: "42"/],
    [
      'accountReference: 12345678901234567890',
      'unquoted-number 6:19',
      /number, 12345678901234567890, and would lose its last digits/,
      /"12345678901234567890"/,
    ],
    ['messageType: 5', 'wrong-type 6:14', /must be text, but is a number/, /messageType: "5"/],
    ['messageType: yes', '', /./, /./],
    ['messageType: true', 'wrong-type 6:14', /must be text, but is true or false/, /messageType: "true"/],
    ['messageType:', 'wrong-type 6:13', /"messageType" is empty/, /Write a value/],
    ['messageType: ""', 'invalid-value 6:14', /"messageType" is empty/, /./],
    ['messageType: [a]', 'wrong-type 6:14', /must be text, but is a list/, /control characters/],
    ['messageType: "a\\nb"', 'invalid-value 6:14', /messageType/, /on one line/],
    ['characterSet: GSM', 'invalid-value 6:15', /cannot be "GSM"/, /mean "gsm"/],
    ['characterSet: latin', 'invalid-value 6:15', /cannot be "latin"/, /one of: auto, gsm, unicode/],
    ['transliterate: yes', 'wrong-type 6:16', /must be true or false, but is text/, /transliterate: true/],
    ['send: fast', 'wrong-type 6:7', /must be a mapping, but is text/, /./],
    ['send: { rate: 50 }', 'wrong-type 6:15', /must be text, but is a number/, /50\/s/],
    ['send: { rate: fast }', 'invalid-value 6:15', /cannot be "fast"/, /50\/s/],
    ['send: { timeout: 30 }', 'wrong-type 6:18', /must be text/, /30s/],
    ['send: { concurrency: 0 }', 'invalid-value 6:22', /at least 1, but is 0/, /./],
    ['send: { concurrency: 5000 }', 'invalid-value 6:22', /at most 1024/, /./],
    ['send: { concurrency: 1.5 }', 'wrong-type 6:22', /a whole number, but is a number/, /32/],
    ['send: { concurrency: "16" }', 'wrong-type 6:22', /a whole number, but is text/, /32/],
    ['limits: { stopAfter: { rejected: 5.5 } }', 'wrong-type 6:34', /whole number or text/, /5%/],
    ['limits: { stopAfter: { rejected: five } }', 'invalid-value 6:34', /cannot be "five"/, /5%/],
    ['metaData: { order: 0042 }', 'unquoted-number 6:20', /number, 0042, and would lose its leading 0/, /"0042"/],
    [
      'metaData: { a: [{ phone: +447700900123 }] }',
      'unquoted-number 6:26',
      /number, \+447700900123, and would lose its \+/,
      /"\+447700900123"/,
    ],
    [
      'metaData: { id: 9007199254740993 }',
      'unquoted-number 6:17',
      /number, 9007199254740993, and would lose its last digits/,
      /"9007199254740993"/,
    ],
    ['metaData: { id: 00 }', 'unquoted-number 6:17', /number, 00, and/, /"00"/],
    ['accountReference: 1e3', 'unquoted-number 6:19', /number, 1e3\./, /"1e3"/],
    ['accountReference: 0x10', 'unquoted-number 6:19', /number, 0x10\./, /"0x10"/],
    ['send: { concurrency: 0x1000 }', 'invalid-value 6:22', /at most 1024, but is 0x1000\./, /./],
    ['send: { concurrency: +1e9 }', 'invalid-value 6:22', /at most 1024, but is \+1e9\./, /./],
    ['send: { attempts: 012 }', 'invalid-value 6:19', /at most 10, but is 012\./, /./],
    ['limits: { maxRecipients: -1e0 }', 'invalid-value 6:26', /at least 1, but is -1e0\./, /./],
    ['metaData: []', 'wrong-type 6:11', /a mapping, but is a list/, /./],
    ['variables: { a: 1 }', 'wrong-type 6:17', /"variables.a" must be text/, /a: "1"/],
    ['variables: { a: { b: 1 } }', 'wrong-type 6:22', /"variables.a.b" must be text/, /b: "1"/],
    ['winner: { by: opens }', 'invalid-value 6:15', /cannot be "opens"/, /./],
    ['winner: { wait: soon }', 'invalid-value 6:17', /"winner.wait"/, /4h|24h/],
    ['exclude: [Welcome]', 'invalid-value 6:11', /./, /campaign@occurrence/],
    ['exclude: welcome@', 'invalid-value 6:10', /./, /campaign@occurrence/],
    ['frequency: often', 'invalid-value 6:12', /./, /exempt, none/],
    ['frequency: { max: 0, per: day }', 'invalid-value 6:19', /"frequency.max"/, /./],
    ['frequency: { max: 1 }', 'missing-key 6:1', /"per"/, /./],
    ['send: { window: { from: 9 } }', 'wrong-type 6:25', /"send.window.from" must be text/, /./],
    ['send: { window: { from: 25:00 } }', 'invalid-value 6:25', /"send.window.from"/, /time of day/],
    ['send: { window: open }', 'invalid-value 6:17', /"send.window"/, /mapping with from and to/],
    ['send: { canary: { pause: 1h } }', 'missing-key 6:9', /"steps"/, /steps: \[100, 1%, 10%\]/],
    [
      'send: { canary: { steps: 1, gate: 90% } }',
      'wrong-type 6:35',
      /a mapping, but is text/,
      /gate: \{ accepted: \S+ \}/,
    ],
    ['schedule: 0 9 * * 1', 'wrong-type 6:11', /a mapping, but is text/, /schedule: \{ cron: "0 9/],
  ])('%s', (lines, expected, message, hint) => {
    const diagnostics = campaign(`${lines}\n`);
    if (expected === '') return expect(diagnostics).toEqual([]);
    const found = one(diagnostics);
    expect(brief([found])).toEqual([expected]);
    expect(found.message).toMatch(message);
    expect(found.hint ?? '').toMatch(hint.source === '.' ? /^/ : hint);
    expect(found.source).toBe(lines);
    return undefined;
  });
});

describe('a campaign', () => {
  it('of the smallest kind is good', () => expect(campaign('')).toEqual([]));

  test.each([
    ['+447700900123', 'would lose its +'],
    ['07700900123', 'would lose its leading 0'],
    ['60123', ''],
  ])('with the sender %s gets the advice to quote it', (written, lost) => {
    const found = one(
      campaign('', `name: hello\nchannel: sms\nfrom: ${written}\ntemplate: { id: a }\nrecipients: p.csv\n`),
    );
    expect(found).toMatchObject({
      code: 'unquoted-number',
      at: { line: 3, column: 7 },
      hint: `Put it in quotes: from: "${written}"`,
    });
    expect(found.message).toContain(lost);
  });

  test.each(['0042', '42', '+1'])('with the template id %s gets the advice to quote it', (written) => {
    const found = one(campaign('', `name: hello\nchannel: sms\ntemplate: { id: ${written} }\nrecipients: p.csv\n`));
    expect(found).toMatchObject({ code: 'unquoted-number', hint: `Put it in quotes: id: "${written}"` });
  });

  test.each([
    ['template: { text: a, file: b, id: c }', 'invalid-value', /only one of "file", "text", "id"/],
    ['template: {}', 'missing-key', /needs one of/],
    ['template: [a]', 'wrong-type', /text or a mapping, but is a list/],
    ['template: 5', 'wrong-type', /must be text/],
    ['template: { text: { type: Program } }', 'wrong-type', /"template.text" must be text, but is a mapping/],
    ['template: { file: 5 }', 'wrong-type', /must be text/],
  ])('with %s has one error', (line, code, message) => {
    const found = one(campaign('', `name: hello\nchannel: sms\n${line}\nrecipients: p.csv\n`));
    expect(found.code).toBe(code);
    expect(found.message).toMatch(message);
  });

  test.each([
    ['smss', 'invalid-value', /cannot be "smss"/],
    ['SMS', 'invalid-value', /cannot be "SMS"/],
  ])('over %s is refused', (channel, code, message) => {
    const found = one(campaign('', `name: hello\nchannel: ${channel}\ntemplate: a.hbs\nrecipients: p.csv\n`));
    expect(found.code).toBe(code);
    expect(found.message).toMatch(message);
  });

  test.each(['Hello', 'he llo', '-hello', 'h'.repeat(65), 'hällo', '../x', '--upload-pack=x'])(
    'cannot be named %s',
    (name) => {
      const found = one(campaign('', `name: ${name}\nchannel: sms\ntemplate: a.hbs\nrecipients: p.csv\n`));
      expect(brief([found])).toEqual(['invalid-value 1:7']);
    },
  );

  it('has all its errors reported at once, one for each mistake', () => {
    const text = [
      'nam: hello',
      'channel: smss',
      'from: +447700900123',
      'send: { rate: x, window: 1 }',
      'frm: y',
      '',
    ].join('\n');
    expect([...brief(check('campaign', text).diagnostics)].sort()).toEqual([
      'invalid-value 2:10',
      'invalid-value 4:15',
      'unknown-key 1:1',
      'unknown-key 5:1',
      'unquoted-number 3:7',
      'wrong-type 4:26',
    ]);
  });

  it('with a misspelt key is not told that the key is missing too', () => {
    expect(brief(campaign('', 'nam: hello\nchannel: sms\ntemplte: a.hbs\n'))).toEqual([
      'unknown-key 1:1',
      'unknown-key 3:1',
    ]);
  });

  it.each([
    ['', 'empty'],
    ['[]', 'a list'],
    ['hello', 'text'],
    ['~', 'empty'],
  ])('that is %j is told so', (text, is) => {
    const found = one(check('campaign', text).diagnostics);
    expect(found.code).toBe('wrong-type');
    expect(found.message).toContain(is);
  });

  it('with 300 KB in a field is refused', () => {
    const long = `${'a'.repeat(300_000)}!`;
    for (const line of ['name', 'messageType', 'locale', 'validity', 'accountReference', long]) {
      const { diagnostics } = check('campaign', `${line}: "${long}"\n`);
      expect(diagnostics.length).toBeGreaterThan(0);
      for (const d of diagnostics)
        expect(d.message.length + (d.hint?.length ?? 0), d.message.slice(0, 80)).toBeLessThan(500);
    }
  });
});

describe('handbill.yaml', () => {
  const environment = (lines: string) =>
    `environments:\n  production:\n    baseUrl: https://api.example.com\n    apiKey: { env: KEY }\n${lines}`;

  test.each<[label: string, text: string, expected: string, hint: RegExp]>([
    ['a campaign key at the top', 'from: Riverside\n', 'unknown-key 1:1', /belongs under "defaults"/],
    ['lists as default', 'defaults: { suppressions: a.csv }\n', 'unknown-key 1:13', /belongs at the top level/],
    ['the suppression key itself', 'suppressionKey: 0123456789abcdef\n', 'literal-key 1:17', /must be replaced/],
    ['in the place of a name', `suppressionKey: { env: ${'a1'.repeat(32)} }\n`, 'literal-key 1:17', /must be replaced/],
    ['no suppression key', 'suppressionKey: {}\n', 'invalid-value 1:17', /HANDBILL_SUPPRESSION_KEY/],
    ['a country that has no numbers', 'defaultCountry: UKR\n', 'invalid-value 1:17', /two capital letters/],
    ['a channel that does not exist', 'defaults: { channel: fax }\n', 'invalid-value 1:22', /sms/],
    ['a list as default', 'defaults: { recipients: { csv: x } }\n', 'unknown-key 1:27', /Known keys: to, key/],
    ['a name as default', 'defaults: { name: x }\n', 'unknown-key 1:13', /^/],
    [
      'an environment in capitals',
      'environments:\n  P: { baseUrl: https://a.example, apiKey: { env: K } }\n',
      'invalid-value 2:3',
      /lower-case/,
    ],
    [
      'a sandbox with an address',
      'environments:\n  sandbox: { baseUrl: https://a.example }\n',
      'unknown-key 2:14',
      /its own/,
    ],
    ['a path of requests', environment('    wire: { path: /v3/messages }\n'), 'unknown-key 5:13', /^(?!It belongs)/],
    [
      'a rate among the settings of requests',
      environment('    wire: { rate: 5/s }\n'),
      'unknown-key 5:13',
      /under "env/,
    ],
    ['a sandbox with a key', 'environments:\n  sandbox: { apiKey: { env: K } }\n', 'unknown-key 2:14', /its own/],
    ['a key that is misspelt', environment('    rat: 5/s\n'), 'unknown-key 5:5', /mean "rate"/],
    [
      'a pointer that is none',
      environment('    wire: { response: { messageId: [id] } }\n'),
      'invalid-value 5:37',
      /JSON pointer/,
    ],
    [
      'a status that is none',
      environment('    wire: { answers: [{ status: 199, then: retry }] }\n'),
      'invalid-value 5:33',
      /^/,
    ],
  ])('with %s', (_label, text, expected, hint) => {
    const found = one(project(text));
    expect(brief([found])).toEqual([expected]);
    expect(found.hint ?? '').toMatch(hint);
  });

  test.each([
    ['a text', 'SEKRET-1', 'literal-key'],
    ['a quoted text', '"SEKRET-1"', 'literal-key'],
    ['a block', '|\n      SEKRET-1', 'literal-key'],
    ['a text on the next line', '\n      SEKRET-1', 'literal-key'],
    ['a list', '[SEKRET-1]', 'literal-key'],
    ['where a name belongs', '{ env: SEKRET-1 }', 'literal-key'],
    ['in hex, where a name belongs', '{ env: a3f0c2d4e5b6978812345678deadbeef }', 'literal-key'],
    ['under another name', '{ value: SEKRET-1 }', 'invalid-value'],
    ['as a key', '{ SEKRET-1 }', 'invalid-value'],
    ['as a key of its own', '{ env: KEY, SEKRET-1: x }', 'invalid-value'],
    ['beside a file', '{ env: SEKRET-1, file: x }', 'literal-key'],
    ['as an unclosed quote', '"SEKRET-1', 'yaml-syntax'],
    ['as an alias', '*SEKRET-1', 'yaml-syntax'],
    ['as a tag', '!SEKRET-1', 'yaml-tag'],
    ['as a block header', '|SEKRET-1', 'yaml-syntax'],
    ['with a reserved character', '@SEKRET-1', 'yaml-syntax'],
    ['with a colon', 'SEKRET-1: SEKRET-2', 'yaml-syntax'],
    ['with a bracket', '[SEKRET-1', 'yaml-syntax'],
    ['twice', 'SEKRET-1\n    apiKey: SEKRET-2', 'yaml-duplicate-key'],
  ])('with a literal key: %s', (_label, written, code) => {
    const diagnostics = project(`environments:\n  p:\n    baseUrl: https://a.example\n    apiKey: ${written}\n`);
    expect(diagnostics[0]?.code).toBe(code);
    expect(visible(diagnostics)).not.toContain('SEKRET');
  });

  test.each([
    'apikey: SEKRET-1',
    'api_key: SEKRET-1',
    'api-key: SEKRET-1',
    'key: SEKRET-1',
    'token: SEKRET-1',
    'headers: { X-Api-Key: SEKRET-1 }',
    'rate: 5, apiKey: SEKRET-1',
    'secrets: { token: SEKRET-1 }',
    'secrets: SEKRET-1',
    'secrets: { token: { value: SEKRET-1 } }',
    'secrets: { token: { env: SEKRET-1 } }',
    'secret: { token: SEKRET-1 }',
    'secrets: { token: [SEKRET-1] }',
  ])('with a key in an unexpected place: %s', (line) => {
    const diagnostics = project(`environments:\n  p: { ${line} }\n`);
    expect(diagnostics.length).toBeGreaterThan(0);
    expect(visible(diagnostics)).not.toContain('SEKRET');
  });

  it('with a key in a campaign file does not show it either', () => {
    const diagnostics = campaign('apiKey: SEKRET-1\nfrm: x\n');
    expect(diagnostics.map((d) => d.code)).toEqual(['unknown-key', 'unknown-key']);
    expect(visible(diagnostics)).not.toContain('SEKRET');
  });
});
