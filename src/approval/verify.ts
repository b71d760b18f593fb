import { type Diagnostic, problem } from '../errors.ts';
import type { Signer, SignerSource } from '../model.ts';
import { findFileAnywhere, readSmallFile } from '../util/paths.ts';
import { readSshKey } from '../util/ssh-key.ts';
import { NAMESPACE, type Signature } from './signature.ts';
import { type Env, inPrivateFolder, runSshKeygen } from './ssh-keygen.ts';

export interface VerifyOptions {
  readonly env: Env;
  /** The moment at which keys must be valid. Signatures carry no time that could be trusted, so it is the present. */
  readonly nowMs: number;
}

/** `isKnown`: the key is at least one of those that may sign. */
type Verified = { readonly names: readonly string[] } | { readonly problem: string; readonly isKnown: boolean };

const TIMEOUT_MS = 15_000;

/** Asks about each signer with a separate file, to learn which one it is. Throws (exit 2) without ssh-keygen. */
export async function verifySignature(
  signature: Signature,
  bytes: Uint8Array,
  signers: readonly Signer[],
  options: VerifyOptions,
): Promise<Verified> {
  const { key, armoured } = signature;
  const candidates = signers.filter((one) => (one.authority ? key.isCertificate : one.key === key.text));
  let problem: string | null = null;
  for (const signer of candidates) {
    const verified = await verifyAs(signer, armoured, bytes, options);
    if ('names' in verified) return verified;
    problem = verified.problem;
  }
  return { problem: problem ?? 'the key is not one of those that may sign', isKnown: problem !== null };
}

async function verifyAs(
  signer: Signer,
  armoured: string,
  bytes: Uint8Array,
  options: VerifyOptions,
): Promise<{ readonly names: readonly string[] } | { readonly problem: string }> {
  return inPrivateFolder({ signers: `${lineOf(signer)}\n`, signature: armoured }, async (folder) => {
    // `20261121091500`, in UTC, the zone of ssh-keygen.
    const time = new Date(options.nowMs).toISOString().slice(0, 19).replaceAll(/[-:T]/g, '');
    const files = ['-f', 'signers', '-s', 'signature', `-Overify-time=${time}`];
    const call = { folder, env: options.env, timeoutMs: TIMEOUT_MS };
    let names = signer.names;
    if (signer.authority) {
      const args = ['-Y', 'find-principals', ...files];
      const found = await runSshKeygen({ ...call, args, input: 'nothing' });
      if (!found.ok) return { problem: reasonOf(found.said) };
      names = found.out.split(/[\n,]/).filter((name) => name !== '');
    }
    const [name] = names;
    if (name === undefined || !names.every(isName)) return { problem: 'its certificate gives no name of one person' };
    const args = ['-Y', 'verify', '-n', NAMESPACE, '-I', name, ...files];
    const answer = await runSshKeygen({ ...call, args, input: bytes });
    return answer.ok ? { names } : { problem: reasonOf(answer.said) };
  });
}

/** No patterns, no spaces, no beginning like that of an option. */
function isName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9.@_+-]{0,199}$/.test(name);
}

function lineOf({ names, key, authority, validAfter, validBefore, namespaces }: Signer): string {
  const options = [
    authority ? ['cert-authority'] : [],
    namespaces === null ? [] : [`namespaces="${namespaces}"`],
    validAfter === null ? [] : [`valid-after="${validAfter}"`],
    validBefore === null ? [] : [`valid-before="${validBefore}"`],
  ].flat();
  return [names.join(','), ...(options.length === 0 ? [] : [options.join(',')]), key].join(' ');
}

/** Without the place in a temporary file. */
function reasonOf(said: string): string {
  const [line = ''] = said.split('\n').filter((one) => one.startsWith('signers:'));
  const words = line.replace(/^signers:\d+: /, '').slice(0, 200);
  return words === '' ? 'it is not a signature of this plan' : words;
}

const MAX_BYTES = 256 * 1024;

export async function readSigners(source: SignerSource): Promise<{
  readonly signers: readonly Signer[];
  readonly diagnostics: readonly Diagnostic[];
}> {
  if ('signers' in source) return { signers: source.signers, diagnostics: [] };
  const { file } = source;
  const found = findFileAnywhere('/', file);
  const read = 'fault' in found ? found : readSmallFile(found.path, MAX_BYTES, file);
  if ('fault' in read) {
    const { code, message, hint } = read.fault;
    const place = { at: { file }, ...source.where };
    return { signers: [], diagnostics: [problem(code, message, hint === undefined ? place : { ...place, hint })] };
  }
  return parseSigners(new TextDecoder().decode(read.bytes), file);
}

/** The format of git's allowed signers (ssh-keygen(1)), but only authorities may have patterns as names. */
export function parseSigners(
  text: string,
  file: string,
): { readonly signers: readonly Signer[]; readonly diagnostics: readonly Diagnostic[] } {
  const signers: Signer[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    const read = parseLine(line.trim());
    if ('problem' in read) {
      diagnostics.push(problem('invalid-value', read.problem, { at: { file, line: index + 1 }, hint: EXAMPLE }));
    } else signers.push(read);
  }
  if (signers.length === 0 && diagnostics.length === 0) {
    diagnostics.push(problem('invalid-value', 'The file has no names.', { at: { file }, hint: EXAMPLE }));
  }
  return { signers, diagnostics };
}

const EXAMPLE = 'A line is like: ana@example.com ssh-ed25519 AAAA...';
/** Key types begin with these; the text before one is a field of options. */
const KEY_TYPE = /^(ssh-|ecdsa-|sk-)/;

function parseLine(line: string): Signer | { readonly problem: string } {
  const fields = /^(\S+)[ \t]+(.*)$/.exec(line);
  if (fields === null) return { problem: 'A name and a key belong on each line.' };
  const [, principals = '', rest = ''] = fields;
  const names = principals.split(',');
  const split = KEY_TYPE.test(rest) ? { options: '', key: rest } : splitOptions(rest);
  const options = split === null ? null : readOptions(split.options);
  if (split === null || options === null) return { problem: 'The options of this line cannot be read.' };
  const isRight = options.authority ? isPattern : isName;
  const wrong = names.find((name) => !isRight(name));
  if (wrong !== undefined) {
    const why = isPattern(wrong) ? ': patterns are for lines with cert-authority alone' : '';
    return { problem: `"${wrong.slice(0, 100)}" is not the name of one person${why}.` };
  }
  const key = readSshKey(split.key);
  if ('problem' in key) return key;
  if (key.isCertificate) return { problem: 'This is a certificate: name the key, or the authority that signed it.' };
  return { names, key: key.text, ...options };
}

function splitOptions(text: string): { readonly options: string; readonly key: string } | null {
  const match = /^((?:[^\s"]|"[^"]*")+)[ \t]+(.*)$/.exec(text);
  return match === null ? null : { options: match[1] ?? '', key: match[2] ?? '' };
}

/** Finding commas outside of quotes takes time by the square of it, at this length 10 ms. */
const MAX_OPTIONS = 4_000;

/** Null where one is unknown, given twice, or has a value of another form. */
function readOptions(text: string): Omit<Signer, 'names' | 'key'> | null {
  const found = new Map<string, string>();
  if (text.length > MAX_OPTIONS) return null;
  for (const one of text === '' ? [] : text.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/)) {
    const match = /^([a-z-]+)(?:="([^"]*)")?$/i.exec(one);
    const name = (match?.[1] ?? '').toLowerCase();
    const form = Object.hasOwn(FORMS, name) ? FORMS[name] : undefined;
    if (form === undefined || found.has(name) || !form.test(match?.[2] ?? '')) return null;
    found.set(name, match?.[2] ?? '');
  }
  return {
    authority: found.has('cert-authority'),
    namespaces: found.get('namespaces') ?? null,
    validAfter: found.get('valid-after') ?? null,
    validBefore: found.get('valid-before') ?? null,
  };
}

const DATE = /^[0-9]{8}(?:[0-9]{4}(?:[0-9]{2})?)?Z?$/i;
const FORMS: Readonly<Record<string, RegExp>> = {
  'cert-authority': /^$/,
  namespaces: /^[A-Za-z0-9.@_*?!,-]{1,500}$/,
  'valid-after': DATE,
  'valid-before': DATE,
};

function isPattern(name: string): boolean {
  return /^!?[A-Za-z0-9*?][A-Za-z0-9.@_+*?-]{0,199}$/.test(name);
}
