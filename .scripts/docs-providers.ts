/** One page for each provider, their index, and the table of the README: from the files in src/providers. */
import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { builtIn, DEFAULT_PROVIDER, providerNames } from '../src/campaign/read-provider.ts';
import { CHANNEL_TABLE, CHANNELS, type Channel } from '../src/content/channels.ts';
import { type Provider, requestFor } from '../src/providers/provider.ts';
import { environmentText, secretVariable } from '../src/scaffold/environment.ts';
import { listWithAnd } from '../src/util/words.ts';
import { block, page, table } from './docs-markdown.ts';

const ROOT = new URL('..', import.meta.url);

/** What pages use of `NAME.yaml` beside the provider that handbill reads. */
interface ProviderText {
  readonly requests: readonly object[];
  readonly version: string;
  readonly checked: string;
  readonly sources: readonly string[];
  readonly unverified: readonly string[];
  readonly notes: readonly string[];
  readonly idempotency?: { readonly header: string };
  readonly webhook?: { readonly scheme?: string; readonly optOut?: object; readonly handshake?: string };
  readonly reports?: {
    readonly optedOut?: readonly unknown[];
    readonly fetch?: readonly { readonly url: string; readonly once?: boolean }[];
  };
  readonly answers?: readonly { readonly then: string }[];
}

/** What pages use of `NAME.examples.yaml`. */
interface Examples {
  readonly requests: readonly {
    readonly about: string;
    readonly recipients: readonly unknown[];
    readonly url: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body: string;
  }[];
  readonly answers: readonly { readonly about: string; readonly status: number; readonly then: string | string[] }[];
  readonly webhooks?: readonly {
    readonly about: string;
    readonly query?: object;
    readonly form?: object;
    readonly json?: object;
    readonly then: Event | Event[];
  }[];
  readonly fetches?: readonly { readonly list: number; readonly then: Event | Event[] }[];
}

interface Event {
  readonly state?: string;
  readonly reference?: string;
  readonly cause?: string | null;
  readonly optsOut?: boolean;
  readonly reply?: { readonly meaning?: string };
  readonly challenge?: string;
}

interface Known {
  readonly provider: Provider;
  readonly text: ProviderText;
  readonly examples: Examples | undefined;
}

export function knownProviders(): readonly Known[] {
  // The API of the default first: every other one is by name.
  const names = providerNames().toSorted((a, b) => Number(b === DEFAULT_PROVIDER) - Number(a === DEFAULT_PROVIDER));
  return names.map((name) => {
    const file = (ending: string): URL => new URL(`src/providers/${name}${ending}`, ROOT);
    const examples = existsSync(file('.examples.yaml')) ? read<Examples>(file('.examples.yaml')) : undefined;
    return { provider: builtIn(name).provider, text: read<ProviderText>(file('.yaml')), examples };
  });
}

function read<Kind>(file: URL): Kind {
  return parse(readFileSync(file, 'utf8')) as Kind;
}

/** docs/providers/NAME.md */
export function providerPage({ provider, text, examples }: Known): string {
  const { name, title } = provider;
  return page(
    title,
    `\`provider: ${name}\` posts to ${title}, version ${text.version}. ${examples === undefined ? DEFAULT_API : checkedText(text)}`,
    `## Set up\n\nIn \`handbill.yaml\`:`,
    block('yaml', environmentText('production', provider)),
    `Then \`handbill doctor --env production\` says what is missing, and [\`handbill send --test-to\`](../start.md#the-first-thing-to-send-a-test-to-yourself)
sends one message to you. ${valuesText(provider)}${examples === undefined ? '' : ELSEWHERE}`,
    'To receive delivery reports and replies, add this to the environment, and run [`handbill listen`](../webhooks.md):',
    block('yaml', webhookText(provider, text)),
    `## What it can do\n\n${abilities({ provider, text, examples })
      .map(([what, how]) => `- **${what}**: ${how}`)
      .join('\n')}`,
    ...section('Know before you send', text.notes),
    ...section('Unverified', text.unverified, UNVERIFIED),
    ...(examples === undefined ? [DEFAULT_MORE] : exampleSections(examples, title, text)),
    ...fetchSection({ provider, text, examples }),
    ...section('Sources', text.sources),
  );
}

/** For every provider but the default, whose URL begins with it. */
const ELSEWHERE = `

For another region or a test server, \`baseUrl: https://HOST\` in the environment replaces scheme, host and port of the URL.`;

const DEFAULT_API = 'An environment without `provider` speaks it, and so does the [sandbox](../sandbox.md).';

function checkedText({ checked }: ProviderText): string {
  return `The facts on this page were last compared with their [sources](#sources) on ${checked}. Tests compare handbill with
the examples below. They use no account at the provider.`;
}

const UNVERIFIED = 'No public source confirms these sentences. Check them with your account before you rely on them:';
const DEFAULT_MORE = `## Requests and answers

[Every field and feature](../fields.md) · [how an answer is read](../reference/answers.md) · [the description of the API in
OpenAPI](../../schemas/messages.openapi.json) · [the sandbox](../sandbox.md) answers as this API does.`;

function valuesText({ vars, secrets }: Provider): string {
  const named = Object.values({ ...vars, ...secrets });
  if (named.length === 0) return '';
  return 'A secret is in an environment variable (`{ env: NAME }`) or a file of mode 0600 (`{ file: path }`), never in `handbill.yaml`.';
}

/** The secret that proves a report, for each scheme. */
const WEBHOOK_SECRETS: Readonly<Record<string, string>> = {
  standard: 'of Standard Webhooks, such as whsec_...',
  ed25519: 'the public key of the sender, in base64',
  basic: 'user:password, as in the settings of your account',
  bearer: 'the token that it sends',
  path: 'the last segment of the URL that you write in your account: /webhooks/production/SECRET (openssl rand -hex 16 makes one)',
};

/** A proof that covers the URL needs it, and so does a request that names it. */
function webhookText(provider: Provider, text: ProviderText): string {
  const { webhook = {} } = text;
  const hasUrl = hasCallback(text) || /"url-form"|"urlHash"|\{url\}/.test(JSON.stringify(webhook));
  const secret = WEBHOOK_SECRETS[webhook.scheme ?? 'standard'] ?? 'the key that the provider signs with';
  return [
    'webhook:',
    ...(hasUrl ? ['  url: https://hooks.example.com/webhooks/production # where the provider posts to'] : []),
    `  secrets: [{ env: ${secretVariable(provider, 'webhookSecret')} }] # ${secret}`,
    ...(webhook.handshake === undefined
      ? []
      : [`  verifyToken: { env: ${secretVariable(provider, 'verifyToken')} } # a word of yours`]),
  ].join('\n');
}

function section(title: string, sentences: readonly string[], intro?: string): readonly string[] {
  if (sentences.length === 0) return [];
  const list = sentences.map((sentence) => `- ${sentence.startsWith('https://') ? `<${sentence}>` : marked(sentence)}`);
  return [`## ${title}\n\n${intro === undefined ? '' : `${intro}\n\n`}${list.join('\n')}`];
}

/** Names of settings as code. */
function marked(sentence: string): string {
  return sentence.replaceAll(/(?<![\w/@.`])(?:vars|secrets|template)\.\w+/g, '`$&`').replaceAll('|', '\\|');
}

function abilities(known: Known): readonly (readonly [what: string, how: string])[] {
  const { provider, text } = known;
  return [
    ['Channels', channelsOf(provider)],
    ['Content', contentOf(provider)],
    ['Recipients in a request', recipientsOf(provider)],
    ['Longest text', provider.limits.text === null ? 'no limit is known' : `${count(provider.limits.text)} characters`],
    ['Validity', validityOf(provider)],
    ['Repeated requests', repeatsOf(text)],
    ['Delivery reports and replies', reportsOf(text)],
    ['Fetching them', fetchingOf(known)],
    ["handbill's reference", referenceOf(known)],
    ['Opt-outs that the API knows', optOutsOf(text)],
  ];
}

function channelsOf({ channels }: Provider): string {
  return listWithAnd(
    channelNames(channels).map((channel) => {
      const [label, app] = [labelOf(channel), appOf(channel, channels)];
      return app === label ? label : `${label} (${app})`;
    }),
  );
}

function channelNames(channels: Provider['channels']): readonly Channel[] {
  return Object.keys(channels) as Channel[];
}

/** The app behind `messaging-app`, where the API has one: its word names it. */
function appOf(channel: Channel, channels: Provider['channels']): string {
  return /^whatsapp$/i.test(channels[channel] ?? '') ? 'WhatsApp' : labelOf(channel);
}

/** Inside of a sentence: a name in capitals stays. */
function labelOf(channel: Channel): string {
  const { label } = CHANNEL_TABLE[channel];
  return /^[A-Z]{2}/.test(label) ? label : label.toLowerCase();
}

function contentOf(provider: Provider): string {
  const groups = new Map<string, Channel[]>();
  for (const channel of channelNames(provider.channels)) {
    const address = CHANNEL_TABLE[channel].address;
    const [hasText, hasTemplate] = (['text', 'template'] as const).map(
      (kind) => requestFor(provider, channel, kind, address) !== null,
    );
    const what = !hasText
      ? 'templates of the provider only'
      : hasTemplate
        ? 'texts and templates of the provider'
        : 'texts only';
    groups.set(what, [...(groups.get(what) ?? []), channel]);
  }
  if (groups.size === 1) return [...groups.keys()].join('');
  return [...groups].map(([what, channels]) => `${listWithAnd(channels.map(labelOf))}: ${what}`).join('; ');
}

function recipientsOf({ limits }: Provider): string {
  return limits.recipients === 1 ? 'one' : `up to ${count(limits.recipients)} (\`send.recipientsPerRequest\`)`;
}

function validityOf({ requests, limits }: Provider): string {
  if (!JSON.stringify(requests).includes('{validity.')) return 'cannot be set';
  const [from, to] = limits.validity ?? [];
  return from === undefined || to === undefined ? 'any' : `${duration(from)} to ${duration(to)}`;
}

function duration(seconds: number): string {
  const units = [
    ['day', 86_400],
    ['hour', 3600],
    ['minute', 60],
    ['second', 1],
  ] as const;
  const [unit, size] = units.find(([, length]) => seconds % length === 0) ?? units[3];
  return `${seconds / size} ${unit}${seconds === size ? '' : 's'}`;
}

function repeatsOf({ idempotency }: ProviderText): string {
  return idempotency === undefined
    ? 'the API has no key for them; a doubt stays a doubt'
    : `the header \`${idempotency.header}\` has the reference; a doubt stays a doubt`;
}

/** How reports prove where they come from. */
const PROOFS: Readonly<Record<string, { readonly brief: string; readonly whole: string }>> = {
  standard: { brief: 'signature', whole: 'a signature (Standard Webhooks)' },
  hmac: { brief: 'signature', whole: 'a signature over the body (HMAC)' },
  basic: { brief: 'password', whole: 'a user and a password (Basic)' },
  bearer: { brief: 'token', whole: 'a bearer token' },
  path: { brief: 'secret URL', whole: 'a secret in the URL' },
  ed25519: { brief: 'signature', whole: 'a signature over the body (Ed25519)' },
  jwt: { brief: 'signed token', whole: 'a signed token (JWT)' },
  'url-form': { brief: 'signature', whole: 'a signature over the URL and the form' },
  'body-hmac': { brief: 'signature', whole: 'a signature over fields of the body (HMAC)' },
};

function proofOf({ webhook }: ProviderText) {
  const scheme = webhook?.scheme ?? 'standard';
  return PROOFS[scheme] ?? { brief: scheme, whole: scheme };
}

function reportsOf(text: ProviderText): string {
  return `[webhooks](../webhooks.md), proved by ${proofOf(text).whole}. ${
    hasCallback(text)
      ? 'Requests name their URL where the environment has `webhook.url`; else set it in your account'
      : 'Set their URL in your account'
  }`;
}

/** What the lists of an API give, by the examples of their pages; `list`: of one of them. */
function fetchedOf({ examples }: Known, list?: number): readonly ('reports' | 'replies')[] {
  const pages = (examples?.fetches ?? []).filter((one) => list === undefined || one.list === list);
  const events = pages.flatMap(({ then }) => [then].flat());
  const has = { reports: events.some(({ state }) => state), replies: events.some(({ reply }) => reply) };
  return (['reports', 'replies'] as const).filter((kind) => has[kind]);
}

function isOnce({ text }: Known): boolean {
  return text.reports?.fetch?.some(({ once }) => once === true) === true;
}

function fetchingOf(known: Known): string {
  const kinds = fetchedOf(known);
  if (kinds.length === 0) return `handbill cannot ask this API for them; it needs webhooks`;
  const without = kinds.includes('replies') ? '' : '; replies need webhooks';
  const once = isOnce(known) ? '; the API gives each only once' : '';
  return `[\`fetch: true\`](../fetch.md) asks for ${listWithAnd(kinds)}${without}${once}`;
}

function fetchSection(known: Known): readonly string[] {
  const lists = known.text.reports?.fetch ?? [];
  if (lists.length === 0) return [];
  const rows = lists.map(({ url }, i) => [`\`${url}\``, listWithAnd(fetchedOf(known, i))]);
  return [`## Lists that handbill can fetch\n\n${table(['GET', 'gives'], rows)}`];
}

/** A URL without its secret would bring reports that handbill refuses: with these schemes no request has it. */
function hasCallback({ requests, webhook }: ProviderText): boolean {
  const scheme = webhook?.scheme ?? '';
  return JSON.stringify(requests).includes('{callback}') && !['path', 'basic'].includes(scheme);
}

/** By the examples: whether a field of a report has our reference, and not only the query of the URL that it goes to. */
function hasReference({ examples }: Known): boolean {
  if (examples === undefined) return true;
  const reports = (examples.webhooks ?? []).filter(({ query, form, json }) => query === undefined || !(form ?? json));
  return reports.some(({ then }) => [then].flat().some(({ state, reference }) => state && reference));
}

function referenceOf(known: Known): string {
  if (hasReference(known)) return 'reports give it back';
  return hasCallback(known.text)
    ? 'reports give it back where the environment has `webhook.url`; else the message id finds the recipient'
    : 'reports do not give it back: the message id finds the recipient';
}

function optOutsOf({ answers = [], webhook, reports }: ProviderText): string {
  const places = [
    ...(answers.some(({ then }) => then === 'opted-out') ? ['answers'] : []),
    ...((reports?.optedOut ?? []).length > 0 || webhook?.optOut !== undefined ? ['reports'] : []),
  ];
  return places.length === 0 ? 'not reported' : `reported in ${listWithAnd(places)}`;
}

function exampleSections(
  { requests, answers, webhooks = [] }: Examples,
  title: string,
  text: ProviderText,
): readonly string[] {
  const [first] = requests;
  const shared = requests.find(({ recipients }) => recipients.length > 1);
  return [
    '## A request',
    ...[first, shared].flatMap((request) =>
      request === undefined
        ? []
        : [
            `${capital(request.about)}${request.body.includes('hooks.riverside') && !hasCallback(text) ? NO_CALLBACK : ''}:`,
            block('http', requestText(request)),
          ],
    ),
    `## Answers\n\n${table(
      ['the answer', 'status', 'handbill'],
      answers.map(({ about, status, then }) => [about, String(status), sameOnce([then].flat().map(readAs))]),
    )}`,
    `## Delivery reports and replies\n\n${table(
      [`${title} says`, 'handbill'],
      webhooks.map(({ about, then }) => [about, sameOnce([then].flat().map(heardAs))]),
    )}`,
  ];
}

const NO_CALLBACK =
  ' (handbill leaves the URL for reports out, which would need a secret in it: set it in your account)';

/** Long bodies are broken for people to read; handbill sends them on one line. */
function requestText({ url, headers = {}, body }: Examples['requests'][number]): string {
  const isJson = /^[[{]/.test(body);
  const type = isJson ? 'application/json' : 'application/x-www-form-urlencoded';
  const lines = Object.entries({ 'content-type': type, ...headers }).map(([name, value]) => `${name}: ${value}\n`);
  const shown = isJson ? JSON.stringify(JSON.parse(body), null, 2) : body.replaceAll('&', '\n&');
  return `POST ${url}\n${lines.join('')}\n${shown}`;
}

/** What holds for several recipients or events. */
function sameOnce(words: readonly string[]): string {
  return [...new Set(words)].join(' and ');
}

const READ_AS: Readonly<Record<string, string>> = {
  accepted: '`accepted`',
  refused: '`rejected`',
  'opted-out': '`rejected`; the address is [suppressed](../suppression.md)',
  unsupported: '`rejected`; the next channel of `fallback` follows',
  retry: 'tries again',
  stop: 'halts the run',
  doubt: '`in-doubt`',
  split: 'sends each part of the request by itself',
};

function readAs(word: string): string {
  return READ_AS[word] ?? word;
}

const CAUSES: Readonly<Record<string, string>> = {
  gone: 'the address does not exist',
  'opted-out': 'the person has opted out',
  'unsupported-channel': 'the person does not have the channel',
};

function heardAs({ state, cause, optsOut, reply, challenge }: Event): string {
  if (reply !== undefined) return reply.meaning === 'opt-out' ? 'a reply that opts out' : 'a reply';
  if (challenge !== undefined) return 'answers with the challenge';
  const why = cause == null ? '' : `: ${CAUSES[cause] ?? cause}`;
  return `\`${state}\`${why}${optsOut === true ? ', and the person has opted out' : ''}`;
}

/** docs/providers.md: narrow enough for a terminal of 80 columns. */
export function providersPage(): string {
  const rows = knownProviders().map((known) => {
    const { name, limits } = known.provider;
    return [
      `[${name}](providers/${name}.md)`,
      briefChannels(known.provider),
      count(limits.recipients),
      proofOf(known.text).brief,
      briefFetch(known),
      hasReference(known) ? 'yes' : hasCallback(known.text) ? '`webhook.url`' : 'no',
    ];
  });
  const head = ['provider', 'channels', 'at once', 'reports', 'fetch', 'reference'];
  return page('Providers', PROVIDERS_INTRO, table(head, rows), PROVIDERS_END);
}

function briefFetch(known: Known): string {
  const kinds = fetchedOf(known);
  return kinds.length === 2 ? 'all' : kinds.length === 1 ? 'some' : 'no';
}

function briefChannels({ channels }: Provider): string {
  const names = channelNames(channels);
  return names.length === CHANNELS.length ? 'all' : names.map((name) => appOf(name, channels)).join(', ');
}

const PROVIDERS_INTRO = `handbill posts to these messaging APIs. An environment of \`handbill.yaml\` names one:

\`\`\`yaml
environments:
  production:
    provider: twilio
    vars: { account: AC00000000000000000000000000000000 }
    secrets: { token: { env: TWILIO_TOKEN } }
\`\`\`

\`handbill init --provider twilio\` writes it into a new project. The page of each provider has its \`vars\` and \`secrets\`, what it
can do, a request, its answers and its reports. \`handbill help providers twilio\` shows that page in the terminal.`;

const PROVIDERS_END = `## What the columns mean

- **at once**: the most recipients that one request may have ([\`send.recipientsPerRequest\`](performance.md#several-recipients-in-one-request)).
- **reports**: how a delivery report or a reply proves that it comes from the provider ([webhooks](webhooks.md)).
- **fetch**: what handbill can [ask the API for](fetch.md) where no webhook reaches you: all (reports and replies), some (reports
  alone), or nothing.
- **reference**: whether a delivery report has handbill's reference. Then it finds its recipient also where handbill never got the
  message id, which [resolves doubts](doubt.md). \`webhook.url\`: it has the reference where the environment has that setting.

## What a provider cannot send

\`preview\`, \`plan\`, \`send\` and \`due\` refuse a campaign that the provider of their environment cannot send: a text that is too
long, no sender, a \`validity\` outside of its limits, content or a channel that it does not have. \`validate\` checks the
environments whose provider has the channel of the campaign. It reports errors about the environment in \`HANDBILL_ENV\`, or about
the only one, and warnings about the others. \`doctor CAMPAIGN --env NAME\` checks one environment.

## What is checked

Tests compare each request, answer and report with the examples of the provider, byte for byte. The examples come from public
descriptions of the API, which each page lists. A page also lists what no public source confirms. No test uses an account at
a provider, so [send a test to yourself](start.md#the-first-thing-to-send-a-test-to-yourself) first.

## Other APIs

For any other API, [write a provider file](wire.md). handbill cannot do these: signatures of requests (SigV4), fetching an OAuth2
token, XML, uploads, and answers whose values are keyed by the number of the recipient.`;

const START = '<!-- providers: made by .scripts/docs.ts -->';
const END = '<!-- end of providers -->';

/** The README with its table; the rest is written by hand. */
export function readmeWithProviders(): string {
  const readme = readFileSync(new URL('README.md', ROOT), 'utf8');
  const [before = '', rest = ''] = readme.split(START);
  const [, after = ''] = rest.split(END);
  const rows = knownProviders().map((known) => {
    const { provider, text } = known;
    return [
      `[${provider.title.replace(/ \(.*/, '')}](docs/providers/${provider.name}.md)`,
      briefChannels(provider),
      count(provider.limits.recipients),
      validityOf(provider),
      proofOf(text).brief,
      listWithAnd(fetchedOf(known)) || 'no',
    ];
  });
  const head = ['API', 'channels', 'recipients in a request', 'validity', 'reports authenticated by', 'can be fetched'];
  return `${before}${START}\n\n${table(head, rows)}\n\n${END}${after}`;
}

/** docs/fetch.md with its table; the rest is written by hand. */
export function fetchPage(): string {
  const written = readFileSync(new URL('docs/fetch.md', ROOT), 'utf8');
  const [before = '', rest = ''] = written.split(START);
  const [, after = ''] = rest.split(END);
  const [fetched, others] = [true, false].map((can) =>
    knownProviders().filter((known) => known.provider.name !== DEFAULT_PROVIDER && fetchedOf(known).length > 0 === can),
  );
  const rows = (fetched ?? []).map((known) => {
    const kinds = fetchedOf(known);
    const says = (kind: 'reports' | 'replies'): string => (kinds.includes(kind) ? 'yes' : 'no');
    return [linkOf(known), says('reports'), says('replies'), isOnce(known) ? 'only once' : 'again'];
  });
  const made = table(['provider', 'reports', 'replies', 'each event comes'], rows);
  const without = `handbill cannot ask ${listWithAnd((others ?? []).map(linkOf))}: they need [webhooks](webhooks.md).`;
  return `${before}${START}\n\n${made}\n\n${without}\n\n${END}${after}`;
}

function linkOf({ provider }: Known): string {
  return `[${provider.title.replace(/ \(.*/, '')}](providers/${provider.name}.md)`;
}

function count(number: number): string {
  return number.toLocaleString('en-GB');
}

function capital(text: string): string {
  return `${text[0]?.toUpperCase()}${text.slice(1)}`;
}
