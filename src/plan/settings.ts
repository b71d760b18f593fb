import { hash } from 'node:crypto';
import { relative, sep } from 'node:path';
import type { Campaign, Environment, InputFile, SourceText, Variables } from '../model.ts';
import { isText } from './workshop.ts';

/**
 * What decides about a message in addition to files: the defaults that the project gave and the environment's address and
 * `wire`. Pace (rate, concurrency, attempts, timeout), prices and suppressions are left out: they may change between two starts
 * of a run without changing what anyone receives. For a stand-in these are the settings of its original, so that it can
 * continue the original's runs; its own address and `wire` are a second input.
 */
export function settingsInputs(campaign: Campaign, environment: Environment): readonly InputFile[] {
  const { project, file } = campaign;
  const at = project.file ?? file;
  const original = project.environments.get(environment.identity) ?? environment;
  const settings: InputFile = { role: 'settings', file: at, sha256: digest(settingsOf(campaign, original)) };
  if (original.name === environment.name) return [settings];
  const { url, wire } = environment;
  return [settings, { role: 'stand-in', file: `environments.${environment.name}`, sha256: digest({ url, wire }) }];
}

function settingsOf(campaign: Campaign, environment: Environment): object {
  const {
    kind,
    to,
    key,
    duplicates,
    defaultCountry,
    delimiter,
    encoding,
    escaped,
    onInvalid,
    alsoInvalid,
    columns,
    where,
  } = campaign.recipients;
  return {
    url: environment.url,
    wire: environment.wire,
    countries: environment.countries,
    channel: campaign.channel,
    from: campaign.from,
    accountReference: campaign.accountReference,
    messageType: campaign.messageType,
    characterSet: campaign.characterSet,
    characterSetWritten: campaign.characterSetWritten,
    transliterate: campaign.transliterate,
    locale: campaign.locale,
    timeZone: campaign.timeZone,
    validity: campaign.validity,
    metaData: campaign.metaData,
    topic: campaign.topic,
    variables: textsOf(campaign.variables ?? {}),
    recipientMetaData: textsOf(campaign.recipientMetaData ?? {}),
    split: { seed: campaign.split.seed, holdout: campaign.split.holdout, test: campaign.split.test },
    recipients: {
      kind,
      to,
      key,
      duplicates,
      defaultCountry,
      delimiter,
      encoding,
      escaped,
      onInvalid,
      alsoInvalid,
      columns,
      where: where === null ? null : where.query,
    },
  };
}

/**
 * The names of the suppression lists, which a plan seals: a list that is left out later would send to people who have
 * opted out. What the lists hold may change.
 */
export function suppressionsInput({ suppressions, project, file }: Campaign): InputFile {
  const names = suppressions.map(({ path }) => relative(project.root, path).split(sep).join('/'));
  return { role: 'suppressions', file: project.file ?? file, sha256: digest(names.sort()) };
}

/** The given settings, from any place. */
function textsOf(sources: Variables<SourceText>): object {
  return Object.fromEntries(
    Object.entries(sources).map(([name, source]) => [name, isText(source) ? source.text : textsOf(source)]),
  );
}

/** Changes when what identifies a recipient changes: then earlier recipients would look new. */
export function identityHash(campaign: Campaign): string {
  const { kind, to, key, defaultCountry } = campaign.recipients;
  return digest({ kind, to, key, defaultCountry });
}

function digest(value: unknown): string {
  return hash('sha256', canonical(value), 'hex');
}

/** JSON with sorted keys, so that the order in which a file was written does not count. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
