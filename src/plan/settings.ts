import { hash } from 'node:crypto';
import { relative, sep } from 'node:path';
import type { Campaign, Environment, InputFile, ListSpec, SendSettings, SourceText, Variables } from '../model.ts';
import type { Provider } from '../providers/provider.ts';
import { isText } from './compile.ts';

/*
 * Which settings a run and a standing approval notice. A new key of a campaign, of its list or of an environment does not
 * compile until the tables below say what a change of it means:
 *
 * - `message`: it changes messages or who gets them, so that a run that has begun refuses to continue;
 * - `bound`: it bounds each run, so that a standing approval ends when it changes;
 * - otherwise the reason why a change of it may pass.
 *
 * What only the campaign file can say needs neither: the hash of the file is an input of each run and each approval.
 */

type Concern = 'message' | 'bound' | { readonly neither: string };

/** For each key its concern, and how its value is hashed; default: as it is. */
type Concerns<T> = { readonly [Key in keyof Required<T>]: Concern | readonly [Concern, (value: T[Key]) => unknown] };

const IN_FILE = { neither: 'only the campaign file says it, whose hash is an input' };
const PLACE = { neither: 'where it is written' };
const PACE = { neither: 'how fast a run sends may change while it goes on' };
const PART = { neither: 'its keys are in a table below' };

const CAMPAIGN = {
  name: IN_FILE,
  id: { neither: 'it names the run' },
  isIdWritten: IN_FILE,
  namePlace: PLACE,
  channel: 'message',
  from: 'message',
  accountReference: 'message',
  messageType: 'message',
  characterSet: 'message',
  characterSetWritten: 'message',
  transliterate: 'message',
  locale: 'message',
  timeZone: 'message',
  validity: 'message',
  metaData: 'message',
  topic: 'message',
  template: IN_FILE,
  content: IN_FILE,
  variables: ['message', (variables) => textsOf(variables ?? {})],
  recipientMetaData: ['message', (texts) => textsOf(texts ?? {})],
  partials: { neither: 'each partial is an input' },
  variants: IN_FILE,
  fallbacks: IN_FILE,
  split: ['message', ({ seed, holdout, test }) => ({ seed, holdout, test })],
  recipients: PART,
  send: PART,
  schedule: IN_FILE,
  limits: 'bound',
  // Without places: a line that moves changes nothing.
  guards: [
    'bound',
    ({ maxAge, minRecipients, change }) => [maxAge?.ms ?? null, minRecipients?.count ?? null, change?.share ?? null],
  ],
  exclude: ['bound', (excluded) => excluded.map(({ campaign, occurrence }) => [campaign, occurrence])],
  frequency: 'bound',
  unreachable: ['bound', (rule) => (rule === null ? undefined : [rule.after, rule.withinMs])],
  isCounted: 'bound',
  after: ['bound', (after) => (after === null ? null : [after.campaign, after.wait.ms, after.unless])],
  suppressions: { neither: 'another input: suppressionsInput' },
  places: PLACE,
  file: PLACE,
  project: { neither: 'what it says for a campaign is in the campaign' },
  inputs: { neither: 'they are the inputs' },
} as const satisfies Concerns<Campaign>;

const RECIPIENTS = {
  path: PLACE,
  file: PLACE,
  given: PLACE,
  missing: PLACE,
  sampled: PLACE,
  sample: { neither: 'a sample is never sent to' },
  inline: IN_FILE,
  kind: 'message',
  to: 'message',
  key: 'message',
  duplicates: 'message',
  defaultCountry: 'message',
  headerRow: IN_FILE,
  delimiter: 'message',
  encoding: 'message',
  escaped: 'message',
  onInvalid: 'message',
  alsoInvalid: 'message',
  columns: 'message',
  where: ['message', (where) => where?.query ?? null],
  timeZone: 'bound',
  // It is part of what identifies a recipient.
  each: ['message', (each) => (each === null ? undefined : [each.column, each.before.ms, each.timeZone])],
  display: IN_FILE,
} as const satisfies Concerns<ListSpec>;

const SEND = {
  concurrency: PACE,
  ratePerSecond: PACE,
  attempts: PACE,
  timeoutMs: PACE,
  recipientsPerRequest: PACE,
  notAfterMs: 'bound',
  window: 'bound',
  canary: 'bound',
} as const satisfies Concerns<SendSettings>;

const ENVIRONMENT = {
  name: { neither: 'a stand-in continues the runs of its original' },
  identity: { neither: 'it names the run' },
  provider: ['message', wordsOf],
  vars: 'message',
  secrets: { neither: 'keys are renewed' },
  baseUrl: { neither: 'it is in the URL' },
  url: 'message',
  wire: 'message',
  countries: 'message',
  ratePerSecond: PACE,
  concurrency: PACE,
  proxy: { neither: 'the way to the API changes no message' },
  webhook: { neither: 'what is received, and where, changes no message' },
  fetch: { neither: 'what is asked for changes no message' },
  approval: { neither: 'who approves is checked at each start' },
  git: { neither: 'the commit is checked at each start' },
  only: { neither: 'another input, with the addresses: fence.ts' },
  redirect: { neither: 'another input: fence.ts' },
  budget: ['bound', (budget) => budget ?? undefined],
} as const satisfies Concerns<Environment>;

type BoundIn<T> = { [Key in keyof T]: T[Key] extends 'bound' | readonly ['bound', unknown] ? Key : never }[keyof T];

/** The settings that bound each run: a person who signs a standing approval sees them (`guardFacts`). */
export type BoundSetting =
  | BoundIn<typeof CAMPAIGN>
  | `recipients.${BoundIn<typeof RECIPIENTS>}`
  | `send.${BoundIn<typeof SEND>}`
  | BoundIn<typeof ENVIRONMENT>;

function chosen<T extends object>(concerns: Concerns<T>, wanted: Concern, of: T): Readonly<Record<string, unknown>> {
  const entries = Object.entries(concerns) as [keyof T & string, Concerns<T>[keyof T]][];
  return Object.fromEntries(
    entries.flatMap(([key, concern]) => {
      const [own, value] = Array.isArray(concern) ? concern : [concern, (same: unknown) => same];
      return own === wanted ? [[key, value(of[key])]] : [];
    }),
  );
}

/** Everything in a provider file that changes requests. A file of the project is also a separate input. */
function wordsOf({ name: _, title, input, vars, secrets, limits, needs, ...words }: Provider): object {
  return words;
}

/** The files that a campaign's messages are made of, but for its list, and the settings of the environment. */
export function inputsOf(campaign: Campaign, environment: Environment): readonly InputFile[] {
  const { input } = environment.provider;
  const own = campaign.inputs.filter(({ role }) => role !== 'project' && role !== 'provider');
  return [...own, ...(input === null ? [] : [input]), ...settingsInputs(campaign, environment)];
}

/** For a stand-in those of its original, whose runs it may continue; its own `wire` is another input. */
export function settingsInputs(campaign: Campaign, environment: Environment): readonly InputFile[] {
  const { project, file, recipients } = campaign;
  const original = project.environments.get(environment.identity) ?? environment;
  const content = {
    ...chosen(ENVIRONMENT, 'message', original),
    ...chosen(CAMPAIGN, 'message', campaign),
    recipients: chosen(RECIPIENTS, 'message', recipients),
  };
  const settings: InputFile = { role: 'settings', file: project.file ?? file, sha256: digest(content) };
  if (original.name === environment.name) return [settings];
  const { url, wire, vars, provider } = environment;
  const own = { url, wire, vars, provider: wordsOf(provider) };
  return [settings, { role: 'stand-in', file: `environments.${environment.name}`, sha256: digest(own) }];
}

/** The limits and rules that bound each run of a standing approval: those of handbill.yaml are in no other input. */
export function boundsInput(campaign: Campaign, environment: Environment): InputFile {
  const { project, file, recipients, send } = campaign;
  const content = {
    ...chosen(ENVIRONMENT, 'bound', environment),
    ...chosen(CAMPAIGN, 'bound', campaign),
    recipients: chosen(RECIPIENTS, 'bound', recipients),
    send: chosen(SEND, 'bound', send),
  };
  return { role: 'guards', file: project.file ?? file, sha256: digest(content) };
}

/** Only the names: a run without one of the lists would send to people who have opted out. Entries may change. */
export function suppressionsInput({ suppressions, project, file }: Campaign): InputFile {
  const names = suppressions.map(({ path }) => relative(project.root, path).split(sep).join('/'));
  return { role: 'suppressions', file: project.file ?? file, sha256: digest(names.sort()) };
}

function textsOf(sources: Variables<SourceText>): object {
  return Object.fromEntries(
    Object.entries(sources).map(([name, source]) => [name, isText(source) ? source.text : textsOf(source)]),
  );
}

/** Changes when what identifies a recipient changes: then earlier recipients would look new. */
export function identityHash(campaign: Campaign): string {
  const { kind, to, key, defaultCountry, each } = campaign.recipients;
  return digest({ kind, to, key, defaultCountry, each: each === null ? undefined : [each.column, each.timeZone] });
}

function digest(value: unknown): string {
  return hash('sha256', canonical(value), 'hex');
}

/** With sorted keys: the order in which a file was written does not count. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
