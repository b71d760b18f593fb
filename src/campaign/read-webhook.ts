import { resolve } from 'node:path';
import { type Code, type Diagnostic, warning } from '../errors.ts';
import type { EnvironmentWebhook, EventMapping, HmacScheme, KeySource, Receiver, Scheme } from '../model.ts';
import { durationMs } from '../util/units.ts';
import { DEFAULTS } from './defaults.ts';
import type { WebhookFile } from './written.ts';

/**
 * @param folder real path of the folder of handbill.yaml, for files of secrets
 * @param report gets faults beyond the schema
 */
export function readWebhook(written: WebhookFile, folder: string, report: Report): EnvironmentWebhook {
  return { receiver: readReceiver(written, folder, report), mapping: readMapping(written, report) };
}

type SecretsByEnvironment = ReadonlyMap<string, readonly string[]>;

export function sharingWith(name: string, secrets: SecretsByEnvironment): readonly string[] {
  const own = secrets.get(name) ?? [];
  return [...secrets.keys()].filter((other) => other !== name && secrets.get(other)?.some((one) => own.includes(one)));
}

export function sharedSecrets(
  secrets: SecretsByEnvironment,
  whereOf: (name: string) => Pick<Diagnostic, 'at' | 'source'> = () => ({}),
): readonly Diagnostic[] {
  const hint = 'Give each environment its own secret.';
  return [...secrets.keys()].flatMap((name, i, names) => {
    const other = sharingWith(name, secrets).find((one) => names.indexOf(one) < i);
    const message = `${name} has the same secret of webhooks as ${other}: who has it can report for both.`;
    return other === undefined ? [] : [warning('weak-webhook', message, { ...whereOf(name), hint })];
  });
}

type Report = (path: readonly string[], code: Code, message: string, hint: string) => null;

/** Without secrets no sender can prove its identity, so no events are received; files of reports can still be read. */
function readReceiver(written: WebhookFile, folder: string, report: Report): Receiver | null {
  const { secrets } = written;
  const scheme = readScheme(written, report);
  if (secrets !== undefined) {
    return scheme === null ? null : { scheme, secrets: secrets.map((one) => keySource(one, folder)) };
  }
  const asked = (['scheme', 'tolerance', 'hmac'] as const).find((key) => written[key] !== undefined);
  if (asked === undefined) return null;
  const hint = 'For example: secrets: [{ env: HANDBILL_WEBHOOK_SECRET }]';
  return report([], 'missing-key', '"secrets" is missing in "webhook".', hint);
}

/** A file of a secret may be outside the project, as on servers. It is read when needed. */
export function keySource(source: KeySource, folder: string): KeySource {
  return 'file' in source ? { file: resolve(folder, source.file) } : { env: source.env };
}

function readScheme(written: WebhookFile, report: Report): Scheme | null {
  const { scheme: kind = DEFAULTS.webhookScheme, hmac, tolerance } = written;
  if (hmac !== undefined && kind !== 'hmac') {
    const message = '"webhook.hmac" says how a signature is made, but the scheme is another one.';
    return report(['hmac'], 'invalid-value', message, 'Write scheme: hmac, or remove it.');
  }
  if (tolerance !== undefined && kind !== 'standard' && kind !== 'hmac') {
    const message = `"webhook.tolerance" is about the time in a signature, but the scheme ${kind} has none.`;
    return report(['tolerance'], 'invalid-value', message, 'Remove it.');
  }
  const toleranceMs = toleranceOf(tolerance, report);
  if (toleranceMs === null) return null;
  if (kind === 'standard') return { kind, toleranceMs };
  return kind === 'hmac' ? hmacOf(hmac, toleranceMs, report) : { kind };
}

/** An hour: a copied request cannot be repeated after that. */
const LONGEST_TOLERANCE_MS = 3_600_000;

function toleranceOf(written: string | undefined, report: Report): number | null {
  if (written === undefined) return DEFAULTS.webhookToleranceMs;
  const ms = durationMs(written);
  if (ms !== null && ms >= 1000 && ms <= LONGEST_TOLERANCE_MS) return ms;
  const message = `"${written}" is not a time from a second to an hour.`;
  return report(['tolerance'], 'invalid-value', message, 'For example: 5m');
}

function hmacOf(written: WebhookFile['hmac'], toleranceMs: number, report: Report): HmacScheme | null {
  if (written === undefined) {
    const hint = 'For example: hmac: { header: X-Hub-Signature-256, prefix: sha256= }';
    return report([], 'missing-key', '"hmac" is missing in "webhook".', hint);
  }
  // The schema has reported this.
  if (written.header === undefined) return null;
  const { timestampHeader = null, idHeader = null, ...rest } = written;
  const { algorithm, encoding, prefix, signed } = { ...DEFAULTS.webhookHmac, ...rest };
  const fault = signedFault(signed, timestampHeader, idHeader);
  if (fault !== null) {
    const path = written.signed === undefined ? ['hmac'] : ['hmac', 'signed'];
    return report(path, 'invalid-value', fault.message, fault.hint);
  }
  return {
    kind: 'hmac',
    header: written.header.toLowerCase(),
    algorithm,
    encoding,
    prefix,
    signed,
    timestampHeader: timestampHeader?.toLowerCase() ?? null,
    idHeader: idHeader?.toLowerCase() ?? null,
    toleranceMs,
  };
}

/** Unsigned values can be changed in a copied request, so checking them would prove nothing. */
function signedFault(signed: string, timestampHeader: string | null, idHeader: string | null) {
  const hint = 'For example: signed: "{timestamp}.{body}" with timestampHeader: X-Timestamp';
  const named = [...signed.matchAll(/\{([^{}]*)\}/g)].map((match) => match[1] ?? '');
  const unknown = named.find((name) => !SIGNED_PARTS.has(name));
  if (unknown !== undefined) {
    return { message: `"{${unknown}}" is nothing that can be signed.`, hint: 'It is {body}, {timestamp} or {id}.' };
  }
  if (named.filter((name) => name === 'body').length !== 1) {
    return { message: 'The signed string must hold {body}, once.', hint };
  }
  const headers = [
    ['timestamp', 'timestampHeader', timestampHeader],
    ['id', 'idHeader', idHeader],
  ] as const;
  for (const [part, key, header] of headers) {
    const isSigned = named.includes(part);
    if (header !== null && !isSigned) return { message: `"${key}" is named, but {${part}} is not signed.`, hint };
    if (header === null && isSigned) return { message: `{${part}} is signed, but "${key}" is not named.`, hint };
  }
  return null;
}

const SIGNED_PARTS: ReadonlySet<string> = new Set(['body', 'timestamp', 'id']);

/** The shape of events in handbill.yaml. A single pointer is a list of one. */
function readMapping(written: WebhookFile, report: Report): EventMapping {
  const { events, fields = {}, states = {}, unsupported = [] } = written;
  const named = Object.entries(fields).map(([field, at]) => [field, typeof at === 'string' ? [at] : at] as const);
  checkStates(states, report);
  return {
    events: events ?? null,
    fields: Object.fromEntries(named),
    states,
    unsupported: unsupported.map(String),
  };
}

/** Two spellings of one word with different states: chance would decide which counts. */
function checkStates(states: NonNullable<WebhookFile['states']>, report: Report): void {
  const taken = new Map<string, string>();
  for (const word of Object.keys(states)) {
    const folded = word.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
    const other = taken.get(folded);
    if (other !== undefined && states[other] !== states[word]) {
      const message = `"${word}" and "${other}" are one word: letter case, "-" and "_" do not count.`;
      report(['states', word], 'invalid-value', message, 'Remove one of them.');
    }
    taken.set(folded, word);
  }
}
