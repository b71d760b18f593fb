import { hash } from 'node:crypto';
import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { type Diagnostic, problem } from '../errors.ts';
import type { InputFile, KeySource, Project, SenderRule } from '../model.ts';
import { isAddress, isPostgres, shownLedger } from '../util/ledger-address.ts';
import { displayPath, findFileInside, placeInside, readSmallFile, realPlace } from '../util/paths.ts';
import { checkCountry, checkTimeZone } from './check-values.ts';
import { DEFAULTS } from './defaults.ts';
import { readEnvironments } from './environments.ts';
import { readWebhook } from './read-webhook.ts';
import { checkProject, whereValue } from './validate.ts';
import { readCountryWindows } from './window-hours.ts';
import type { ProjectFile } from './written.ts';
import { MAX_YAML_BYTES, readYaml, type YamlFile } from './yaml.ts';

export const PROJECT_FILE = 'handbill.yaml';

/** Where a project is. */
export interface ProjectPlace {
  /** Real path of the root. */
  readonly root: string;
  /** Real path of handbill.yaml, null without one. */
  readonly file: string | null;
}

/** A project as it was read, with what a campaign needs of it. */
export interface ProjectReading {
  readonly project: Project;
  readonly written: ProjectFile;
  readonly yaml: YamlFile | null;
  readonly inputs: readonly InputFile[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Finds the project of a folder: upwards to the first handbill.yaml; without one, the git repository; without that, the
 * folder itself. The search ends at the root of the git repository: a handbill.yaml above it (in a shared `/tmp`, say)
 * was put there by somebody else, and it would decide where the API key goes.
 */
export async function findProject(startFolder: string): Promise<ProjectPlace> {
  const start = await realpath(startFolder);
  for (let folder = start; ; folder = dirname(folder)) {
    if (await exists(join(folder, PROJECT_FILE))) return { root: folder, file: join(folder, PROJECT_FILE) };
    if (await exists(join(folder, '.git'))) return { root: folder, file: null };
    if (dirname(folder) === folder) return { root: start, file: null };
  }
}

/**
 * Reads the project that a folder belongs to; everything that is wrong with handbill.yaml comes back as diagnostics.
 *
 * @param options.ledger - what `--ledger` or HANDBILL_LEDGER says; relative to `cwd`, and free to lie anywhere
 */
export async function readProject(
  startFolder: string,
  options: { readonly cwd: string; readonly ledger?: string },
): Promise<ProjectReading> {
  const place = await findProject(startFolder);
  const cwd = await realpath(options.cwd);
  const { yaml, written, inputs, diagnostics: found } = await readProjectFile(place, cwd);
  const diagnostics = [...found];
  const report: Report = (pointer, fault) => {
    const { code, message, hint } = fault;
    const where = yaml === null || pointer === null ? {} : whereValue(yaml, pointer);
    diagnostics.push(problem(code, message, { ...where, ...(hint === undefined ? {} : { hint }) }));
    return null;
  };
  const { environments, diagnostics: wrong } = readEnvironments(written, yaml, place.root);
  diagnostics.push(...wrong);
  const project: Project = {
    root: place.root,
    file: place.file === null ? null : displayPath(place.file, cwd),
    ledger: await ledgerOf(place.root, written.ledger, { cwd, ledger: options.ledger ?? null }, report),
    environments,
    prices: written.prices === undefined ? null : await pricesOf(place.root, written.prices, report),
    senderRules: senderRulesOf(written.senders, report),
    windows: readCountryWindows(written.windows, report),
    suppressionKey: suppressionKeyOf(written.suppressionKey, place.root),
    defaultCountry: countryOf(written.defaultCountry, report),
    timeZone: timeZoneOf(written.timeZone),
    webhook: readWebhook(written.webhook, place.root, report),
  };
  return { project, written, yaml, inputs, diagnostics };
}

/** A path inside the project as everyone names it: from the root, with `/`. */
export function fromRoot(root: string, path: string): string {
  return relative(root, path).split(sep).join('/');
}

async function readProjectFile(place: ProjectPlace, cwd: string): Promise<Omit<ProjectReading, 'project'>> {
  const nothing = { written: Object.create(null) as ProjectFile, yaml: null, inputs: [], diagnostics: [] };
  if (place.file === null) return nothing;
  const file = displayPath(place.file, cwd);
  const found = await findFileInside(place.root, place.root, basename(place.file));
  const read = 'fault' in found ? found : await readSmallFile(found.path, MAX_YAML_BYTES, PROJECT_FILE);
  if ('fault' in read) {
    const { code, message, hint } = read.fault;
    return {
      ...nothing,
      diagnostics: [problem(code, message, { at: { file }, ...(hint === undefined ? {} : { hint }) })],
    };
  }
  const sha256 = hash('sha256', read.bytes, 'hex');
  const inputs: readonly InputFile[] = [{ role: 'project', file: fromRoot(place.root, place.file), sha256 }];
  const { yaml, diagnostics } = readYaml(read.bytes, file);
  if (yaml === null) return { ...nothing, inputs, diagnostics };
  // A file of comments alone says nothing, which is allowed.
  if (yaml.value === null) return { ...nothing, yaml, inputs };
  const checked = checkProject(yaml);
  return { written: checked.value, yaml: checked.yaml, inputs, diagnostics: checked.diagnostics };
}

/** `pointer` is null for what was said on the command line. */
type Report = (pointer: string | null, fault: Fault) => null;
type Fault = Pick<Diagnostic, 'code' | 'message'> & { readonly hint?: string | undefined };

/** Option before project file before default. The last part of the path is not resolved: a link there must be seen. */
/** What is wrong with the address of a shared ledger. It may hold a password, and is not repeated. */
function addressProblem(address: string, isInFile: boolean): Pick<Diagnostic, 'code' | 'message' | 'hint'> | null {
  if (!isPostgres(address)) {
    const message = 'A ledger lies in a file, or in a PostgreSQL that several machines share.';
    return { code: 'invalid-value', message, hint: 'Name a file, or postgres://user@host/database.' };
  }
  if (!URL.canParse(address)) {
    const hint = 'Write postgres://user@host/database, with %40 for an @ in its parts.';
    return { code: 'invalid-value', message: 'The address of the ledger cannot be read.', hint };
  }
  if (!isInFile || shownLedger(address) === address) return null;
  const message = 'The address of the ledger holds a password, and whoever reads the repository has it.';
  return {
    code: 'literal-key',
    message,
    hint: 'Leave it out: it comes from PGPASSWORD, ~/.pgpass or HANDBILL_LEDGER.',
  };
}

async function ledgerOf(
  root: string,
  written: string | undefined,
  option: { readonly cwd: string; readonly ledger: string | null },
  report: Report,
): Promise<string> {
  const fallback = join(root, DEFAULTS.ledger);
  const chosen = option.ledger ?? written ?? DEFAULTS.ledger;
  if (isAddress(chosen)) {
    const problem = addressProblem(chosen, option.ledger === null);
    if (problem === null) return chosen;
    report(option.ledger === null ? '/ledger' : null, problem);
    return fallback;
  }
  if (option.ledger !== null) return await realPlace(resolve(option.cwd, option.ledger));
  const place = await placeInside(root, root, chosen);
  if ('path' in place) return place.path;
  report('/ledger', {
    ...place.fault,
    hint: 'A ledger outside the project is named with --ledger or HANDBILL_LEDGER.',
  });
  return fallback;
}

async function pricesOf(root: string, written: string, report: Report): Promise<string | null> {
  const found = await findFileInside(root, root, written);
  return 'path' in found ? found.path : report('/prices', found.fault);
}

/** A key file may lie outside the project, as secrets on servers do. It is read when it is needed. */
function suppressionKeyOf(written: ProjectFile['suppressionKey'], root: string): KeySource | null {
  if (written === undefined) return null;
  return 'file' in written ? { file: resolve(root, written.file) } : written;
}

function countryOf(written: string | undefined, report: Report): string | null {
  if (written === undefined) return null;
  const finding = checkCountry(written);
  return 'value' in finding ? finding.value : report('/defaultCountry', finding);
}

/** What is wrong with it is said where a campaign takes it over. */
function timeZoneOf(written: string | undefined): string {
  const finding = checkTimeZone(written ?? DEFAULTS.timeZone);
  return 'value' in finding ? finding.value : DEFAULTS.timeZone;
}

/** A country that does not exist would be a rule that never holds. */
function senderRulesOf(written: ProjectFile['senders'], report: Report): Readonly<Record<string, SenderRule>> {
  for (const country of Object.keys(written ?? {})) {
    const finding = checkCountry(country);
    if ('code' in finding) report(`/senders/${country}`, finding);
  }
  return written ?? {};
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch {
    return false;
  }
}
