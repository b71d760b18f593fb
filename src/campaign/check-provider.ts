import { type Diagnostic, problem } from '../errors.ts';
import type { AnswerRule } from '../providers/provider.ts';
import { isAboutRecipient } from '../providers/rules.ts';
import { piecesOf } from '../providers/text.ts';
import { checkUrl, FETCH_VALUES, originOf } from '../providers/url.ts';
import { INSIDE, isKnownName, VALUE_NAMES } from '../providers/values.ts';
import { isList, isMapping, type Json, type JsonObject, pointerTo } from '../util/json.ts';
import { didYouMean } from '../util/suggest.ts';
import { readWebhook } from './read-webhook.ts';
import type { Checked } from './validate.ts';
import type { ProviderFile } from './written.ts';
import { whereKey, whereValue } from './yaml.ts';

type Path = readonly (string | number)[];
/** @param isKey - the fault is the key at the path, not its value */
export type Report = (path: Path, message: string, hint: string, isKey?: boolean) => void;

/** Checks beyond the schema: URLs, placeholders, the mappings with a meaning, and that no recipient is lost. */
export function checkMeaning({ value: file, yaml, reported }: Checked<Partial<ProviderFile>>): readonly Diagnostic[] {
  const found: Diagnostic[] = [];
  const report: Report = (path, message, hint, isKey = false) => {
    const where = isKey ? whereKey : whereValue;
    found.push(problem('invalid-value', message, { ...where(yaml, pointerTo(path)), hint }));
  };
  const { auth, headers = {}, requests = [], channels = {}, answers, limits = {}, needs = [] } = file;
  const named = Object.keys(headers).map((name) => [name, ['headers', name]] as const);
  const { header = '' } = file.idempotency ?? {};
  for (const [name, path] of [...named, [header, ['idempotency', 'header']] as const]) {
    if (!OWN_HEADERS.has(name.toLowerCase())) continue;
    const hint = 'Remove it: handbill or the HTTP client writes it.';
    report(path, `The header "${name}" is needed for something else.`, hint, path[0] === 'headers');
  }
  // Where a name was refused, the placeholders that need it are right.
  const isWhole = (key: string): boolean =>
    ![...reported].some((one) => one === `/${key}` || one.startsWith(`/${key}/`));
  const declared = (['var', 'secret'] as const).flatMap((kind) => {
    const names = Object.keys(file[`${kind}s`] ?? {}).map((name) => `${kind}.${name}`);
    return isWhole(`${kind}s`) ? names : [...names, `${kind}.`];
  });
  checkUrls(file, declared, report);
  checkTree({ auth, headers } as Json, [], { known: declared, isForm: false, places: new Set(), report }, 'one');
  const values = [...declared, ...VALUE_NAMES];
  checkTree({ needs } as Json, [], { known: values, isForm: false, places: new Set(), report }, 'one');
  if (auth !== undefined && isWhole('auth') && !JSON.stringify(auth).includes('{secret.')) {
    const hint = 'Name it under "secrets", and write {secret.NAME} here. A key that was committed must be replaced.';
    const message = 'No {secret.NAME} is under "auth": the key is written into the file.';
    found.push(problem('literal-key', message, { ...whereValue(yaml, '/auth'), hint }));
  }
  // With what an environment must add.
  readWebhook({ ...file.webhook, ...FOR_CHECKS }, {}, '', (path, code, message, hint) => {
    found.push(problem(code, message, { ...whereValue(yaml, pointerTo(['webhook', ...path])), hint }));
    return null;
  });
  requests.forEach((request, i) => {
    const { json, form, channels: own = [] } = request;
    if ((json === undefined) === (form === undefined)) {
      if (isWhole(`requests/${i}`))
        report(['requests', i], 'A request has a body: "json" or "form".', 'Write one of them.');
      return;
    }
    own.forEach((channel, j) => {
      if (Object.hasOwn(channels, channel) || !isWhole('channels')) return;
      const hint = `It has ${Object.keys(channels).join(', ')}.`;
      report(['requests', i, 'channels', j], `The file has no word for the channel ${channel} under "channels".`, hint);
    });
    const before = found.length;
    const body: Body = { known: values, isForm: form !== undefined, places: new Set(), report };
    const path = ['requests', i, form === undefined ? 'json' : 'form'];
    checkTree((form ?? json) as Json, path, body, 'one');
    if (found.length > before) return;
    if (body.places.size === 0)
      report(path, 'The body names no recipient.', 'Write {to} where the API wants the address.');
    const { recipients = 1 } = limits;
    if (recipients === 1 || body.places.size === 0 || body.places.has('recipients')) return;
    const message = `The body has {to} once, and a request has up to ${recipients} recipients.`;
    report(path, message, 'Write { $each: recipients, $do: ... } around it, or limits: { recipients: 1 }.');
  });
  for (const channel of Object.keys(channels)) {
    if (!isWhole('requests') || requests.some((one) => one.channels?.includes(channel as never) ?? true)) continue;
    report(['channels', channel], `No request is for the channel ${channel}.`, 'Add one, or remove the channel.', true);
  }
  checkAnswers(answers, '/answers', reported, (path, ...fault) => report(['answers', ...path], ...fault));
  // Another fault may be the reason why a secret is not used.
  if (found.length + reported.size > 0) return found;
  const posted = JSON.stringify({ ...file, secrets: null });
  for (const name of Object.keys(file.secrets ?? {})) {
    if (posted.includes(`secret.${name}}`) || posted.includes(`secret.${name}|`)) continue;
    const hint = `Write {secret.${name}} where the API wants it, or remove it.`;
    report(['secrets', name], `No request holds the secret "${name}".`, hint, true);
  }
  return found;
}

/**
 * Checks the rules of a provider, or of an environment. Paths of faults are inside the list.
 * @param at - pointer to the list
 * @param reported - see `Checked`
 */
export function checkAnswers(
  answers: ProviderFile['answers'] = [],
  at: string,
  reported: ReadonlySet<string>,
  report: Report,
): void {
  answers.forEach(({ status, codeAt, code, textAt, text, then }, i) => {
    if ([...reported].some((one) => one.startsWith(`${at}/${i}/`))) return;
    const hint = 'For example: { codeAt: /code, code: [21610], then: opted-out }';
    if ((codeAt === undefined) !== (code === undefined)) report([i], '"codeAt" and "code" go together.', hint);
    else if ((textAt === undefined) !== (text === undefined)) report([i], '"textAt" and "text" go together.', hint);
    else if (codeAt !== undefined || textAt !== undefined) return;
    else if (status === undefined) {
      report([i], 'This rule matches every answer: it has no "status", "codeAt" or "textAt".', hint);
    } else {
      const wrong = [status].flat().find((one) => !canMean(one, then));
      if (wrong === undefined) return;
      const message = `The status ${wrong} alone cannot mean "${then}".`;
      report([i, 'status'], message, 'Name a code beside it ("codeAt" and "code"), or remove the rule.');
    }
  });
}

/** Whether a status can mean this whatever the body says (failures.md, D1, F2 to F6, G1). */
function canMean(status: number, then: AnswerRule['verdict']): boolean {
  if (then === 'accepted' || then === 'doubt') return true;
  if (then === 'retry' || then === 'stop') return status >= 400;
  return isAboutRecipient(status);
}

/** HTTP needs them in every request. `Accept` may be another. */
const OWN_HEADERS = new Set(
  `accept-encoding connection content-encoding content-length content-type expect host keep-alive
  proxy-authorization te trailer transfer-encoding upgrade user-agent x-api-key`.split(/\s+/),
);
const FOR_CHECKS = { secrets: [{ env: 'SECRET' }], url: 'https://hooks.example.com/webhooks' };

function checkUrls(file: Partial<ProviderFile>, declared: readonly string[], report: Report): void {
  const { url, requests = [], reports: { fetch = [] } = {} } = file;
  const known = [...declared, 'baseUrl'];
  const ofRequest = [...known, 'sender'];
  const urls = [
    { url, path: ['url'], known: ofRequest },
    ...requests.map((one, i) => ({ url: one.url, path: ['requests', i, 'url'], known: ofRequest })),
    ...fetch.map((one, i) => {
      return { url: one.url, path: ['reports', 'fetch', i, 'url'], known: [...known, ...FETCH_VALUES] };
    }),
  ];
  fetch.forEach(({ next, cursor }, i) => {
    if (cursor === undefined || next !== undefined) return;
    report(['reports', 'fetch', i], '"cursor" is without "next".', 'Write next: the place of its value in a page.');
  });
  for (const { url: text, path, known } of urls) {
    if (text === undefined || checkText(text, path, known, report) === null) continue;
    const fault = checkUrl(text);
    if (fault !== null) report(path, fault.problem, fault.hint);
    else if (url !== undefined && originOf(text) !== originOf(url)) {
      const message = `Another host than that of the file, ${originOf(url)}, would get the keys of the account.`;
      report(path, message, 'A provider file has one host: write a second file.');
    }
  }
}

/** The names in a text; null: one of them is not known. */
function checkText(
  text: string,
  path: Path,
  known: readonly string[],
  report: Report,
  isKey = false,
): readonly string[] | null {
  const pieces = piecesOf(text);
  if (pieces === null) {
    report(path, 'A brace belongs to no placeholder.', 'Write a placeholder as {to}.', isKey);
    return null;
  }
  const inBody = known.includes('to');
  const isKnown = (name: string) =>
    known.includes(name) || (inBody && INSIDE.test(name)) || known.includes(name.replace(/\..*/, '.'));
  const names = pieces.flatMap((piece) => {
    if (typeof piece === 'string') return [];
    // After |, what is no placeholder is a text.
    return piece.instead !== null && /^(?:var|secret)\./.test(piece.instead)
      ? [piece.name, piece.instead]
      : [piece.name];
  });
  const wrong = names.filter((name) => !isKnown(name));
  for (const name of wrong) {
    const kind = /^(?:var|secret)(?=\.)/.exec(name)?.[0];
    const places = inBody
      ? 'For example {to}, {text}, {from}, {reference}; docs/provider-file.md lists all.'
      : known.includes('since.date')
        ? `A list has ${FETCH_VALUES.map((one) => `{${one}}`).join(', ')}.`
        : 'Values of messages are in the body alone.';
    const hint =
      didYouMean(name, known).hint ?? (kind === undefined ? places : `Declare it under "${kind}s", or write another.`);
    const isElsewhere = isKnownName(name) && !inBody;
    report(path, isElsewhere ? `{${name}} has no value here.` : `There is no value {${name}}.`, hint, isKey);
  }
  return wrong.length === 0 ? names : null;
}

interface Body {
  readonly known: readonly string[];
  readonly isForm: boolean;
  /** Where `{to}` is. */
  readonly places: Set<Place>;
  readonly report: Report;
}

/** In a repetition over recipients, over something else, or in none. */
type Place = 'one' | 'recipients' | 'items';

function checkTree(tree: Json, path: Path, body: Body, place: Place): void {
  const { report } = body;
  const check = (text: string, at: Path, isKey = false): void => {
    const known = place === 'items' ? body.known : body.known.filter((name) => name !== 'name' && name !== 'value');
    const names = checkText(text, at, known, report, isKey);
    if (names?.some((name) => /^to(?:\.|$)/.test(name))) body.places.add(place);
  };
  if (typeof tree === 'string') check(tree, path);
  if (isList(tree)) for (const [i, item] of tree.entries()) checkTree(item, [...path, i], body, place);
  if (!isMapping(tree)) return;
  const fault = faultOf(tree, path.length > 3 && body.isForm);
  if (fault !== null) {
    report([...path, ...fault.at], fault.message, fault.hint, fault.isKey);
    return;
  }
  const over = tree['$each'] ?? tree['$join'];
  const inner = over === undefined ? place : over === 'recipients' ? 'recipients' : 'items';
  for (const [key, value] of Object.entries(tree)) {
    if (key === '$do' || key === '$merge') checkTree(value, [...path, key], body, inner);
    else if (!key.startsWith('$') && over === undefined) {
      check(key, [...path, key], true);
      checkTree(value, [...path, key], body, place);
    }
  }
}

/** The keys beside each mapping with a meaning. */
const BESIDE: Readonly<Record<string, readonly string[]>> = { $each: ['$do'], $join: ['$do', 'with'], $merge: [] };
const MEANINGS = [...Object.keys(BESIDE), '$do'];
const REPEATED = ['recipients', 'variables', 'content', 'metaData', 'metaData.own'];

/** Why a mapping cannot mean anything: the first fault. */
function faultOf(tree: JsonObject, isField: boolean) {
  const fault = (at: Path, message: string, hint: string, isKey = false) => ({ at, message, hint, isKey });
  const keys = Object.keys(tree);
  const unknown = keys.find((key) => key.startsWith('$') && !MEANINGS.includes(key));
  if (unknown !== undefined) {
    const hint = didYouMean(unknown, MEANINGS).hint ?? `Those with a meaning are ${MEANINGS.join(', ')}.`;
    return fault([unknown], `"${unknown}" has no meaning.`, hint, true);
  }
  const [only = ''] = keys;
  if (keys.length === 1 && tree[only] === null && (isKnownName(only) || /^(?:var|secret)\./.test(only))) {
    return fault([], `{${only}} without quotes is read as a mapping.`, `Put it in quotes: "{${only}}"`);
  }
  const main = keys.find((key) => Object.hasOwn(BESIDE, key));
  if (main === undefined) {
    if (keys.includes('$do'))
      return fault(['$do'], '"$do" is without "$each" or "$join".', 'Write $each: recipients.', true);
    if (isField) {
      return fault([], 'A field of a form is a text or a list, and no mapping.', 'Write one text, or $each or $join.');
    }
    return null;
  }
  const beside = BESIDE[main] ?? [];
  if (beside.includes('$do') && !keys.includes('$do')) {
    return fault([main], `"${main}" is without "$do".`, `Write { ${main}: recipients, $do: "{to}" }.`, true);
  }
  const extra = keys.find((key) => key !== main && !beside.includes(key));
  if (extra !== undefined)
    return fault([extra], `"${extra}" cannot be beside "${main}".`, 'Put it into another mapping.', true);
  if (main === '$merge')
    return isList(tree[main]) ? null : fault([main], '"$merge" takes a list.', 'Write [..., ...].');
  const over = String(tree[main]);
  if (!REPEATED.includes(over) && !INSIDE.test(over)) {
    const hint = didYouMean(over, REPEATED).hint ?? `For example: ${main}: recipients`;
    return fault([main], `Nothing is repeated over "${over}".`, hint);
  }
  if ((isField || main === '$join') && typeof tree['$do'] === 'object') {
    return fault(['$do'], 'Each item is a text here.', 'For example: $do: "{to}"');
  }
  return null;
}
