import { rules } from '../http/wire.ts';
import type { Tree } from './trees.ts';

/*
 * A campaign on each channel that uses everything a campaign can say, so that a change of any part meets the code that
 * reads it. All of them are valid.
 */

export const FILES: Readonly<Record<string, string>> = {
  'campaigns/rich/campaign.yaml': 'name: rich\n',
  'campaigns/rich/people.csv': [
    'msisdn,email,id,name,plan,age,joined,phone,zone',
    '+447400100000,ana@example.com,c-1,Ana,gold,31,2026-01-31,+447400100100,Europe/London',
    '+447400100001,bo@example.com,c-2,"Bo ""B"" <b>O\'Neil</b> {{plan}}",silver,17,2025-06-01,+447400100101,',
    '+447400100002,chloe@example.com,c-3,Chloë 😀,gold,64,2020-02-29,+447400100102,Pacific/Apia',
    '+447400100003,dai@example.com,c-4,Dai & Co,gold,40,2026-03-01,+447400100103,',
    '',
  ].join('\n'),
  'campaigns/rich/stop.csv': 'msisdn,email,reason,until\n+447400100009,,asked,2031-01-31\n,zoe@example.com,,\n',
  'campaigns/rich/page.html':
    '<!doctype html><html><head><title>{{name}}</title></head><body class="a"><p title="{{name}}">Dear {{name}}</p></body></html>\n',
  'campaigns/rich/page.mjml':
    '<mjml><mj-body><mj-section><mj-column><mj-text>Dear {{name}}</mj-text><mj-button href="https://riverside.example/{{id}}">Go</mj-button></mj-column></mj-section></mj-body></mjml>\n',
};

const LIST = { csv: 'people.csv', key: 'id', columns: { age: 'number', joined: 'date' } };
const WHERE = {
  $or: [{ age: { $gte: 18, $lt: 90 } }, { plan: { $in: ['gold', 'silver'] }, joined: { $gt: '2021-01-01' } }],
  name: { $not: { $startsWith: 'Zed' } },
  $nor: [{ plan: 'none' }],
};
const SMS = { channel: 'sms', from: 'Riverside', to: 'phone', template: { text: 'Hello {{name}}' } };

const APP = {
  name: 'rich',
  channel: 'messaging-app',
  from: '+447700900190',
  content: {
    header: { image: 'https://riverside.example/{{id}}.jpg' },
    text: 'Hello {{name}}',
    footer: '{{plan}}',
    buttons: [
      { text: 'Yes', reply: 'yes-{{id}}' },
      { text: 'No {{plan}}', reply: 'no' },
    ],
  },
  recipients: { ...LIST, where: WHERE },
  recipientMetaData: { plan: 'plan', who: '{{name}} {{id}}' },
  metaData: { campaign: { code: 'X', list: [1, 2, { deep: true }] } },
  fallback: [SMS],
};

const RCS = {
  name: 'rich',
  channel: 'rcs',
  from: 'riverside',
  variants: [
    {
      name: 'a',
      weight: 2,
      content: {
        card: {
          title: 'Hello {{name}}',
          media: { url: 'https://riverside.example/a.jpg', height: 'medium', alt: 'A {{plan}}' },
          buttons: [
            { text: 'Read', url: 'https://riverside.example/{{id}}' },
            { text: 'Call', dial: '+447400100001' },
            { text: 'Where', location: { latitude: 51.5, longitude: '-0.1', label: '{{plan}}' } },
            {
              text: 'When',
              event: {
                title: 'Day',
                start: '2026-12-01T09:00:00Z',
                end: '2026-12-01T10:00:00Z',
                description: '{{name}}',
              },
            },
          ],
        },
      },
    },
    {
      name: 'b',
      weight: 1,
      content: {
        cardWidth: 'small',
        cards: [
          { title: 'One {{name}}', description: 'x', buttons: [{ text: 'A', reply: 'a' }] },
          { title: 'Two', description: '{{plan}}', buttons: [{ text: 'B', reply: 'b' }] },
        ],
      },
    },
  ],
  holdout: '10%',
  test: { share: '90%', by: 'manual' },
  winner: { variant: 'b' },
  seed: 'spring',
  recipients: LIST,
  fallback: [
    {
      channel: 'messaging-app',
      template: { id: 'offer', needs: ['header.image', 'body.name'] },
      variables: { header: { image: 'https://x.example/{{id}}' }, body: { name: 'name' } },
    },
    SMS,
  ],
};

const EMAIL = {
  name: 'rich',
  channel: 'email',
  from: 'news@riverside.example',
  template: { text: 'Dear {{name}}' },
  content: {
    subject: 'Hello {{name}}',
    preheader: 'For {{plan}}',
    html: 'page.html',
    unsubscribe: { url: 'https://riverside.example/u/{{id}}', oneClick: true, mailto: 'stop@riverside.example' },
  },
  recipients: { ...LIST, to: 'email' },
  fallback: SMS,
};

const MJML = { ...EMAIL, template: undefined, content: { ...EMAIL.content, html: 'page.mjml' } };

const VOICE = {
  name: 'rich',
  channel: 'voice',
  from: '+447700900190',
  content: { language: 'en-GB', voice: 'female', repeat: 2, text: 'Hello {{name}}.' },
  recipients: {
    list: [
      { msisdn: '+447400100000', name: 'Ana', plan: 'gold', phone: '+447400100100' },
      { msisdn: '+447400100001', name: 'Bo', plan: 'silver', phone: '+447400100101' },
    ],
    where: { plan: 'gold' },
  },
  fallback: SMS,
};

const PROVIDER = {
  name: 'rich',
  channel: 'messaging-app',
  from: '+447700900190',
  template: { id: 'order', needs: ['header.image', 'body.name', 'plan'] },
  variables: { header: { image: 'https://x.example/{{id}}' }, body: { name: '{{default name "x"}}' }, plan: 'plan' },
  recipients: LIST,
  send: { recipientsPerRequest: 3 },
};

const CONTACTS = {
  name: 'rich',
  channel: 'messaging-app',
  from: '+447700900190',
  content: {
    text: 'Hello',
    list: {
      button: 'Choose',
      sections: [
        {
          title: 'First',
          rows: [
            { id: 'a', title: 'A', description: 'a' },
            { id: 'b', title: 'B' },
          ],
        },
      ],
    },
  },
  recipients: { contacts: ['c-1', 'c-2', 'c-3'] },
};

/** Who, when and how much: every rule, so wide that all recipients pass, whatever the hour. */
const RULES = {
  name: 'rich',
  channel: 'sms',
  from: 'Riverside',
  template: { text: 'Hello {{name}}' },
  recipients: { ...LIST, defaultCountry: 'GB', timeZone: 'zone' },
  suppressions: ['stop.csv'],
  exclude: ['notification', 'survey@2026-01-31T09:00:00Z'],
  frequency: [
    { max: 5, per: 'day' },
    { max: 50, per: '30d' },
  ],
  schedule: { cron: '0 0 * * *', timeZone: 'Europe/London', missed: 'skip' },
  limits: { maxRecipients: 100, maxParts: 3, stopAfter: { inDoubt: '50%', rejected: 5 } },
  send: {
    window: {
      ...{ from: '00:00', to: '24:00', days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] },
      ...{ holidays: ['1999-12-31'], timeZone: 'recipient', unknown: 'Europe/London' },
    },
    canary: { steps: [1, '50%'], pause: '0s', gate: { accepted: '10%' } },
    notAfter: '2099-12-31T23:59:59Z',
  },
};

/** By a name for messages. */
export const CAMPAIGNS: Readonly<Record<string, Tree>> = JSON.parse(
  JSON.stringify({ APP, RCS, EMAIL, MJML, VOICE, PROVIDER, CONTACTS, RULES }),
) as Readonly<Record<string, Tree>>;

/** Everything that an environment can say of the wire. Valid, and the server of these tests answers as it says. */
export const WIRE: Tree = {
  channels: { 'messaging-app': 'WhatsApp', rcs: 'Rcs' },
  characterSets: { auto: 'AUTO' },
  messageTypes: { marketing: 'MKT' },
  msisdn: 'digits',
  response: {
    messageId: ['/id'],
    error: ['/error/message'],
    failed: ['/failed'],
    accept: 'json',
    recipients: ['/results'],
    refusedRecipients: ['/refused'],
    recipientAddress: ['/to'],
    recipientId: ['/id'],
    recipientFailed: ['/failed'],
    recipientError: ['/error'],
    recipientStatus: { at: ['/status'], refused: ['rejected'] },
  },
  ...rules(
    'status: [404], codeAt: /code, code: [no], textAt: /a, text: no, then: unsupported',
    'status: 503, then: retry',
  ),
};
