import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CANARY_KEY } from '../oracle/scene.ts';

/**
 * The key in every form in which it could be printed or written: independent of src/util/redact.ts, which is to be
 * tested. Each with a name for messages.
 */
export function formsOf(key: string): ReadonlyMap<string, string> {
  const url = encodeURIComponent(key);
  const base64 = [0, 1, 2].map((shift) => {
    // Behind any text: only the part whose bytes are all of the key is the same everywhere.
    const text = Buffer.concat([Buffer.alloc(shift), Buffer.from(key)]).toString('base64');
    return text.slice(shift === 0 ? 0 : shift + 1, Math.floor(((shift + Buffer.byteLength(key)) * 4) / 3));
  });
  const json = JSON.stringify(key).slice(1, -1);
  const numbered = (name: (code: string) => string): string =>
    key.replace(/[^A-Za-z0-9-]/g, (c) => name(c.charCodeAt(0).toString(16).padStart(4, '0')));
  return new Map([
    ['raw', key],
    ['URL-encoded', url],
    ['URL-encoded in lower case', url.replace(/%../g, (byte) => byte.toLowerCase())],
    ...base64.map((form, shift) => [`base64 at ${shift}`, form] as const),
    ...base64.map((form, s) => [`base64url at ${s}`, form.replaceAll('+', '-').replaceAll('/', '_')] as const),
    ['JSON', json],
    ['JSON with escaped slashes', json.replaceAll('/', '\\/')],
    ['JSON with numbers', numbered((code) => `\\u${code}`)],
    ['JSON with numbers in capitals', numbered((code) => `\\u${code.toUpperCase()}`)],
    ['HTML with hexadecimal numbers', numbered((code) => `&#x${code.slice(2)};`)],
    ['HTML with numbers', numbered((code) => `&#${Number.parseInt(code, 16)};`)],
    ['hexadecimal', Buffer.from(key).toString('hex')],
  ]);
}

const FORMS = formsOf(CANARY_KEY);

/** The forms of the canary key that are in these bytes; none is what every test wants. */
export function canaryIn(bytes: string | Uint8Array): string[] {
  const text = typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('latin1');
  const found = [...FORMS].filter(([, form]) => text.includes(form)).map(([name]) => name);
  return Buffer.from(text, 'latin1').includes(Buffer.from(CANARY_KEY, 'utf16le')) ? [...found, 'UTF-16'] : found;
}

/** Gathers whatever was printed or written, and says where the canary key is in it. */
export class CanarySearch {
  readonly #found: string[] = [];
  #bytes = 0;

  /** Bytes that were looked at, so that a search of nothing is noticed. */
  get bytes(): number {
    return this.#bytes;
  }

  /** `file: form` for each place; an empty list when there is none. */
  get found(): readonly string[] {
    return this.#found;
  }

  text(label: string, bytes: string | Uint8Array): void {
    this.#bytes += bytes.length;
    for (const form of canaryIn(bytes)) this.#found.push(`${label}: ${form}`);
  }

  /** What a command printed. */
  printed(label: string, said: { readonly stdout: string; readonly stderr: string }): void {
    this.text(`${label}, stdout`, said.stdout);
    this.text(`${label}, stderr`, said.stderr);
  }

  /** Every file below a folder, and every name. */
  folder(root: string, except: readonly string[] = []): void {
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (except.includes(entry.name)) continue;
      this.text(`the name of ${path}`, entry.name);
      if (entry.isFile()) this.text(path, readFileSync(path));
    }
  }
}
