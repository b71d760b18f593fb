import { readFileSync } from 'node:fs';
import { CHANNEL_TABLE, type Channel } from '../content/channels.ts';
import { EXAMPLE_BUTTONS } from '../content/rich.ts';
import { leftOut, placedBy } from '../providers/placed.ts';
import { type Provider, requestFor } from '../providers/provider.ts';
import { environmentText } from './environment.ts';
import NUMBERS from './reserved-numbers.json' with { type: 'json' };

/** Callers have checked all values. */
export interface NewProject {
  /** Name of its first campaign: `[a-z0-9][a-z0-9-]{0,61}`. */
  readonly campaign: string;
  readonly channel: Channel;
  readonly from: string;
  /** ISO 3166-1 alpha-2, for numbers without a country code. */
  readonly country: string;
  /** IANA zone of the country; null where it has several. */
  readonly timeZone: string | null;
  /** That of the environment `production`; undefined: decided later, with `exampleProvider` in a comment. */
  readonly provider: Provider | undefined;
  readonly exampleProvider: Provider;
  /** For package.json: a version, or `file:` and a folder. */
  readonly dependency: string;
  /** Version of the Node.js that the project brings along, as an npm package. */
  readonly node: string;
  readonly schemas: ReadonlyMap<string, string>;
}

/** Texts by path below the project's root, with `/`, in the order in which people should read them. */
export function scaffold(project: NewProject): ReadonlyMap<string, string> {
  return new Map([
    ['handbill.yaml', projectFile(project)],
    ...campaignFiles(project),
    ...[...project.schemas].map(([name, text]) => [`schemas/${name}`, text] as const),
    ['README.md', readmeFile(project)],
    ['package.json', packageFile(project)],
    ...Object.entries(COPIED).map(([path, from]) => [path, example(from)] as const),
  ]);
}

/** The same in every project: the files below `docs/examples/`, by their paths in the project. */
const COPIED = {
  '.npmrc': 'project/npmrc',
  '.gitignore': 'project/gitignore',
  '.vscode/settings.json': 'project/vscode-settings.json',
  '.vscode/extensions.json': 'project/vscode-extensions.json',
  '.github/workflows/handbill.yml': 'github-actions.yml',
};

/** Two levels up is the package, seen from `src/scaffold/` and from `dist/chunks/`. */
function example(name: string): string {
  return readFileSync(new URL(`../../docs/examples/${name}`, import.meta.url), 'utf8');
}

function projectFile({ country, timeZone, provider, exampleProvider }: NewProject): string {
  const zone =
    timeZone === null
      ? '# timeZone: Europe/London # in which schedules and days are read; without it, UTC'
      : `timeZone: ${yamlWord(timeZone)} # in which schedules and days are read`;
  return `# yaml-language-server: $schema=./schemas/project.schema.json
# What all campaigns of this project share. The campaign's own settings override these.

${zone}
defaultCountry: ${yamlWord(country)} # for numbers in replies and lists of opt-outs without a country code

defaults:
  recipients:
    defaultCountry: ${yamlWord(country)} # for numbers in lists that are written without a country code

# Campaigns go to the sandbox on this machine until an environment is named with --env. Its secrets are read from
# variables of the environment, or from files that only you can read, and are never written here.
${provider === undefined ? commented(exampleProvider) : environmentText('production', provider)}`;
}

function commented(provider: Provider): string {
  const text = environmentText('production', provider);
  return `# This is how one looks; \`handbill help providers\` lists the messaging APIs.
#
${text.replaceAll(/^(?=.)/gm, '# ')}`;
}

function campaignFiles(project: NewProject): readonly (readonly [path: string, text: string])[] {
  const folder = `campaigns/${project.campaign}`;
  const text = campaignFile(project);
  const template = [`${folder}/template.hbs`, CHANNEL_TABLE[project.channel].init.template] as const;
  return [
    [`${folder}/campaign.yaml`, text],
    ...(text.includes('template.hbs') ? [template] : []),
    [`${folder}/people.csv`, peopleFile(project)],
    ...FOLLOW_UPS.map((step) => [`${folder}${step.end}/campaign.yaml`, campaignFile(project, step)] as const),
  ];
}

/** Each follows the one before; `end` and `before` end the names of the two. */
const FOLLOW_UPS = [
  { end: '-2', before: '', wait: '3d', words: 'three days', text: '{{first_name}}, shall we keep your order for you?' },
  { end: '-3', before: '-2', wait: '4d', words: 'four days', text: '{{first_name}}, we keep your order until Friday.' },
] as const;

type FollowUp = (typeof FOLLOW_UPS)[number];

/** Whether a request of the provider has a place for a value of a campaign: `from`, `content.buttons`. */
export function takesOf(channel: Channel, provider: Provider | undefined): (name: string) => boolean {
  const { address } = CHANNEL_TABLE[channel];
  const kinds = provider === undefined ? [] : (['text', 'template'] as const);
  const request = kinds.map((kind) => provider && requestFor(provider, channel, kind, address)).find((one) => one);
  return (name) => request == null || leftOut(placedBy(request), name, true).length === 0;
}

/** The sender and the message, without what the provider cannot send. */
function messageLines({ channel, from, provider }: NewProject, step?: FollowUp): string {
  const { init, address } = CHANNEL_TABLE[channel];
  const text = provider && requestFor(provider, channel, 'text', address);
  const takes = takesOf(channel, provider);
  const sender = takes('from') ? `from: ${yamlWord(from)}\n` : '';
  if (text === null)
    return `${sender}template: { id: your-template${step?.end ?? ''} } # its id at the provider; columns are its variables\n`;
  const template = step === undefined ? 'template.hbs' : `{ text: ${JSON.stringify(step.text)} }`;
  const comment = step === undefined ? ' # {{first_name}} in it is the column first_name of the list' : '';
  const hasButtons = step === undefined && takes('content.buttons');
  const more = hasButtons ? init.yaml : init.yaml.replace(EXAMPLE_BUTTONS, '');
  return `${sender}template: ${template}${comment}\n${more.replace('template.hbs', template)}`;
}

function campaignFile(project: NewProject, step?: FollowUp): string {
  const { campaign, channel } = project;
  const name = yamlWord(`${campaign}${step?.end ?? ''}`);
  const list = step === undefined ? 'people.csv' : `../${campaign}/people.csv`;
  const recipients = CHANNEL_TABLE[channel].address === 'email' ? `{ csv: ${list}, to: email }` : list;
  const [head, last] =
    step === undefined ? [`name: ${name} ${IDENTITY}`, SCHEDULE] : followUpLines(campaign, name, step);
  return `# yaml-language-server: $schema=../../schemas/campaign.schema.json
${head}
channel: ${channel}
${messageLines(project, step)}recipients: ${recipients} # one row each

${last}
`;
}

const IDENTITY = '# its identity: another name is another campaign, in which no recipient was sent to yet';
const SCHEDULE = `# Goes out by itself, once something calls \`handbill due\`: see \`handbill schedule --help\`.
# schedule:
#   cron: 0 9 * * 1-5`;

function followUpLines(campaign: string, name: string, step: FollowUp): readonly [head: string, last: string] {
  const before = `${campaign}${step.before}`;
  const head = `# Goes to those who do not answer ${before}, ${step.words} after it. Write your text, or delete this folder.
# See \`handbill help guide follow-ups\`.
name: ${name}`;
  const after = `after: { campaign: ${yamlWord(before)}, wait: ${step.wait}, unless: [replied, opted-out] }`;
  // This text does not go out unread to the list that takes the place of the example.
  return [head, `${after}\nlimits: { maxRecipients: ${PEOPLE.length} } # raise it once the text is yours`];
}

const PEOPLE: readonly { readonly name: string; readonly order: string }[] = [
  { name: 'Ada', order: 'R-1001' },
  { name: 'Ravi', order: 'R-1002' },
  { name: 'Renée', order: 'R-1003' },
];

/**
 * Numbers that regulators keep free for fiction; other countries' lists begin with British ones. The first is the sender.
 * GB: Ofcom. US, CA: 555-0100 to 555-0199 of any area (NANPA). FR: ARCEP, 06 39 98. AU: ACMA. SE: PTS.
 */
const RESERVED: Readonly<Record<string, readonly string[]>> = NUMBERS;
const BRITISH = NUMBERS.GB;

export function exampleSender(country: string): string {
  return (RESERVED[country] ?? BRITISH)[0] ?? '';
}

const INVENTED: ReadonlySet<string> = new Set(Object.values(RESERVED).flat());

/** Numbers for fiction that numbering plans count as in use, and RFC 2606. */
export function isInvented(address: string): boolean {
  return INVENTED.has(address) || FICTION_US.test(address) || FREE_DOMAIN.test(address);
}

const FICTION_US = /^\+1\d{3}55501\d{2}$/;
const FREE_DOMAIN = /[@.](?:example(?:\.(?:com|net|org))?|test|invalid)$/i;

/** RFC 2606 keeps example.com free. */
function peopleFile({ channel, country }: Pick<NewProject, 'channel' | 'country'>): string {
  const [, ...numbers] = RESERVED[country] ?? BRITISH;
  const isEmail = CHANNEL_TABLE[channel].address === 'email';
  const rows = PEOPLE.map(({ name, order }, i) => {
    const address = isEmail ? `${order.toLowerCase()}@example.com` : (numbers[i] ?? '');
    return [address, name, order].join(',');
  });
  return `${[`${isEmail ? 'email' : 'msisdn'},first_name,order`, ...rows].join('\n')}\n`;
}

export const IGNORED: readonly string[] = ['.handbill/', '.env'];

/** Exact, so that all people and CI use one version and can open the ledger. Node.js comes as a package. */
function packageFile({ dependency, node }: Pick<NewProject, 'dependency' | 'node'>): string {
  const text = {
    private: true,
    scripts: { validate: 'handbill validate', preview: 'handbill preview', send: 'handbill send' },
    dependencies: { handbill: dependency },
    devDependencies: { node },
    allowScripts: { node: true },
  };
  return `${JSON.stringify(text, null, 2)}\n`;
}

/** For readers of the repository who do not know handbill. */
function readmeFile({ campaign, dependency }: Pick<NewProject, 'campaign' | 'dependency'>): string {
  const elsewhere = dependency.startsWith('file:')
    ? `
\`package.json\` names the handbill on the disk that made these files. Other machines, and CI, need one that they can
install: a version, or the file that \`npm pack\` makes of handbill.
`
    : '';
  return example('project/readme')
    .replaceAll(/CAMPAIGN +(?=#)/g, (place) => `${campaign} `.padEnd(place.length))
    .replaceAll('CAMPAIGN', campaign)
    .replace('\n| file |', `${elsewhere}\n| file |`);
}

/** On one line, quoted if any YAML reader takes it for another type (1.1: `no` is a boolean), with JSON's escapes. */
function yamlWord(text: string): string {
  return /^[A-Za-z][\w/-]*$/.test(text) && !BOOLEAN.test(text) ? text : JSON.stringify(text);
}

const BOOLEAN = /^(?:y|n|yes|no|on|off|true|false|null)$/i;
