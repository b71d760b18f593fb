import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runnerOf } from '../helpers/here.ts';
import { createProject, type ProjectFiles } from '../helpers/project.ts';
import { type RawServer, startRawServer } from '../helpers/raw-server.ts';

const HEAD = 'name: hello\nfrom: Riverside\nrecipients: people.csv\n';
const PEOPLE = 'msisdn,email,contact,name,points\n+447700900011,ana@example.com,c-1,Ana,12\n';
const SECOND = '+447700900012,ravi@example.com,c-2,Ravi Shankar the Younger,30\n';

interface Wrong {
  /** What follows the first three lines of the campaign. */
  readonly yaml: string;
  /** Instead of the first three lines. */
  readonly head?: string;
  /** Files that differ from the good project. */
  readonly files?: ProjectFiles;
  readonly code: string;
  /** Where stderr must say that the fault is: file, line and column, or the line of a row. */
  readonly at: string;
  /** What the message must say of it. */
  readonly says: RegExp;
}

const variants = (count: number): string =>
  `channel: sms\nvariants:\n${Array.from({ length: count }, (_, i) => `  - { name: v${i + 1}, template: { text: Hi ${i + 1} } }\n`).join('')}`;

const buttons = (channel: string, list: readonly string[]): string =>
  `channel: ${channel}\ncontent:\n  text: Hello\n  buttons:\n${list.map((one) => `    - ${one}\n`).join('')}`;

const rows = (count: number): string =>
  Array.from({ length: count }, (_, i) => `          - { id: r${i}, title: Row ${i} }\n`).join('');

const CARD = '{ title: Check-up, media: { url: https://riverside.example/a.jpg, height: short } }';

const EMAIL = 'channel: email\ncontent:\n  subject: Hello\n';

const WRONG: Readonly<Record<string, Wrong>> = {
  // Variants
  'eleven variants': { yaml: variants(11), code: 'invalid-value', at: 'campaign.yaml:16:5', says: /11 variants/ },
  'one variant': { yaml: variants(1), code: 'invalid-value', at: 'campaign.yaml:6:3', says: /no comparison/ },
  'two variants of one name': {
    yaml: variants(2).replace('v2', 'v1'),
    code: 'invalid-value',
    at: 'campaign.yaml:7:13',
    says: /named "v1"/,
  },
  'a winner that is not a variant': {
    yaml: `${variants(2)}test: 20%\nwinner: v3\n`,
    code: 'invalid-value',
    at: 'campaign.yaml:9:9',
    says: /no variant "v3"/,
  },
  'a test of nothing': {
    yaml: 'channel: sms\ntemplate: { text: Hi }\ntest: 20%\n',
    code: 'invalid-value',
    at: 'campaign.yaml:6:7',
    says: /compares variants/,
  },
  'a variant that says nothing': {
    yaml: variants(2).replace(', template: { text: Hi 2 }', ''),
    code: 'missing-key',
    at: 'campaign.yaml:7:5',
    says: /neither/,
  },
  'four buttons in a variant': {
    yaml: `channel: messaging-app\nvariants:\n  - { name: a, template: { text: Hi } }\n  - name: b\n    content:\n      text: Hi\n      buttons:\n${['a', 'b', 'c', 'd'].map((id) => `        - { text: ${id}, reply: ${id} }\n`).join('')}`,
    code: 'content-limit',
    at: 'campaign.yaml:14:11',
    says: /at most 3/,
  },
  // Messaging app
  'four buttons': {
    yaml: buttons(
      'messaging-app',
      ['a', 'b', 'c', 'd'].map((id) => `{ text: Answer ${id}, reply: ${id} }`),
    ),
    code: 'content-limit',
    at: 'campaign.yaml:11:7',
    says: /4 reply buttons; messaging-app takes at most 3/,
  },
  'a label that is too long': {
    yaml: buttons('messaging-app', ['{ text: An answer that is far too long, reply: a }']),
    code: 'content-limit',
    at: 'campaign.yaml:8:15',
    says: /30 characters.* at most 20/,
  },
  'a label that is too long in one row': {
    yaml: buttons('messaging-app', ['{ text: "Call {{name}}", reply: a }']),
    files: { 'hello/people.csv': PEOPLE + SECOND },
    code: 'content-limit',
    at: 'people.csv:3',
    says: /29 characters.* at most 20/,
  },
  'an answer and a link': {
    yaml: buttons('messaging-app', ['{ text: A, reply: a }', '{ text: B, url: https://riverside.example }']),
    code: 'content-invalid',
    at: 'campaign.yaml:9:7',
    says: /link/,
  },
  'a list and buttons': {
    yaml: `${buttons('messaging-app', ['{ text: A, reply: a }'])}  list: { button: Open, sections: [{ rows: [{ id: a, title: A }] }] }\n`,
    code: 'content-invalid',
    at: 'campaign.yaml:9:9',
    says: /list/,
  },
  'an image that is not fetched by https': {
    yaml: 'channel: messaging-app\ncontent:\n  header: { image: http://riverside.example/a.jpg }\n  text: Hi\n',
    code: 'content-invalid',
    at: 'campaign.yaml:6:20',
    says: /https/,
  },
  'eleven rows of a list': {
    yaml: `channel: messaging-app\ncontent:\n  text: Hi\n  list:\n    button: Open\n    sections:\n      - rows:\n${rows(11)}`,
    code: 'content-limit',
    at: 'campaign.yaml:21:13',
    says: /at most 10/,
  },
  'a part that no channel has': {
    yaml: buttons('messaging-app', ['{ text: Yes, replay: yes }']),
    code: 'unknown-key',
    at: 'campaign.yaml:8:20',
    says: /replay/,
  },
  // RCS
  'a carousel with one card': {
    yaml: `channel: rcs\ncontent:\n  cards:\n    - ${CARD}\n`,
    code: 'content-limit',
    at: 'campaign.yaml:7:5',
    says: /2 to 10 cards/,
  },
  'a tall card in a carousel': {
    yaml: `channel: rcs\ncontent:\n  cards:\n    - ${CARD}\n    - ${CARD.replace('short', 'tall')}\n`,
    code: 'content-invalid',
    at: 'campaign.yaml:8:81',
    says: /tall/,
  },
  'a suggestion that does nothing': {
    yaml: buttons('rcs', ['{ text: Hm }']),
    code: 'content-invalid',
    at: 'campaign.yaml:8:7',
    says: /exactly one/,
  },
  'a header on rcs': {
    yaml: 'channel: rcs\ncontent:\n  header: { text: Hi }\n  text: Hi\n',
    code: 'content-invalid',
    at: 'campaign.yaml:6:11',
    says: /header/,
  },
  'content on sms': {
    yaml: buttons('sms', ['{ text: Yes, reply: yes }']),
    code: 'content-invalid',
    at: 'campaign.yaml:8:5',
    says: /sms/i,
  },
  // Email
  'no subject': {
    yaml: 'channel: email\ntemplate: { text: Hello }\n',
    code: 'content-invalid',
    at: 'campaign.yaml:5:19',
    says: /no subject/,
  },
  'a subject of two lines in one row': {
    yaml: EMAIL.replace('Hello', '"Hello {{name}}"').replace('content:', 'template: { text: Hello }\ncontent:'),
    files: { 'hello/people.csv': `${PEOPLE}+447700900012,ravi@example.com,c-2,"Ravi\nBcc: all@example.com",30\n` },
    code: 'content-invalid',
    at: 'people.csv:3',
    says: /line break/,
  },
  'neither HTML nor text': {
    yaml: EMAIL,
    code: 'content-invalid',
    at: 'campaign.yaml:6:3',
    says: /neither HTML nor a text/,
  },
  'MJML that does not close': {
    yaml: `${EMAIL}  html: mail.mjml\n`,
    files: { 'hello/mail.mjml': '<mjml>\n  <mj-body>\n    <mj-section>\n  </mj-body>\n</mjml>\n' },
    code: 'content-invalid',
    at: 'mail.mjml:3:5',
    says: /mj-section/,
  },
  'a preheader beside the one of MJML': {
    yaml: `${EMAIL}  html: mail.mjml\n  preheader: "For {{name}}"\n`,
    files: {
      'hello/mail.mjml': '<mjml>\n  <mj-head><mj-preview>Hi</mj-preview></mj-head>\n  <mj-body></mj-body>\n</mjml>\n',
    },
    code: 'content-invalid',
    at: 'mail.mjml:2:12',
    says: /two preheaders/,
  },
  'a name that no column has, in HTML': {
    yaml: `${EMAIL}  html: mail.html\n`,
    files: { 'hello/mail.html': '<p>Hello</p>\n<p>{{nmae}}</p>\n' },
    code: 'unknown-name',
    at: 'mail.html:2:6',
    says: /nmae/,
  },
  // Voice
  'a language that is none': {
    yaml: 'channel: voice\ncontent: { language: en_GB, text: Hello }\n',
    code: 'content-invalid',
    at: 'campaign.yaml:5:22',
    says: /en-GB/,
  },
  'six repeats': {
    yaml: 'channel: voice\ncontent: { repeat: 6, text: Hello }\n',
    code: 'invalid-value',
    at: 'campaign.yaml:5:20',
    says: /5/,
  },
  // Fallback
  'a fallback on the same channel': {
    yaml: 'channel: rcs\ntemplate: { text: Hi }\nfallback: { channel: rcs, template: { text: Hi } }\n',
    code: 'invalid-value',
    at: 'campaign.yaml:6:22',
    says: /"rcs" is tried before/,
  },
  'the same channel twice among fallbacks': {
    yaml: 'channel: rcs\ntemplate: { text: Hi }\nfallback:\n  - { channel: sms, template: { text: Hi } }\n  - { channel: sms, template: { text: Hi } }\n',
    code: 'invalid-value',
    at: 'campaign.yaml:8:16',
    says: /"sms" is tried before/,
  },
  'a label that is too long in a fallback': {
    yaml: 'channel: rcs\ntemplate: { text: Hi }\nfallback:\n  channel: messaging-app\n  content: { text: Hi, buttons: [{ text: An answer that is too long, reply: a }] }\n',
    code: 'content-limit',
    at: 'campaign.yaml:8:42',
    says: /at most 20/,
  },
  'a fallback without a message': {
    yaml: 'channel: rcs\ntemplate: { text: Hi }\nfallback: { channel: sms }\n',
    code: 'missing-key',
    at: 'campaign.yaml:6:11',
    says: /no message/,
  },
  'a fallback to a column that is not there': {
    yaml: 'channel: rcs\ntemplate: { text: Hi }\nfallback: { channel: sms, to: phone, template: { text: Hi } }\n',
    code: 'unknown-column',
    at: 'people.csv:1',
    says: /phone/,
  },
  // Several recipients
  'no recipient in a request': {
    yaml: 'channel: sms\ntemplate: { text: Hi }\nsend: { recipientsPerRequest: 0 }\n',
    code: 'invalid-value',
    at: 'campaign.yaml:6:31',
    says: /1/,
  },
  // Templates of the provider
  'a variable that the template needs is missing': {
    yaml: 'channel: sms\ntemplate: { id: t, needs: [name, code] }\nvariables: { name: name }\n',
    code: 'template-needs',
    at: 'campaign.yaml:5:27',
    says: /"code"/,
  },
  'a variable that the template does not need': {
    yaml: 'channel: sms\ntemplate: { id: t, needs: [name] }\nvariables: { name: name, code: points }\n',
    code: 'template-needs',
    at: 'campaign.yaml:5:27',
    says: /"code"/,
  },
  'a name that is a variable and a group': {
    yaml: 'channel: sms\ntemplate: { id: t, needs: [name, name.points] }\n',
    code: 'template-needs',
    at: 'campaign.yaml:5:27',
    says: /"name" both as a variable and as a group/,
  },
  'a column that the template needs is missing': {
    yaml: 'channel: sms\ntemplate: { id: t, needs: [name, code] }\n',
    code: 'template-needs',
    at: 'campaign.yaml:5:27',
    says: /"code"/,
  },
  'variables without a template of the provider': {
    yaml: 'channel: sms\ntemplate: { text: Hi }\nvariables: { name: name }\n',
    code: 'invalid-value',
    at: 'campaign.yaml:6:12',
    says: /template of the provider/,
  },
  'variables for contacts': {
    head: 'name: hello\nfrom: Riverside\nrecipients: { csv: people.csv, contact: contact }\n',
    yaml: 'channel: sms\ntemplate: { id: t }\nvariables: { name: name }\n',
    code: 'invalid-value',
    at: 'campaign.yaml:5:17',
    says: /Contacts/,
  },
  // Who
  'a query over a column that is not there': {
    head: 'name: hello\nfrom: Riverside\nrecipients:\n  csv: people.csv\n  where: { age: 18 }\n',
    yaml: 'channel: sms\ntemplate: { text: Hi }\n',
    code: 'invalid-where',
    at: 'campaign.yaml:5:10',
    says: /"age"/,
  },
  'a query that is code': {
    head: 'name: hello\nfrom: Riverside\nrecipients:\n  csv: people.csv\n  where: { $where: "process.exit()" }\n',
    yaml: 'channel: sms\ntemplate: { text: Hi }\n',
    code: 'invalid-where',
    at: 'campaign.yaml:5:10',
    says: /\$where/,
  },
  'a cell that is not of its type': {
    head: 'name: hello\nfrom: Riverside\nrecipients: { csv: people.csv, columns: { points: number } }\n',
    yaml: 'channel: sms\ntemplate: { text: Hi }\n',
    files: { 'hello/people.csv': `${PEOPLE}+447700900012,ravi@example.com,c-2,Ravi,"1,000"\n` },
    code: 'column-type',
    at: 'people.csv:3',
    says: /1,000/,
  },
  'a date that no calendar has': {
    head: 'name: hello\nfrom: Riverside\nrecipients: { csv: people.csv, columns: { due: { type: date, format: dd/MM/yyyy } } }\n',
    yaml: 'channel: sms\ntemplate: { text: Hi }\n',
    files: { 'hello/people.csv': 'msisdn,due\n+447700900011,28/02/2026\n+447700900012,31/02/2026\n' },
    code: 'column-type',
    at: 'people.csv:3',
    says: /"31\/02\/2026", not a date as dd\/MM\/yyyy/,
  },
  'a format of dates with two digits of the year': {
    head: 'name: hello\nfrom: Riverside\nrecipients:\n  csv: people.csv\n  columns: { points: { type: date, format: dd/MM/yy } }\n',
    yaml: 'channel: sms\ntemplate: { text: Hi }\n',
    code: 'invalid-value',
    at: 'campaign.yaml:5:44',
    says: /leaves the century open/,
  },
  'a recipient in the campaign without an address': {
    head: 'name: hello\nfrom: Riverside\nrecipients:\n  - { msisdn: "+447700900011" }\n  - { name: Ravi }\n',
    yaml: 'channel: sms\ntemplate: { text: Hi }\n',
    code: 'invalid-address',
    at: 'campaign.yaml:5',
    says: /is empty/,
  },
  // Fields
  'a validity in the past': {
    yaml: 'channel: rcs\ntemplate: { text: Hi }\nvalidity: 2020-01-01T00:00:00+00:00\n',
    code: 'validity-past',
    at: 'campaign.yaml:6:11',
    says: /expire|past/,
  },
  'a sender of thirteen letters': {
    head: HEAD.replace('Riverside', 'RiversideBath'),
    yaml: 'channel: sms\ntemplate: { text: Hi }\n',
    code: 'sender-format',
    at: 'campaign.yaml:2:7',
    says: /11/,
  },
  'metadata under the name of handbill': {
    yaml: 'channel: sms\ntemplate: { text: Hi }\nmetaData: { handbill: mine }\n',
    code: 'invalid-value',
    at: 'campaign.yaml:6:23',
    says: /handbill/,
  },
};

let server: RawServer;
beforeAll(async () => {
  server = await startRawServer();
});
afterAll(async () => {
  await server.close();
});

describe.concurrent('refused before any request', () => {
  const cases = Object.entries(WRONG).map(([label, wrong], nth) => [label, wrong, runnerOf(nth, 6)] as const);
  it.each(cases)('%s', async (_label, { head = HEAD, yaml, files = {}, code, at, says }, run) => {
    using project = createProject({
      'handbill.yaml': `environments:\n  prod:\n    baseUrl: http://127.0.0.1:${server.port}\n    apiKey: { env: SOME_KEY }\n`,
      'hello/campaign.yaml': head + yaml,
      'hello/people.csv': PEOPLE,
      ...files,
    });
    const args = ['send', 'hello', '--env', 'prod', '--yes'];
    const { status, stdout, stderr } = await run(args, { cwd: project.root, env: { SOME_KEY: 'k-1' } });
    expect(stderr).toContain(`error[${code}]`);
    expect(stderr).toContain(at);
    expect(stderr).toMatch(says);
    expect(status).toBe(2);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(stdout).toBe('');
    expect(server.connections).toBe(0);
  });
});
