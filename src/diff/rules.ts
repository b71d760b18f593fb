import { isDeepStrictEqual } from 'node:util';
import { hideKeys } from '../campaign/hide-keys.ts';
import { checkFile } from '../campaign/validate.ts';
import type { FileKind } from '../campaign/validators.ts';
import { MAX_YAML_BYTES, readYaml } from '../campaign/yaml.ts';
import { parsePointer, pointerTo, valueAt } from '../util/json.ts';
import { readSmallFile } from '../util/paths.ts';
import { mask } from '../util/redact.ts';
import { shortened } from '../util/words.ts';
import type { RuleChange } from './result.ts';

/** Settings as written, by JSON pointer; null: the file cannot be read. */
type Rules = ReadonlyMap<string, Leaf> | null;

interface Leaf {
  readonly value: unknown;
  /** The schema knows the value; other values are never shown. */
  readonly isSound: boolean;
}

/** Reads all settings of a campaign file, handbill.yaml or a provider file, also unknown keys. Recipients are not settings. */
export function readRules(kind: FileKind, path: string | null): Rules {
  if (path === null) return new Map();
  const read = readSmallFile(path, MAX_YAML_BYTES);
  if ('fault' in read) return null;
  const { yaml } = readYaml(read.bytes, path);
  if (yaml === null) return null;
  const checked = checkFile(kind, yaml).value;
  const leaves = new Map<string, Leaf>();
  const visit = (value: unknown, segments: readonly string[]): void => {
    if (kind === 'campaign' && isList(segments, value)) return;
    if (isBranch(value)) {
      for (const [key, inner] of Object.entries(value)) visit(inner, [...segments, key]);
      return;
    }
    const pointer = pointerTo(segments);
    leaves.set(pointer, { value, isSound: isDeepStrictEqual(valueAt(checked, pointer), value) });
  };
  visit(yaml.value, []);
  leaves.delete('/$schema');
  return leaves;
}

/** A mapping, or a list of mappings; a list of words is one value. */
function isBranch(value: unknown): value is Readonly<Record<string, unknown>> {
  if (value === null || typeof value !== 'object') return false;
  const items = Object.values(value);
  return items.length > 0 && (!Array.isArray(value) || items.some((item) => item !== null && typeof item === 'object'));
}

function isList(segments: readonly string[], value: unknown): boolean {
  const at = segments.join('.');
  return at === 'recipients.list' || at === 'recipients.contacts' || (at === 'recipients' && Array.isArray(value));
}

/**
 * The settings that differ; empty if either file cannot be read.
 * @param isTold - settings that are shown elsewhere: the texts of messages
 */
export function changedRules(
  before: Rules,
  after: Rules,
  isTold: (segments: readonly string[], value: unknown) => boolean = () => false,
): readonly RuleChange[] {
  if (before === null || after === null) return [];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((pointer) => {
    const [was, is] = [before.get(pointer), after.get(pointer)];
    if (isDeepStrictEqual(was?.value, is?.value)) return [];
    const segments = parsePointer(pointer);
    if ([was, is].every((leaf) => leaf === undefined || isTold(segments, leaf.value))) return [];
    const [old, now] = [shown(segments, was), shown(segments, is)];
    return [{ key: hideAddresses(segments.join('.')), before: old, after: old === now ? `${now} ${ANOTHER}` : now }];
  });
}

/** Shown for a hidden value that differs. */
const ANOTHER = '(another one)';
const MAX_VALUE = 300;

function shown(segments: readonly string[], leaf: Leaf | undefined): string | null {
  if (leaf === undefined) return null;
  if (isSecret(segments)) return '(hidden)';
  if (!leaf.isSound) return '(not valid, not shown)';
  const text = typeof leaf.value === 'string' ? leaf.value : JSON.stringify(leaf.value);
  // The sender and the account are the campaign's own.
  const isOwn = OWN.has(segments.at(-1) ?? '');
  return shortened(isOwn ? text : hidePersonal(text), MAX_VALUE);
}

const OWN: ReadonlySet<string> = new Set(['from', 'accountReference']);

export function isMessageText(segments: readonly string[], value: unknown): boolean {
  if (typeof value !== 'string') return false;
  const message = segments[0] === 'variants' ? segments.slice(2) : segments;
  const isFallback = message[0] === 'fallback';
  const [head, next] = isFallback ? message.slice(/^\d+$/.test(message[1] ?? '') ? 2 : 1) : message;
  if (head === 'template') return next === 'text';
  return head === 'content' || head === 'variables' || head === 'recipientMetaData';
}

/**
 * Masks possible addresses in text of unknown content: messages of diagnostics, values of settings, names of columns (a
 * list without a header has a recipient there). Keeps dates and amounts. Stricter than `maskText`, which keeps national
 * numbers without their zero, and numbers after a colon: the comment of a pull request has many readers, and a masked
 * id does no harm. Bounded, so that long texts cost no more.
 */
export function hideAddresses(text: string): string {
  return text.replace(EMAIL, mask).replace(NUMBER, mask);
}

/** As `hideAddresses`, and hides possible keys: for texts from a file of settings. */
export function hidePersonal(text: string): string {
  return hideAddresses(hideKeys(text));
}

const EMAIL = /[^\s"'<>()[\]{},;:@]{1,100}@[^\s"'<>()[\]{},;:@]{1,200}/gu;

/**
 * With `+` or `00` or `0` in front, in groups; or nine digits and more in a row, except the fraction of a number. A
 * date begins with neither; a time comes after a colon.
 */
const NUMBER = /(?:(?<![\d.])\+|(?<![\d.:])00?)[\d][\d ().\u00a0-]{5,24}\d|(?<![\d.])\d{9,20}(?!\d)/gu;
/** Names of possible secrets, whose values are never shown. */
const SECRET_NAME = /api[-_ ]?key|authorization|secret|token|password|passphrase|credential|suppression[-_ ]?key/i;

export function isSecret(segments: readonly string[]): boolean {
  return segments.some((segment) => SECRET_NAME.test(segment));
}
