import { resolve } from 'node:path';
import { type Code, type Diagnostic, warning } from '../errors.ts';
import type { EnvironmentWebhook, EventMapping, KeySource, Receiver, Scheme, SignatureScheme } from '../model.ts';
import { foldName } from '../util/fold.ts';
import { checked, checkTime } from './check-values.ts';
import { DEFAULTS } from './defaults.ts';
import type { ProviderFile, WebhookFile } from './written.ts';

/**
 * `webhook` of an environment, over what the file of its provider says.
 *
 * @param folder real path of the folder of handbill.yaml, for files of secrets
 * @param report gets faults beyond the schema
 */
export function readWebhook(
  own: WebhookFile,
  { webhook = {}, reports = {} }: Pick<ProviderFile, 'webhook' | 'reports'>,
  folder: string,
  report: Report,
): EnvironmentWebhook {
  checkStates(own.states ?? {}, report);
  const written = over(webhook, own);
  const fetches = (reports.fetch ?? []).map(({ url, next = null, cursor = null, once = false, ...shape }) => {
    return { url, next, cursor, isOnce: once, mapping: mappingOf({ ...written, ...shape }, reports) };
  });
  const receiver = readReceiver(own, written, folder, report);
  return { receiver, mapping: mappingOf(written, reports), fetches, url: own.url };
}

/** A setting replaces that of the provider; mappings do so key by key, and lists of codes add up. */
function over(file: WebhookFile, own: WebhookFile): WebhookFile {
  const taken = new Set(Object.keys(own.states ?? {}).map(foldName));
  const states = Object.entries(file.states ?? {}).filter(([word]) => !taken.has(foldName(word)));
  const proofs = PROOFS.flatMap((proof) => {
    return file[proof] === undefined && own[proof] === undefined ? [] : [[proof, { ...file[proof], ...own[proof] }]];
  });
  return {
    ...file,
    ...own,
    ...Object.fromEntries(proofs),
    fields: { ...file.fields, ...own.fields },
    states: { ...Object.fromEntries(states), ...own.states },
    unsupported: [...(file.unsupported ?? []), ...(own.unsupported ?? [])],
  };
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

type Report = (path: readonly string[], code: Code, message: string, hint?: string) => null;

/** Without secrets no sender can prove its identity, so no events are received; files of reports can still be read. */
function readReceiver(own: WebhookFile, written: WebhookFile, folder: string, report: Report): Receiver | null {
  const { secrets } = own;
  const { verifyToken, method: methods = DEFAULTS.webhookMethods, answerWithinMs, handshake } = written;
  if (verifyToken !== undefined && handshake === undefined) {
    const message = '"webhook.verifyToken" is for a handshake, and there is none.';
    report(['verifyToken'], 'invalid-value', message, 'Write handshake: meta, or remove it.');
  }
  if (secrets !== undefined) {
    const scheme = readScheme(own, written, report);
    if (scheme === null || !provesQuery(scheme, methods, report) || !knowsUrl(scheme, report)) return null;
    return {
      scheme,
      secrets: secrets.map((one) => keySource(one, folder)),
      methods,
      verifyToken: verifyToken === undefined ? undefined : keySource(verifyToken, folder),
      answerWithinMs,
    };
  }
  const asked = (['scheme', 'tolerance', ...PROOFS] as const).find((key) => own[key] !== undefined);
  if (asked === undefined) return null;
  readScheme(own, written, report);
  const hint = 'For example: secrets: [{ env: HANDBILL_WEBHOOK_SECRET }]';
  return report([], 'missing-key', '"secrets" is missing in "webhook".', hint);
}

/** A file of a secret may be outside the project, as on servers. It is read when needed. */
export function keySource(source: KeySource, folder: string): KeySource {
  return 'file' in source ? { file: resolve(folder, source.file) } : { env: source.env };
}

/** Each is described under the key of its name. */
const PROOFS = ['hmac', 'ed25519', 'url-form', 'body-hmac', 'jwt'] as const;

function readScheme(own: WebhookFile, written: WebhookFile, report: Report): Scheme | null {
  const { scheme: kind = DEFAULTS.webhookScheme, tolerance } = written;
  const stray = PROOFS.find((proof) => own[proof] !== undefined && proof !== kind);
  if (stray !== undefined) {
    const message = `"webhook.${stray}" says how a signature is made, but the scheme is another one.`;
    return report([stray], 'invalid-value', message, `Write scheme: ${stray}, or remove it.`);
  }
  const hasNoTime = kind === 'basic' || kind === 'bearer' || kind === 'path';
  if (own.tolerance !== undefined && hasNoTime) {
    const message = `"webhook.tolerance" is about the time in a signature, but the scheme ${kind} has none.`;
    return report(['tolerance'], 'invalid-value', message, 'Remove it.');
  }
  if (hasNoTime) return { kind };
  const checkTolerance = checkTime(1000, LONGEST_TOLERANCE_MS);
  const reportTime: Report = (path, code, message) => report(path, code, message, 'For example: 5m');
  const read = checked(tolerance, ['tolerance'], checkTolerance, reportTime);
  if (read === null && tolerance !== undefined) return null;
  const toleranceMs = read ?? DEFAULTS.webhookToleranceMs;
  if (kind === 'standard') return { kind, toleranceMs };
  if (written[kind] === undefined) {
    return report([], 'missing-key', `"${kind}" is missing in "webhook".`, `For example: ${EXAMPLES[kind]}`);
  }
  if (kind !== 'jwt') return signatureOf(kind, own, written, toleranceMs, report);
  const { jwt, url } = written;
  // The schema has reported its absence.
  if (jwt?.payloadHash === undefined) return null;
  const { header = DEFAULTS.webhookProofs.jwt.header, issuer, payloadHash, urlHash } = jwt;
  return { kind, header: header.toLowerCase(), issuer, payloadHash, urlHash, url, toleranceMs };
}

const EXAMPLES: Readonly<Record<(typeof PROOFS)[number], string>> = {
  hmac: 'hmac: { header: X-Hub-Signature-256, prefix: sha256= }',
  ed25519: 'ed25519: { header: X-Signature, timestampHeader: X-Timestamp, signed: "{timestamp}{body}" }',
  'url-form': 'url-form: { header: X-Signature, algorithm: sha1 }',
  'body-hmac': 'body-hmac: { at: /signature, timestampAt: /timestamp, idAt: /token }',
  jwt: 'jwt: { payloadHash: payload_hash }',
};

/** A GET has no body: its query is signed only with the URL. */
function provesQuery(scheme: Scheme, methods: readonly string[], report: Report): boolean {
  const isOpen = scheme.kind === 'jwt' ? scheme.urlHash === undefined : !('signed' in scheme && coversUrl(scheme));
  if (!methods.includes('GET') || !isOpen || !('toleranceMs' in scheme)) return true;
  const message = `The scheme ${scheme.kind} does not cover the URL, and a GET has its events there.`;
  report(['method'], 'invalid-value', message, 'Remove GET, or choose a scheme that covers the URL: url-form or path.');
  return false;
}

function knowsUrl(scheme: Scheme, report: Report): boolean {
  const isNeeded = scheme.kind === 'jwt' ? scheme.urlHash !== undefined : 'signed' in scheme && coversUrl(scheme);
  if (!isNeeded || !('url' in scheme) || scheme.url !== undefined) return true;
  const message = '"url" is missing in "webhook": the proof of the sender covers it.';
  report(['url'], 'missing-key', message, 'For example: url: https://hooks.example.com/webhooks/production');
  return false;
}

function coversUrl({ signed }: Pick<SignatureScheme, 'signed'>): boolean {
  return signed.includes('{url}');
}

/** An hour: a copied request cannot be repeated after that. */
const LONGEST_TOLERANCE_MS = 3_600_000;

function signatureOf(
  kind: SignatureScheme['kind'],
  own: WebhookFile,
  written: WebhookFile,
  toleranceMs: number,
  report: Report,
): SignatureScheme | null {
  const { at, timestampAt, idAt, ...rest } = { ...written[kind] } as NonNullable<WebhookFile['body-hmac']>;
  const found = {
    ...DEFAULTS.webhookProofs.hmac,
    ...DEFAULTS.webhookProofs[kind],
    ...rest,
  } as Partial<SignatureScheme>;
  const { header = at, timestampHeader = timestampAt ?? null, idHeader = idAt ?? null, signed = '' } = found;
  // The schema has reported this.
  if (header === undefined) return null;
  const fault = signedFault(kind, signed, timestampHeader, idHeader);
  if (fault !== null) {
    const path = own[kind]?.signed === undefined ? [kind] : [kind, 'signed'];
    return report(path, 'invalid-value', fault.message, fault.hint);
  }
  const place = (text: string): string => (text.startsWith('/') ? text : text.toLowerCase());
  return {
    ...(found as Pick<SignatureScheme, 'algorithm' | 'encoding' | 'prefix'>),
    kind,
    signed,
    header: place(header),
    timestampHeader: timestampHeader === null ? null : place(timestampHeader),
    idHeader: idHeader === null ? null : place(idHeader),
    url: written.url,
    toleranceMs,
  };
}

/** Unsigned values can be changed in a copied request, so checking them would prove nothing. */
function signedFault(
  kind: SignatureScheme['kind'],
  signed: string,
  timestampHeader: string | null,
  idHeader: string | null,
) {
  const content = CONTENT[kind];
  const [timestampKey, idKey] = kind === 'body-hmac' ? ['timestampAt', 'idAt'] : ['timestampHeader', 'idHeader'];
  const hint = `For example: signed: "{timestamp}.${content}" with ${timestampKey}: X-Timestamp`;
  const parts: readonly string[] = [content, '{url}', '{timestamp}', '{id}'];
  const named: readonly string[] = signed.match(/\{[^{}]*\}/g) ?? [];
  const unknown = named.find((part) => !parts.includes(part));
  if (unknown !== undefined) {
    return { message: `"${unknown}" is nothing that can be signed.`, hint: `It is one of ${parts.join(', ')}.` };
  }
  if (named.filter((part) => part === content).length !== 1) {
    return { message: `The signed string must hold ${content}, once.`, hint };
  }
  const headers = [
    ['{timestamp}', timestampKey, timestampHeader],
    ['{id}', idKey, idHeader],
  ] as const;
  for (const [part, key, header] of headers) {
    const isSigned = named.includes(part);
    if (header !== null && !isSigned) return { message: `"${key}" is named, but ${part} is not signed.`, hint };
    if (header === null && isSigned) return { message: `${part} is signed, but "${key}" is not named.`, hint };
  }
  return null;
}

/** The part without which a signature would prove nothing. */
const CONTENT = { hmac: '{body}', ed25519: '{body}', 'url-form': '{form}', 'body-hmac': '{id}' } as const;

/** The shape of events. A single pointer is a list of one. */
function mappingOf(
  written: WebhookFile,
  { permanent = [], optedOut = [] }: NonNullable<ProviderFile['reports']>,
): EventMapping {
  const { events, fields = {}, states = {}, unsupported = [], optOut } = written;
  const named = Object.entries(fields).map(([field, at]) => [field, [at].flat()] as const);
  return {
    events: events ?? null,
    fields: Object.fromEntries(named),
    states,
    unsupported: unsupported.map(String),
    permanent: permanent.map(String),
    optedOut: optedOut.map(String),
    optOut: optOut === undefined ? undefined : { at: [optOut.at].flat(), words: optOut.words },
  };
}

/** Two spellings of one word with different states: chance would decide which counts. */
function checkStates(states: NonNullable<WebhookFile['states']>, report: Report): void {
  const taken = new Map<string, string>();
  for (const word of Object.keys(states)) {
    const folded = foldName(word);
    const other = taken.get(folded);
    if (other !== undefined && states[other] !== states[word]) {
      const message = `"${word}" and "${other}" are one word: letter case, "-" and "_" do not count.`;
      report(['states', word], 'invalid-value', message, 'Remove one of them.');
    }
    taken.set(folded, word);
  }
}
