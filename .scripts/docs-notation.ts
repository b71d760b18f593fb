/** The placeholders and the mappings of provider files, for docs/provider-file.md. A test compares them with the code. */
import { readdirSync, readFileSync } from 'node:fs';
import { table } from './docs-markdown.ts';

/** By the names in `VALUES` of src/providers/values.ts. */
export const PLACEHOLDERS: Readonly<Record<string, string>> = {
  to: 'The address of the recipient: a number as `msisdn` says, an email address, or the id of a contact.',
  'to.msisdn': 'The same, only where it is a number.',
  'to.email': 'The same, only where it is an email address.',
  'to.number': 'The number as a JSON number.',
  reference: "handbill's reference of the message. In a request with several recipients, only inside of a repetition.",
  text: 'The text of the message.',
  variables: 'The variables of a template of the provider, as a mapping.',
  'variables.json': 'The same as JSON text.',
  content: 'The rich content, as a mapping. `{content.subject}` and so on are single keys.',
  'content.headers': 'The headers of an email, such as `List-Unsubscribe`.',
  'metaData.own': '`metaData` of the recipient.',
  name: 'In a repetition: the name of the item.',
  value: 'In a repetition: its value.',
  campaign: 'The name of the campaign.',
  accountReference: '`accountReference` of the campaign.',
  channel: 'The word for the channel, from `channels`.',
  from: 'The sender: the word from `senders`, else what the campaign says.',
  'from.msisdn': 'The same, only where it is a number: as `msisdn` says, and a short code as it is.',
  sender:
    'The word for the sender from `senders`, and nothing for another sender. The only value of a message that a URL may have.',
  messageType: 'The word for `messageType` of the campaign.',
  'template.id': 'The template of the provider.',
  metaData: '`metaData` of the campaign.',
  characterSet: 'The word for the character set, from `characterSets`.',
  callback:
    'The URL for delivery reports: `webhook.url` of the environment, with the reference where a request has one recipient. No value without it, or where the scheme is `path` or `basic`.',
  'validity.ms': 'How long the message is valid from now, in milliseconds.',
  'validity.seconds': 'The same in seconds.',
  'validity.minutes': 'The same in minutes.',
  'validity.hours': 'The same in hours.',
  'validity.unix': 'Until when it is valid, in seconds since 1970.',
  'validity.instant': 'Until when it is valid, such as `2026-11-22T09:00:00.000Z`.',
  'validity.offset': 'The same with an offset, such as `2026-11-22T09:00:00.000+00:00`.',
};

/** Those that are made of a name that the file or the message has. */
const MADE: Readonly<Record<string, string>> = {
  'variables.NAME': 'One variable of a template.',
  'content.KEY': 'One key of the rich content; `content.header.image` goes deeper.',
  'var.NAME': 'A public value of the environment.',
  'secret.NAME': 'A secret of the environment. Previews, logs and errors show `***`.',
  baseUrl: '`baseUrl` of the environment, only at the start of a URL.',
};

export const MAPPINGS: Readonly<Record<string, readonly [form: string, meaning: string]>> = {
  $each: [
    '{ $each: recipients, $do: TREE }',
    'A list with one item for each recipient. Over `variables`, `content.buttons` and the like: for each item of it, with `{name}` and `{value}`.',
  ],
  $do: ['$do: TREE', 'Beside `$each` or `$join`: what is written for each item.'],
  $join: ['{ $join: recipients, with: ",", $do: "{to}" }', 'One text of all items, with `with` between them.'],
  $merge: [
    '{ $merge: ["{metaData}", { ref: "{reference}" }] }',
    'One mapping of several; for a key that two have, the later one counts.',
  ],
};

export function notationSections(): readonly string[] {
  const rows = Object.entries({ ...PLACEHOLDERS, ...MADE });
  return [
    `## Placeholders\n\n${PLACEHOLDERS_INTRO}`,
    table(
      ['placeholder', 'value', 'used by'],
      rows.map(([name, says]) => [`\`{${name}}\``, says, usedBy(placeholderOf(name))]),
    ),
    '## Mappings with a meaning',
    table(
      ['form', 'meaning', 'used by'],
      Object.entries(MAPPINGS).map(([name, [form, says]]) => [`\`${form}\``, says, usedBy(new RegExp(`\\${name}:`))]),
    ),
  ];
}

const FOLDER = new URL('../src/providers/', import.meta.url);
const FILES = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml') && !name.endsWith('.examples.yaml'));
const NAMED = 3;

/** The providers that need it, from their files. */
function usedBy(what: RegExp): string {
  const users = FILES.filter((name) => what.test(readFileSync(new URL(name, FOLDER), 'utf8'))).map((name) =>
    name.slice(0, -'.yaml'.length),
  );
  if (users.length === 0) return 'no provider here';
  const rest = users.length > NAMED ? ` and ${users.length - NAMED} more` : '';
  return `${users.slice(0, NAMED).join(', ')}${rest}`;
}

/** In braces, alone or as one of several. Names in capitals stand for any name. */
function placeholderOf(name: string): RegExp {
  const any = name.replace(/\.(?:NAME|KEY)$/, '\\.[^{}|\\s]+').replace(/\.(?=[a-z])/g, '\\.');
  return new RegExp(`\\{(?:[^{}\\s]*\\|)?${any}(?:\\|[^{}\\s]*)?\\}`);
}

const PLACEHOLDERS_INTRO = `Texts under \`url\`, \`auth\`, \`headers\` and \`requests\` may hold them; values of a message are in \`requests\` only. A placeholder
alone keeps the type of its value; inside of a text it becomes text. \`{a|b}\` is \`b\`, a placeholder or a text, where \`a\` has no value.
handbill leaves out a key or an item without a value, then mappings and lists that became empty.`;
