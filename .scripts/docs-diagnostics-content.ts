import { campaign, type Explained, list, template, withKeys } from './docs-example.ts';

const KEY = 'suppressionKey: { env: HANDBILL_SUPPRESSION_KEY }\n';

/** A list of keyed hashes, made with another machine's key. */
const HASHED = {
  files: {
    'handbill.yaml': KEY,
    'hello/campaign.yaml': withKeys('suppressions: optouts.csv'),
    'hello/optouts.csv': { bytes: 'msisdn\n', shown: '(made with `handbill suppress export --hashed`)\n' },
  },
  first: ['suppress add +447400123457', 'suppress export --hashed -o hello/optouts.csv'],
  firstEnv: { HANDBILL_SUPPRESSION_KEY: 'the key of the office in Bath' },
  run: 'send hello',
};

/** Content, suppression lists and webhooks: why each code is said, an example, and what to do. */
export const CONTENT = {
  'empty-message': {
    cause: 'Every part of the template depends on a condition that does not hold for this row.',
    fix: 'Give the template an `{{else}}`, or leave such rows out with `recipients.where`.',
    example: { files: template('{{#if (eq first_name "Zoe")}}Hello{{/if}}') },
  },
  'unmet-comparison': {
    cause:
      'The text has another case than the list, a space too much, or belongs to another column. So it is with the `where` of a variant that no recipient gets.',
    fix: 'Write the text as it is in the list. If some lists simply lack it, leave it: it is a warning, and the message is sent.',
    example: { files: template('Hello {{first_name}}.{{#if (eq order "a-100")}} It is your first order.{{/if}}') },
  },
  'no-variant': {
    cause:
      'A variant with `where` asks for a column of languages, and recipients have a value there that no condition names. A column is one of languages if its name says so (`lang`, `locale`, ...), or if a variant with a `locale` asks there for the language of that locale. The language of the campaign itself, and an empty cell, count as named.',
    fix: 'Add a variant for them, or add the value to the `where` of one. Where the message of the campaign is right for them, add a variant with `name` and `where` alone, or set `locale` if that is their language.',
    example: {
      files: {
        ...campaign(
          'template: { text: Hello }\nvariants:\n  - { name: welsh, where: { lang: cy }, locale: cy, template: { text: Helo } }',
          ['template'],
        ),
        'hello/people.csv': 'msisdn,lang\n+447400123450,en\n+447400123451,cy\n+447400123452,it\n',
      },
    },
  },
  'test-too-small': {
    cause:
      'A variant wins with `winner.minimum` messages or more (50 where it is not set), and this list with this `test` has fewer for one of them.',
    fix: 'Raise `test`, or lower `winner.minimum`. Without a winner, recipients outside the test wait until `--winner` names one.',
    example: {
      files: {
        ...campaign(
          'test: 50%\nwinner: { by: replied }\nvariants:\n  - { name: A, template: { text: Hi } }\n  - { name: B, template: { text: Hello } }',
          ['template'],
        ),
        'hello/people.csv': `msisdn\n${Array.from({ length: 12 }, (_, i) => `+4474001234${50 + i}\n`).join('')}`,
      },
    },
  },
  'not-gsm': {
    cause:
      'Emoji, curly quotes, or letters such as `ç` and `ł` are not in the alphabet of GSM-7, and the campaign asks for it.',
    fix: 'Replace them, set `transliterate: true` where near letters will do, or `characterSet: auto`.',
    example: { files: { ...campaign('characterSet: gsm'), ...template('Hello {{first_name}}, it’s ready.') } },
  },
  'unicode-message': {
    cause: 'One character outside GSM-7 leaves 70 instead of 160 characters for a part, and here that costs parts.',
    fix: 'Replace the character that is named, or set `transliterate: true`. It is a warning: the message is sent.',
    example: {
      files: template(
        'Hello {{first_name}}, your order {{order}} is ready – we are open until six, and on Saturday until four.',
      ),
    },
  },
  transliterated: {
    cause: '`transliterate: true` replaced characters, and what was replaced is always said.',
    fix: 'Nothing, or write the plain character into the template.',
    example: { files: { ...campaign('transliterate: true'), ...template('Hello {{first_name}}, it’s ready.') } },
  },
  'too-many-parts': {
    cause: 'The longest message of the list has more parts than the campaign allows, or than people expect to pay for.',
    fix: 'Shorten the template or the value of that row, or raise `limits.maxParts`.',
    example: {
      files: {
        ...campaign('limits: { maxParts: 1 }'),
        ...template(
          'Hello {{first_name}}, your order {{order}} is ready. It waits at the counter on the ground floor, next to the flowers, every day from nine to six, and on Saturday from ten to four.',
        ),
      },
    },
  },
  'would-expire': {
    cause:
      'At this rate, and in these windows, the run is not finished by `send.notAfter`, or while the message is valid.',
    fix: 'Raise the rate, widen the window, start earlier, or move `send.notAfter`.',
    example: {
      files: campaign('send: { rate: 1/h, notAfter: 2026-12-01T09:30:00Z }'),
      run: 'preview hello --at 2026-12-01T09:00:00Z',
    },
  },
  'too-many-recipients': {
    cause: 'The list is longer than the campaign allows: perhaps it is the wrong one.',
    fix: 'Look at the list, or raise `limits.maxRecipients`.',
    example: { files: campaign('limits: { maxRecipients: 1 }') },
  },
  'too-expensive': {
    cause: 'The prices of all messages add up to more than the campaign allows.',
    fix: 'Shorten the message (the message names the most expensive row), send to fewer, or raise `limits.maxCost`.',
    example: {
      files: {
        'handbill.yaml': 'prices: prices.csv\n',
        'prices.csv': 'country,channel,price,currency\nGB,sms,0.0380,GBP\n',
        ...campaign('limits: { maxCost: 0.05 }'),
      },
    },
  },
  'no-price': {
    cause:
      'The price list has no price for the country or channel of a recipient, so that the limit or the budget of the environment could not be kept.',
    fix: 'Add the destination to the price list, or take `limits.maxCost` or the `budget` out.',
    example: {
      files: {
        'handbill.yaml': 'prices: prices.csv\n',
        'prices.csv': 'country,channel,price,currency\nFR,sms,0.0520,EUR\n',
        ...campaign('limits: { maxCost: 5 }'),
      },
    },
  },
  'over-budget': {
    cause:
      'All campaigns of the environment share a budget, and this plan costs more than is left of it in this period. `due` waits for the next period instead.',
    fix: 'Wait for the next period, send to fewer, or raise `budget.max` of the environment; see [limits.md](limits.md#what-an-environment-may-spend).',
    example: {
      files: {
        'handbill.yaml': 'prices: prices.csv\nenvironments:\n  sandbox: { budget: { max: 0.05, per: month } }\n',
        'prices.csv': 'country,channel,price,currency\nGB,sms,0.0380,GBP\n',
      },
      run: 'send hello',
    },
  },
  budget: {
    cause:
      'The environment has a `budget`: this is what its campaigns have spent of it in this period, and what is left.',
    fix: 'Nothing. See [limits.md](limits.md#what-an-environment-may-spend).',
    example: {
      files: {
        'handbill.yaml': 'prices: prices.csv\nenvironments:\n  sandbox: { budget: { max: 50, per: month } }\n',
        'prices.csv': 'country,channel,price,currency\nGB,sms,0.0380,GBP\n',
      },
      run: 'plan hello',
    },
  },
  'sender-format': {
    cause:
      'Networks take a name of at most 11 letters, digits and spaces, a number of at most 15 digits, or a short code.',
    fix: 'Shorten the name, or write the number with `+` and in quotes.',
    example: { files: campaign('from: Riverside Clinic') },
  },
  'sender-country': {
    cause: 'Some countries refuse names as senders or put a number in their place, others want them registered.',
    fix: 'Use a number there. If your name is registered, say so under `senders` in handbill.yaml, and the warning is gone.',
    example: { files: list('+12125550123,Ada,0042') },
  },
  'no-permanent-codes': {
    cause:
      'A provider says in its own codes that a number or mailbox does not exist. Without them handbill cannot tell a phone that is off from a number that is gone.',
    fix: 'List the codes under `reports: { permanent: [...] }` of the [provider file](provider-file.md), or remove `suppressions.unreachable`.',
    example: {
      files: campaign('suppressions: { unreachable: { after: 3, within: 180d } }'),
      run: 'preview hello',
    },
  },
  'link-shortener': {
    cause: 'Anyone can make links of such a domain, and fraud does: networks block messages with them.',
    fix: 'Link to a domain of the sender, also for short links.',
    example: { files: template('Hello {{first_name}}, your order: https://bit.ly/3xYz') },
  },
  'insecure-link': {
    cause: 'The link is not encrypted. Networks block such links, and browsers warn of them.',
    fix: 'Write `https:`.',
    example: { files: template('Hello {{first_name}}, your order: http://riverside.example/orders') },
  },
  'cut-link': {
    cause:
      'The message needs several parts, and the link begins in one and ends in the next. Some phones show parts one by one.',
    fix: 'Move the link to the front, or shorten the text.',
    example: {
      files: template(
        'Hello {{first_name}}, your order {{order}} is ready. It waits at the counter on the ground floor, next to the flowers, every day from nine. More: https://riverside.example/orders',
      ),
    },
  },
  'odd-blanks': {
    cause: 'Often a value is empty, and the blanks around it stay: `Hello {{first_name}} {{title}} Evans`.',
    fix: 'Take them out, or put the blank into the `{{#if}}` of the value. It is a warning: the message is sent.',
    example: { files: template('Hello {{first_name}},  your order {{order}} is ready.') },
  },
  capitals: {
    cause: 'Filters of networks take shouting for spam. Texts of fewer than five words are not judged.',
    fix: 'Write as in a letter.',
    example: { files: template('HELLO {{first_name}}, YOUR ORDER IS READY') },
  },
  'no-opt-out': {
    cause:
      'A word of `messageType` or `topic` says that it is marketing, and the SMS, RCS message or email has neither a word that means to opt out, such as `unsubscribe`, nor a word of [replies](replies.md) with what to do: `Reply STOP`, `STOP 36111`. `Stop scrolling` is no such text. An email may have [`content.unsubscribe`](email.md) instead.',
    fix: 'Say `Reply STOP to opt out`, or add a link with `unsubscribe` in it. In an email, set `content.unsubscribe`.',
    example: { files: { ...campaign('topic: offers'), ...template('Hello {{first_name}}, 20% off until Sunday.') } },
  },
  'content-invalid': {
    cause: 'The channel does not have this part, or needs one that is not there.',
    fix: 'Take it out or add it: [content.md](content.md) says what each channel takes.',
    example: { files: campaign('channel: rcs\ncontent: { text: Hello, footer: Bye }', ['template']) },
  },
  'content-limit': {
    cause:
      'A label, a text or a list is longer than the channel shows, or a text than the provider takes (`limits.text` of its file); with variables, the row is named that makes it so.',
    fix: 'Shorten it, or the value of that row.',
    example: {
      files: campaign(
        'channel: messaging-app\ncontent: { text: When?, buttons: [{ text: The first of all Mondays, reply: mon }] }',
        ['template'],
      ),
    },
  },
  'content-advice': {
    cause: 'The content can be sent, but will not look or sound as meant.',
    fix: 'Follow the sentence, or leave it: it is a warning.',
    example: {
      files: campaign('channel: voice\ncontent: { text: "See https://riverside.example", language: en-GB }', [
        'template',
      ]),
    },
  },
  'invalid-suppression': {
    cause:
      'A suppression list lacks a column `msisdn`, `email`, `contact` or `hash`, or a row of it cannot be read. No address may be overlooked, so the whole list is refused.',
    fix: 'Name the column in the first row, and correct the row.',
    example: {
      files: { ...campaign('suppressions: optouts.csv'), 'hello/optouts.csv': 'phone\n+447400123457\n' },
    },
  },
  'missing-suppression-key': {
    cause: 'A list holds keyed hashes instead of addresses; without the key no address can be found in it.',
    fix: 'Set the variable that `suppressionKey` names. `validate` only warns, so that CI does not need the key.',
    example: HASHED,
  },
  'invalid-suppression-key': {
    cause: 'A short key can be guessed, and with it every address of the list.',
    fix: 'Use the key that the hashes were made with; a new one is made with `openssl rand -hex 32`.',
    example: { ...HASHED, env: { HANDBILL_SUPPRESSION_KEY: 'short' } },
  },
  'other-suppression-key': {
    cause: 'The hashes carry the id of their key, and it is not that of the key here: they would match no address.',
    fix: 'Take the key that they were made with, or have the list exported again with this one.',
    example: { ...HASHED, env: { HANDBILL_SUPPRESSION_KEY: 'the key of the office in York' } },
  },
  'missing-webhook-secret': {
    cause:
      'The variable or file that `webhook.secrets` of an environment names is not there; without it, anyone could send false reports.',
    fix: 'Set it where `handbill listen` runs.',
    example: {
      files: {
        'handbill.yaml': 'environments: { sandbox: { webhook: { secrets: [{ env: HANDBILL_WEBHOOK_SECRET }] } } }\n',
      },
      run: 'listen',
    },
  },
  'invalid-webhook-secret': {
    cause: 'The secret is not of the form or length that its scheme needs.',
    fix: 'Take it over from the provider again, whole. See [webhooks.md](webhooks.md).',
    example: {
      files: {
        'handbill.yaml': 'environments: { sandbox: { webhook: { secrets: [{ env: HANDBILL_WEBHOOK_SECRET }] } } }\n',
      },
      env: { HANDBILL_WEBHOOK_SECRET: 'whsec_short' },
      run: 'listen',
    },
  },
  'weak-webhook': {
    cause:
      'A short secret, a scheme whose secret is in the URL and so in logs, a secret that two environments share, or an address that other machines reach without TLS. Who has a secret can report for every environment that names it.',
    fix: 'Make a longer secret, one for each environment, use the scheme `standard` or `hmac` if the provider can, and put a proxy with TLS before it.',
    example: {
      files: {
        'handbill.yaml': `environments:
  sandbox: { webhook: { secrets: [{ env: HANDBILL_WEBHOOK_SECRET }] } }
  production:
    baseUrl: https://api.example.com
    apiKey: { env: HANDBILL_API_KEY }
    webhook: { secrets: [{ env: HANDBILL_WEBHOOK_SECRET }] }
`,
      },
    },
  },
  'unclear-environment': {
    cause:
      'A project has several environments, and ids of messages are unique within one of them at best: a report of another account must not count. `handbill listen --from` and `handbill listen --explain` ask for the environment.',
    fix: 'Name the environment with `--env`.',
    example: {
      files: {
        'handbill.yaml':
          'environments:\n  staging: { baseUrl: https://staging.example.com, apiKey: { env: STAGING_KEY } }\n  production: { baseUrl: https://api.example.com, apiKey: { env: PRODUCTION_KEY } }\n',
        'reports.csv': 'messageId,status\nm-1,delivered\n',
      },
      run: 'listen --from reports.csv',
    },
  },
  'invalid-reports': {
    cause:
      'A file of exported reports ends too early, is no JSON, JSON lines, CSV or forms, or has a row that cannot be read.',
    fix: 'Export it again. What could be read was taken over, and giving it again changes nothing twice.',
    example: { files: { 'reports.json': '{ "messageId": "m-1",\n' }, run: 'listen --from reports.json' },
  },
  'value-in-html': {
    cause:
      'In the HTML of an email, `{{{name}}}` and `{{&name}}` put a value in with its tags, and `href="{{name}}"` lets it be any address. So a cell of the list decides what is shown and where a link leads.',
    fix: 'Write `{{name}}`, and begin addresses in the template: `https://example.com/{{url name}}`. Ignore the warning if you trust all who write the column.',
    example: {
      files: {
        'hello/campaign.yaml':
          'name: hello\nchannel: email\nfrom: office@riverside.example\ncontent: { subject: Hello, html: hello.html }\nrecipients: people.csv\n',
        'hello/hello.html': '<p>Hello {{name}}</p><p><a href="{{page}}">Your page</a></p>\n',
        'hello/people.csv': 'email,name,page\nada@example.com,Ada,https://riverside.example/ada\n',
      },
    },
  },
  'value-in-link': {
    cause:
      'A template puts a column into a web address, and the value has a blank, or in the query one of & = # and ?. The link ends at the blank; the signs add or change a parameter.',
    fix: 'Write `{{url name}}`, which encodes the value (`encodeURIComponent`).',
    example: {
      files: {
        'hello/campaign.yaml':
          'name: hello\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Book: https://riverside.example/?n={{name}}" }\nrecipients: people.csv\n',
        'hello/people.csv': 'msisdn,name\n+447400123456,Ada Lovelace\n',
      },
    },
  },
  'unassigned-opt-out': {
    cause:
      'An export has an opt-out whose sender cannot be read: a spreadsheet turned the number into 4.474E+11, it has no country code, or it is the id of a person that only the provider knows. It answers no message that the ledger holds.',
    fix: 'Export it again with the column as text, or set `defaultCountry`. Else find out who wrote (`handbill replies` shows the text), and add the address with `handbill suppress add`. The reply itself is held, and suppresses no address.',
    example: { files: { 'replies.csv': 'from,text\n4.474E+11,STOP\n' }, run: 'listen --from replies.csv' },
  },
  'fetch-failed': {
    cause:
      'The API refused to list its reports or replies, gave no whole answer in three tries, or answered with something else than the list that the provider file describes.',
    fix: 'Look at the reason in the message, and fetch again: `handbill listen --from api`. Without a good fetch for 24 hours, no new occurrence begins; see [fetch.md](fetch.md).',
    example: null,
  },
  'reports-stale': {
    cause:
      "The environment has `fetch: true`, and the last good fetch of its reports and replies, or of a stand-in's, is over 24 hours ago, or there was none. An opt-out may be among what is missing.",
    fix: 'Fetch them with `handbill listen --from api`, or let `handbill due` do it. `--allow reports-stale` begins without them; see [fetch.md](fetch.md).',
    example: {
      files: {
        'handbill.yaml':
          'environments:\n  production:\n    provider: infobip\n    vars: { host: xxxxx.api.infobip.com }\n    secrets: { key: { env: INFOBIP_KEY } }\n    fetch: true\n',
      },
      env: { INFOBIP_KEY: 'a-key-that-is-not-used' },
      run: 'send hello --env production --yes',
    },
  },
  'unread-event': {
    cause:
      'An event has neither an id and a state, nor a sender and a text, at the places where handbill looks for them.',
    fix: 'Name the places under `webhook.fields`; `handbill listen --explain FILE` shows how an event is read.',
    example: { files: { 'reports.json': '[{ "hello": "world" }]\n' }, run: 'listen --from reports.json' },
  },
} as const satisfies Readonly<Record<string, Explained>>;
