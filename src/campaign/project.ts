import { hash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Code, type Diagnostic, problem } from '../errors.ts';
import type { InputFile, Project } from '../model.ts';
import { pointerTo } from '../util/json.ts';
import { displayPath, findFileInside, fromRoot, readSmallFile } from '../util/paths.ts';
import { checkCountry, checked, checkLocale, checkTimeZone } from './check-values.ts';
import { DEFAULTS } from './defaults.ts';
import { readEnvironments } from './environments.ts';
import { findNamedFile } from './named-file.ts';
import { findLedger, type LedgerUse, ownLedger, PROJECT_FILE, type ProjectPlace, secondLedger } from './place.ts';
import { type ReadProvider, readProvider } from './read-provider.ts';
import { keySource } from './read-webhook.ts';
import { checkFile } from './validate.ts';
import { readCountryWindows } from './window-hours.ts';
import type { ProjectFile } from './written.ts';
import { MAX_YAML_BYTES, readYaml, type Where, whereValue, type YamlFile } from './yaml.ts';

export interface ProjectReading {
  readonly project: Project;
  readonly place: ProjectPlace;
  readonly written: ProjectFile;
  readonly yaml: YamlFile | null;
  readonly inputs: readonly InputFile[];
  readonly diagnostics: readonly Diagnostic[];
  /** The ledger must not be used, and why, for commands that use it; see `secondLedger`. */
  readonly ledgerFault: Diagnostic | null;
}

export interface ReadProjectOptions {
  /** Paths in messages are relative to it. */
  readonly cwd: string;
  /** `--ledger` or HANDBILL_LEDGER; relative to the root of the project, but may be anywhere. */
  readonly ledger?: string | undefined;
  /** The command sends with the ledger. Default: false. */
  readonly sends?: boolean;
  /** From `--allow`: here, `second-ledger`. Default: nothing. */
  readonly allow?: LedgerUse['allow'];
}

export function readProject(place: ProjectPlace, options: ReadProjectOptions): ProjectReading {
  const cwd = realpathSync.native(options.cwd);
  const { yaml, written, inputs, diagnostics: found, reported } = readProjectFile(place, cwd);
  const diagnostics = [...found];
  const whereOf = (pointer: string) => (yaml === null ? {} : whereValue(yaml, pointer));
  // `pointer` is null for a command-line option.
  const report = (pointer: string | null, code: Code, message: string, hint?: string): void => {
    diagnostics.push(problem(code, message, { ...(pointer !== null && whereOf(pointer)), hint }));
  };
  const { providers, faults } = readProviders(written, whereOf, place.root, cwd);
  const { environments, diagnostics: wrong } = readEnvironments(written, yaml, place.root, providers, reported);
  diagnostics.push(...faults, ...wrong);
  const files = new Map(
    [...providers.values()].flatMap(({ provider: { input } }) => (input === null ? [] : [[input.file, input]])),
  );
  const names = { option: options.ledger ?? null, written: written.ledger };
  const { ledger, fault } = findLedger(place.root, names);
  if (fault !== null) report(names.option === null ? '/ledger' : null, fault.code, fault.message, fault.hint);
  const use = { cwd, names, sends: options.sends === true, allow: options.allow ?? [] };
  const ledgerFault = fault === null ? secondLedger(place.root, ledger, use) : null;
  const other = use.sends ? ownLedger(place.root, written.ledger, ledger) : null;
  const { root } = place;
  const naming = { root, folder: root, cwd, where: whereOf('/prices') };
  const prices = written.prices === undefined ? null : findNamedFile(written.prices, naming);
  if (prices !== null && 'problem' in prices) diagnostics.push(prices.problem);
  // A country that does not exist would be a rule that never holds.
  for (const country of Object.keys(written.senders ?? {}))
    checked(country, `/senders/${country}`, checkCountry, report);
  const inherited = () => undefined;
  const project: Project = {
    root,
    file: place.file === null ? null : displayPath(place.file, cwd),
    ledger,
    ...(other === null ? {} : { otherLedger: other }),
    environments,
    prices: prices !== null && 'path' in prices ? prices.path : null,
    senderRules: written.senders ?? {},
    windows: readCountryWindows(written.windows, report),
    suppressionKey: written.suppressionKey === undefined ? null : keySource(written.suppressionKey, place.root),
    testers: written.testers ?? [],
    defaultCountry: checked(written.defaultCountry, '/defaultCountry', checkCountry, report),
    // Faults of these two are reported where a campaign inherits them.
    locale: checked(written.locale, null, checkLocale, inherited),
    timeZone: checked(written.timeZone, null, checkTimeZone, inherited) ?? DEFAULTS.timeZone,
    webhook: {
      path: written.webhook?.path ?? DEFAULTS.webhookPath,
      replies: { stopWords: [], startLifts: false, stopEnds: 'everything', ...written.webhook?.replies },
    },
  };
  return { project, place, written, yaml, inputs: [...inputs, ...files.values()], diagnostics, ledgerFault };
}

/** The provider of each environment that names one. */
function readProviders(written: ProjectFile, whereOf: (pointer: string) => Partial<Where>, root: string, cwd: string) {
  const providers = new Map<string, ReadProvider>();
  const faults: Diagnostic[] = [];
  for (const [name, { provider }] of Object.entries(written.environments ?? {})) {
    if (provider === undefined) continue;
    const read = readProvider(provider, root, cwd, whereOf(pointerTo(['environments', name, 'provider'])));
    if ('provider' in read) providers.set(name, read);
    // Several environments may name the same file.
    else faults.push(...read.diagnostics.filter((one) => !faults.some((other) => isDeepStrictEqual(other, one))));
  }
  return { providers, faults };
}

/** Variables of secrets, from handbill.yaml, before the rest of the project is read. Reports no faults of the file. */
export function secretVariables(place: ProjectPlace, cwd: string) {
  const { written, diagnostics } = readProjectFile(place, cwd);
  const { environments = {}, suppressionKey } = written;
  const sources = [
    ...Object.values(environments).flatMap(({ apiKey, secrets, webhook }) => [
      apiKey,
      ...Object.values(secrets ?? {}),
      ...(webhook?.secrets ?? []),
    ]),
    ...(suppressionKey === undefined ? [] : [suppressionKey]),
  ];
  const names = sources.flatMap((source) => (source !== undefined && 'env' in source ? [source.env] : []));
  return { names: new Set(names), isValid: !diagnostics.some(({ severity }) => severity === 'error') };
}

function readProjectFile(place: ProjectPlace, cwd: string) {
  const written: ProjectFile = Object.create(null);
  const nothing = { written, yaml: null, inputs: [], diagnostics: [], reported: new Set<string>() };
  if (place.file === null) return nothing;
  const file = displayPath(place.file, cwd);
  const found = findFileInside(place.root, place.root, basename(place.file));
  const read = 'fault' in found ? found : readSmallFile(found.path, MAX_YAML_BYTES, PROJECT_FILE);
  if ('fault' in read) return { ...nothing, diagnostics: [{ ...read.fault, at: { file } }] };
  const sha256 = hash('sha256', read.bytes, 'hex');
  const inputs: readonly InputFile[] = [{ role: 'project', file: fromRoot(place.root, place.file), sha256 }];
  const { yaml, diagnostics } = readYaml(read.bytes, file);
  if (yaml === null) return { ...nothing, inputs, diagnostics };
  // A file of comments alone is allowed.
  if (yaml.value === null) return { ...nothing, yaml, inputs };
  const checked = checkFile('project', yaml);
  const { value, diagnostics: wrong, reported } = checked;
  return { written: value, yaml: checked.yaml, inputs, diagnostics: wrong, reported };
}
