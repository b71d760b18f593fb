import { resolve } from 'node:path';
import { type Code, type Diagnostic, problem } from '../errors.ts';
import type { Environment, KeySource, Project } from '../model.ts';
import { checkBaseUrl } from '../util/base-url.ts';
import { pointerTo } from '../util/json.ts';
import { ratePerSecond } from '../util/units.ts';
import { checkWire } from './check-wire.ts';
import { readApproval, type WhereOf } from './read-approval.ts';
import { readWire } from './read-wire.ts';
import { whereValue } from './validate.ts';
import type { EnvironmentFile, ProjectFile } from './written.ts';
import type { YamlFile } from './yaml.ts';

/** The environment that is always there: the API on this machine. Its real address is known when it has started. */
const SANDBOX = 'sandbox';
const SANDBOX_URL = 'http://sandbox.invalid/v2/messages';

/**
 * The environments of a project, with the sandbox. Checks what a schema cannot: base URL, proxy, header name.
 *
 * @param folder - real path of the folder of handbill.yaml, for key files
 */
export function readEnvironments(
  file: ProjectFile,
  yaml: YamlFile | null,
  folder: string,
): { readonly environments: ReadonlyMap<string, Environment>; readonly diagnostics: readonly Diagnostic[] } {
  const environments = new Map<string, Environment>();
  const diagnostics: Diagnostic[] = [];
  const written = { [SANDBOX]: {}, ...file.environments } as Readonly<Record<string, Partial<EnvironmentFile>>>;
  for (const [name, environment] of Object.entries(written)) {
    const whereOf: WhereOf = (path) =>
      yaml === null ? {} : whereValue(yaml, pointerTo(['environments', name, ...path]));
    const report: Report = (path, code, message, hint) => {
      diagnostics.push(problem(code, message, { ...whereOf([path].flat()), hint }));
    };
    const approval = name === SANDBOX ? null : readApproval(environment, folder, whereOf, report);
    environments.set(name, { ...readEnvironment(name, environment, folder, report), approval });
  }
  return { environments, diagnostics };
}

/** The environment that is meant where none is named: the only one beside the sandbox; null: there are several. */
export function onlyEnvironment({ environments }: Pick<Project, 'environments'>): string | null {
  const [only = SANDBOX, ...more] = [...environments.keys()].filter((name) => name !== SANDBOX);
  return more.length === 0 ? only : null;
}

type Report = (path: string | readonly (string | number)[], code: Code, message: string, hint: string) => void;

function readEnvironment(
  name: string,
  written: Partial<EnvironmentFile>,
  folder: string,
  report: Report,
): Omit<Environment, 'approval'> {
  const { apiKey, baseUrl, rate, concurrency, proxy, wire = {} } = written;
  checkWire(wire, (path, message, hint) => report(['wire', ...path], 'invalid-value', message, hint));
  const ratio = rate === undefined ? null : ratePerSecond(rate);
  if (rate !== undefined && ratio === null) {
    report(
      'rate',
      'invalid-value',
      `"${rate}" is not a rate above zero.`,
      'Write a number per second, minute or hour: 50/s.',
    );
  }
  return {
    name,
    url: name === SANDBOX ? SANDBOX_URL : urlOf(baseUrl, report),
    apiKey: name === SANDBOX || apiKey === undefined ? null : keySource(apiKey, folder),
    ratePerSecond: ratio,
    concurrency: concurrency ?? null,
    proxy: proxy === undefined ? null : checkProxy(proxy, report),
    wire: readWire(wire),
  };
}

/** `{baseUrl}/v2/messages`: joined, so that a path in the base URL is kept. */
function urlOf(baseUrl: string | undefined, report: Report): string {
  if (baseUrl === undefined) return SANDBOX_URL;
  const checked = checkBaseUrl(baseUrl);
  if ('url' in checked) return `${checked.url.replace(/\/+$/, '')}/v2/messages`;
  report('baseUrl', 'invalid-base-url', checked.problem, checked.hint);
  return SANDBOX_URL;
}

/** A key file may lie outside the project, as secrets on servers do. It is read when it is needed. */
function keySource(source: KeySource, folder: string): KeySource {
  return 'file' in source ? { file: resolve(folder, source.file) } : { env: source.env };
}

function checkProxy(text: string, report: Report): string | null {
  const example = 'Write it in full, like http://proxy.example.com:3128.';
  if (!URL.canParse(text) || !/^[\x21-\x7e]+$/.test(text)) {
    report('proxy', 'invalid-value', 'The proxy is not a complete URL.', example);
    return null;
  }
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    report('proxy', 'invalid-value', 'The proxy is not an http or https address.', example);
  } else if (url.username !== '' || url.password !== '' || text.includes('@')) {
    const message = 'The address of the proxy holds a user name or a password.';
    report('proxy', 'not-supported', message, 'Proxies that ask for a password cannot be used yet.');
  } else if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    report('proxy', 'invalid-value', 'The address of the proxy has a path.', example);
  }
  return text;
}
