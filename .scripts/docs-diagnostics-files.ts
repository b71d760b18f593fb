import { campaign, type Explained, HELLO, PRODUCTION, withKeys } from './docs-example.ts';

/** Files, YAML, campaign and project: why each code is said, an example, and what to do. */
export const FILES = {
  'file-not-found': {
    cause: 'A name is misspelt, or the path is not relative to the file that names it.',
    fix: 'Correct the name; where one is near, the message proposes it. Mind letter case: other systems tell the two apart.',
    example: { files: campaign('template: helo.hbs') },
  },
  'file-unreadable': {
    cause:
      'The permissions of the file or of a folder above it, a link that leads in a circle, or a file that grew while it was read.',
    fix: 'Let the user that runs handbill read the file (`ls -l`), and give the command again once a file is written to its end.',
    example: { files: { 'hello/hello.hbs': { link: 'hello.hbs' } } },
  },
  'file-not-regular': {
    cause: 'The path is a folder, a pipe or a device, not a file.',
    fix: 'Name the file itself. What comes through a pipe is written to a file first.',
    example: { files: { ...campaign('template: texts'), 'hello/texts/short.hbs': 'Ready.\n' } },
  },
  'file-too-large': {
    cause:
      'Campaign and project files have at most 1 MiB, templates 64 KiB, price lists and partials what the message says.',
    fix: 'Look whether the right file is named. A list of recipients may have any size; it is a separate CSV file.',
    example: {
      files: { 'hello/hello.hbs': { bytes: 'x'.repeat(70_000), shown: '(70,000 characters)' } },
    },
  },
  'path-outside-project': {
    cause: 'Files of a campaign lie in its project, so that readers of the repository see all that is sent.',
    fix: 'Move the file into the project. A list that must not lie in git is passed with `--recipients FILE`, or lies in a folder that the variable `HANDBILL_LISTS` of the process names.',
    example: { files: campaign('template: ../../hello.hbs') },
  },
  'invalid-encoding': {
    cause: 'A file holds bytes that are no UTF-8, as those that Excel saves as "CSV" in Western Europe.',
    fix: 'Save it as "CSV UTF-8", or say what it is: `recipients.encoding: windows-1252`. See [from a spreadsheet](from-a-spreadsheet.md).',
    example: {
      files: {
        'hello/people.csv': {
          bytes: Buffer.from('msisdn,first_name,order\n+447400123456,Zo\u00eb,0042\n', 'latin1'),
          shown: 'msisdn,first_name,order\n+447400123456,Zo�,0042\n',
        },
      },
    },
  },
  'yaml-syntax': {
    cause:
      'A text that begins with `{{`, or holds `: ` or ` #`, has no quotes, a text in quotes holds the same quotes, a bracket or a quote is not closed, or a line is indented too little or with a tab.',
    fix: 'Look at the place and the line above it. Put a text that begins with `{{` in quotes, and a text with double quotes in single quotes. A text after `|`, on separate lines, needs no quotes.',
    example: { files: { 'hello/campaign.yaml': 'name: hello\ntemplate: {{first_name}}, it is ready\n' } },
  },
  'yaml-duplicate-key': {
    cause: 'The same key twice in one mapping: programs differ in which one they take, so neither is taken.',
    fix: 'Remove one of the two.',
    example: { files: { 'hello/campaign.yaml': `${HELLO['hello/campaign.yaml']}from: Shop\n` } },
  },
  'yaml-alias-limit': {
    cause: 'Aliases (`*name`) are expanded more than 50 times. A few lines of them can grow to gigabytes.',
    fix: 'Write the values out, or put what campaigns share under `defaults` in handbill.yaml.',
    example: {
      files: campaign(
        `metaData:\n  a: &a [1, 1, 1, 1, 1, 1, 1]\n  b: &b [*a, *a, *a, *a, *a, *a, *a]\n  c: [*b, *b, *b, *b, *b, *b, *b, *b]`,
      ),
    },
  },
  'yaml-too-deep': {
    cause: 'More than 64 levels of mappings and lists in each other.',
    fix: 'Flatten the value. Nothing that a campaign says needs more than a few levels.',
    example: { files: campaign(`metaData: { a: ${'['.repeat(64)}1${']'.repeat(64)} }`) },
  },
  'yaml-tag': {
    cause: 'A word with `!` before a value asks for a type that YAML 1.2 core does not have.',
    fix: 'Remove the tag. Put a text that begins with `!` in quotes.',
    example: { files: campaign('from: !sender Riverside') },
  },
  'yaml-directive': {
    cause: 'A line with `%` at the top would change how the file is read; it is always YAML 1.2.',
    fix: 'Remove the line.',
    example: { files: { 'hello/campaign.yaml': `%YAML 1.1\n---\n${HELLO['hello/campaign.yaml']}` } },
  },
  'yaml-several-documents': {
    cause: 'A line with `---` begins a second document.',
    fix: 'Write each campaign into its own file.',
    example: { files: { 'hello/campaign.yaml': `${HELLO['hello/campaign.yaml']}---\nname: second\n` } },
  },
  'yaml-forbidden-key': {
    cause: 'Keys with these names change how objects work in JavaScript. No campaign needs them.',
    fix: 'Give the key another name.',
    example: { files: campaign('metaData: { __proto__: x }') },
  },
  'unquoted-number': {
    cause: 'YAML reads `+447700900100` as a number, which has no `+` and no zeros in front.',
    fix: 'Put it in quotes. That goes for senders, references, ids and template names that are numbers.',
    example: { files: campaign('from: +447700900100') },
  },
  'unknown-key': {
    cause: 'A key is misspelt, or is at the wrong level. Unknown keys are never ignored.',
    fix: 'Take the key that is proposed, or look it up: [campaign.md](campaign.md), [project.md](project.md).',
    example: { files: campaign('chanel: sms', ['channel']) },
  },
  'missing-key': {
    cause: 'A key that is always needed is neither in the campaign nor under `defaults` in handbill.yaml.',
    fix: 'Write it, as in the example of the message.',
    example: { files: campaign('', ['name']) },
  },
  'wrong-type': {
    cause:
      'The value is a text where a number is needed, a list where a mapping is, or the like; or there is no value.',
    fix: 'Write the value as in the example of the message. A key without a value is removed, not left empty.',
    example: { files: campaign('send: { concurrency: many }') },
  },
  'invalid-value': {
    cause: 'The value is of the right type, but not one of those that are allowed.',
    fix: 'Take one that the message names. Durations, rates and shares have a unit: `30s`, `50/s`, `5%`.',
    example: { files: campaign('channel: fax') },
  },
  'not-supported': {
    cause:
      'The format has a place for it, but this version cannot do it, or no request of the provider holds it: the file of the provider says what its requests hold. It is refused rather than ignored. That a sender is not sent is a warning.',
    fix: 'Leave it out, or send in another environment; [the README](../README.md#limits-of-this-version) lists what this version cannot do.',
    example: { files: { 'handbill.yaml': `${PRODUCTION}    proxy: http://me:secret@proxy.example.com\n` } },
  },
  'literal-key': {
    cause:
      'A key in a file is in git for good, and every reader of the repository can send with it. The same is true of a password in the address of a shared ledger.',
    fix: 'Write `apiKey: { env: NAME }` or `{ file: PATH }`, leave the password to PGPASSWORD, ~/.pgpass or HANDBILL_LEDGER, and have one that was committed replaced.',
    example: { files: { 'handbill.yaml': PRODUCTION.replace('{ env: HANDBILL_API_KEY }', 'abc123') } },
  },
  'other-project': {
    cause:
      'A repository, or a folder outside of git, has one project: one handbill.yaml, and one ledger. The campaign has its own handbill.yaml inside that project, is outside of it or behind a link that leads out, or there are several projects and none of them is around the current folder. A second handbill.yaml could change where messages go, who must approve and who is known to have got them.',
    fix: 'Remove the inner handbill.yaml, or go to the folder of the project that you mean. [Which project and which ledger](project.md#which-project-and-which-ledger) says how it is found.',
    example: { files: { 'hello/handbill.yaml': '{}\n' } },
  },
  'unknown-environment': {
    cause:
      '`--env` names an environment that handbill.yaml does not have, or there is no handbill.yaml above the campaign.',
    fix: 'Take one of those that the message names, or add it under `environments`.',
    example: { files: { 'handbill.yaml': PRODUCTION }, run: 'preview hello --env live' },
  },
  'invalid-base-url': {
    cause:
      'Over plain http the key could be read on the way; an address with a user, a query or a fragment is no base.',
    fix: 'Write `https://` and the part before `/v2/messages`. `http://127.0.0.1` is for tests on this machine.',
    example: { files: { 'handbill.yaml': PRODUCTION.replace('https', 'http') } },
  },
  'campaign-not-found': {
    cause: 'No file, folder or campaign in `campaigns/` has the name, seen from the current folder upwards.',
    fix: 'Name the file, its folder, or the folder in `campaigns/`; `handbill validate` lists them all.',
    example: { files: {}, run: 'validate helo' },
  },
  'campaign-ambiguous': {
    cause: 'A bare name means the `name` of a campaign, or the folder of one. Here these are two files.',
    fix: 'Name the file or the folder with a slash, such as `./hello` or `campaigns/hello/campaign.yaml`, or rename one of the two.',
    example: {
      files: { 'campaigns/hello/campaign.yaml': withKeys('name: welcome') },
      run: 'preview hello',
    },
  },
  'duplicate-campaign-name': {
    cause:
      'The ledger knows a campaign by its `id`, which is its name by default: two with one id would share who has been sent to.',
    fix: 'Give the copy another name. An `id` must not be the name of another campaign either.',
    example: {
      files: { 'copy/campaign.yaml': withKeys('recipients: ../hello/people.csv\ntemplate: ../hello/hello.hbs') },
      run: 'validate hello/campaign.yaml',
    },
  },
  'validity-past': {
    cause: '`validity` is an instant that has passed: the API would throw every message away.',
    fix: 'Write a later instant, or a duration from the start such as `24h`, which stays right. A run that has begun does not continue: `handbill runs close` skips the recipients that are left.',
    example: { files: campaign('validity: 2026-11-20T18:00:00Z') },
  },
} as const satisfies Readonly<Record<string, Explained>>;
