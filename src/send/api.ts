import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { DEFAULT_WIRE } from '../campaign/defaults.ts';
import { type Diagnostic, refuse, warning } from '../errors.ts';
import { type CompiledWire, compilePointers } from '../http/answer.ts';
import { connect, type Endpoint } from '../http/connect.ts';
import { hiding, readKeys } from '../http/credentials.ts';
import type { Environment } from '../model.ts';
import type { Plan } from '../plan/plan.ts';
import type { AnyPlanFile } from '../plan/plan-file.ts';
import { canonical } from '../plan/settings.ts';
import { authorizerOf, headersOf } from '../providers/auth.ts';
import type { Sandbox } from '../sandbox/options.ts';
import type { WebhookOptions } from '../sandbox/webhook.ts';
import { checkTlsEnvironment } from '../util/tls.ts';
import { requireApproval } from './approved.ts';

export interface Api {
  readonly endpoint: Endpoint;
  readonly wire: CompiledWire;
  /** Those of the provider, by name. */
  readonly secrets: Secrets;
  close(graceMs: number): Promise<void>;
}

interface ApiOptions {
  readonly plan: Plan;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly connections: number;
  /** The plan to apply. Where the environment has approvers, they must have signed it. */
  readonly planFile: AnyPlanFile | null;
  readonly now: () => number;
  readonly onNotice?: ((notice: Diagnostic) => void) | undefined;
  /** The sandbox that all passes of a start share; null, the default: each has its own. */
  readonly sandbox?: () => Promise<EmbeddedSandbox> | null;
}

export interface EmbeddedSandbox {
  readonly sandbox: Sandbox;
  readonly apiKey: string;
}

/**
 * Checks the approval that the environment requires: only this function reads the key, so no caller can skip the check.
 * Returns the function that opens the connection (and starts the embedded sandbox): a missing key is reported before a
 * long list is checked. Throws `HandbillError` (exit 2); its text never holds the key.
 */
export async function prepareApi(options: ApiOptions): Promise<() => Promise<Api>> {
  const tls = checkTlsEnvironment(options.env);
  if (tls !== null) throw refuse(tls);
  const { campaign, environment } = options.plan;
  await requireApproval(environment, options.planFile, { ...options, nowMs: options.now() });
  if (environment.secrets === null) return () => openSandbox(options);
  const secrets = await readKeys(environment.secrets, options.env, campaign.project.root);
  return async () => {
    const endpoint = endpointTo(environment.url, secrets, options);
    return { endpoint, secrets, wire: wireOf(environment, secrets), close: (graceMs) => endpoint.close(graceMs) };
  };
}

type Secrets = Readonly<Record<string, string>>;

/** A sandbox on loopback, over real HTTP, with its own key. Loaded only on use: it is half of what a send loads. */
export async function startEmbedded(
  environment: Environment,
  reports: { readonly webhook?: WebhookOptions; readonly now?: () => number } = {},
): Promise<EmbeddedSandbox> {
  const apiKey = randomBytes(16).toString('hex');
  // A project that rehearses another API has its own fields: only the sandbox's are checked for slips.
  const fields = canonical(environment.wire) === canonical(DEFAULT_WIRE) ? 'known' : 'any';
  const { startSandbox } = await import('../sandbox/server.ts');
  const sandbox = await startSandbox({ apiKey, keep: 0, fields, ...reports });
  return { sandbox, apiKey };
}

async function openSandbox(options: ApiOptions): Promise<Api> {
  const { environment } = options.plan;
  const shared = options.sandbox?.() ?? null;
  const { sandbox, apiKey } = await (shared ?? startEmbedded(environment));
  // This process has both ends of its connections.
  const secrets = { apiKey };
  const endpoint = endpointTo(`${sandbox.url}/v2/messages`, secrets, options, 2);
  return {
    endpoint,
    secrets,
    wire: wireOf(environment, secrets),
    async close(graceMs) {
      await endpoint.close(graceMs);
      if (shared === null) await sandbox.close();
    },
  };
}

/** Files that a start opens at its end, beside its connections: for reports, and those of SQLite for sorting. */
const OTHER_FILES = 10;

/** The most connections that leave enough files to record all outcomes and write the report (failures.md, B3). */
function affordable({ connections, onNotice }: ApiOptions, filesEach: number): number {
  const free = freeDescriptors();
  if (free === null) return connections;
  const most = Math.max(1, Math.floor((free - OTHER_FILES) / filesEach));
  if (most >= connections) return connections;
  onNotice?.(
    warning(
      'connection-limit',
      `This process may open only ${free} more files: it uses ${most} of ${connections} connections.`,
      { hint: 'Raise the limit with `ulimit -n`, or lower the concurrency.' },
    ),
  );
  return most;
}

function endpointTo(url: string, secrets: Secrets, options: ApiOptions, filesEach = 1): Endpoint {
  const { campaign, environment, recipientsPerRequest } = options.plan;
  const { provider, vars } = environment;
  return connect({
    url,
    headers: headersOf(provider, vars, secrets),
    authorize: authorizerOf(provider, vars, secrets, options.now),
    connections: affordable(options, filesEach),
    timeoutMs: campaign.send.timeoutMs,
    recipientsPerRequest,
    proxy: environment.proxy,
    idempotencyHeader: environment.wire.idempotencyHeader,
    idHeader: environment.wire.response.messageIdHeader,
    onNotice: options.onNotice,
  });
}

/** Removes secrets from texts of the API before they are stored: an answer may repeat the key in a refusal or an id. */
function wireOf(environment: Environment, secrets: Secrets): CompiledWire {
  return compilePointers(environment.wire, hiding(secrets));
}

/**
 * Files and connections that this process may still open; null: unknown. The limit is the process's, not the shell's:
 * Node.js raises its own as far as it may.
 */
function freeDescriptors(): number | null {
  const limit = descriptorLimit();
  const open = orNull(() => readdirSync('/proc/self/fd').length) ?? orNull(() => readdirSync('/dev/fd').length);
  return limit === null || open === null ? null : Math.max(0, limit - open);
}

function descriptorLimit(): number | null {
  const said = orNull(() => readFileSync('/proc/self/limits', 'utf8'));
  if (said !== null) return numberOrNull(/^Max open files\s+(\S+)/m.exec(said)?.[1]);
  if (process.platform === 'win32') return null;
  const report: unknown = process.report.getReport();
  const limits = (report as { userLimits?: { open_files?: { soft?: unknown } } }).userLimits;
  return numberOrNull(limits?.open_files?.soft);
}

function numberOrNull(text: unknown): number | null {
  const number = Number(text);
  return text === undefined || Number.isNaN(number) ? null : number;
}

function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
