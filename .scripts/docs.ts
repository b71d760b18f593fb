/**
 * Makes the reference pages that can be made: docs/diagnostics.md from the closed set of codes, docs/campaign.md and
 * docs/project.md from the JSON Schemas. `node .scripts/docs.ts` writes them, with `--check` it only compares and
 * leaves with status 1 where a page is stale.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { CODES } from '../src/errors.ts';

const ROOT = new URL('..', import.meta.url);

/** What is used of JSON Schema. */
interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly definitions?: Readonly<Record<string, Schema>>;
}

/** A key with its dotted name, and where its keys are described if that is elsewhere. */
interface Row {
  readonly name: string;
  readonly schema: Schema;
  readonly required: boolean;
  readonly elsewhere: string | null;
}

/** Every page that is made: path from the root of the project, and its text. */
export function pages(): ReadonlyMap<string, string> {
  return new Map([
    ['docs/diagnostics.md', diagnosticsPage()],
    ['docs/campaign.md', schemaPage('Campaign file', 'campaign.schema.json', CAMPAIGN_INTRO)],
    ['docs/project.md', schemaPage('Project file', 'project.schema.json', PROJECT_INTRO)],
  ]);
}

const CAMPAIGN_INTRO = `Every key of a campaign file, usually \`campaigns/<name>/campaign.yaml\`. Keys that it leaves out
come from \`defaults\` in [handbill.yaml](project.md), then from the defaults below. The guides say more:
[templates](templates.md), [content](content.md) of each channel, [recipients](recipients.md), [segments](segments.md),
[provider templates](provider-templates.md), [fallback](fallback.md), [variants](variants.md).`;

const PROJECT_INTRO = `Every key of \`handbill.yaml\`, which is looked for upwards from the campaign. The file may be absent; then the root of
the project is the root of the git repository, else the folder of the campaign. Keys of a campaign are explained in
[campaign.md](campaign.md).`;

function diagnosticsPage(): string {
  const rows = Object.entries(CODES).map(([code, meaning]) => [`\`${code}\``, meaning]);
  return page(
    'Diagnostics',
    `Whatever handbill says about a file, a row or a run carries one of these codes. The set is closed: scripts may match
codes, while the sentences can improve. Errors refuse a run before its first request (exit status 2; 6 for \`locked\`, 7
for the ledger); warnings do not. \`handbill validate --format json\` gives them all, each with file, line and column.`,
    table(['code', 'meaning'], rows),
  );
}

function schemaPage(title: string, file: string, intro: string): string {
  const root = readSchema(file);
  const entries = Object.entries(root.properties ?? {});
  const top = entries.map(([name, schema]) => rowOf(root, name, schema, root.required?.includes(name) ?? false));
  const sections = top
    .filter((row) => row.elsewhere === null)
    .map((row) => ({ row, rows: keysBelow(root, row) }))
    .filter(({ rows }) => rows.length > 0)
    .map(({ row, rows }) => `## \`${row.name}\`\n\n${row.schema.description ?? ''}\n\n${keyTable(rows)}`);
  const example = root.examples?.[0];
  const shown = example === undefined ? [] : [`## Example\n\n\`\`\`yaml\n${stringify(example).trimEnd()}\n\`\`\``];
  return page(title, intro, `## Keys\n\n${keyTable(top)}`, ...sections, ...shown);
}

/** Every key below a row, with its dotted name, depth first. */
function keysBelow(root: Schema, parent: Row): readonly Row[] {
  if (parent.elsewhere !== null) return [];
  const { properties = {}, additionalProperties, required = [] } = parent.schema;
  const children = Object.entries(properties).map(([key, schema]) =>
    rowOf(root, `${parent.name}.${key}`, schema, required.includes(key)),
  );
  // A mapping that may also be a list of such mappings has its keys above already.
  const item = children.length > 0 || parent.schema.items === undefined ? null : itemOf(root, parent);
  if (item?.schema.properties !== undefined) return keysBelow(root, item);
  if (typeof additionalProperties === 'object' && additionalProperties.properties !== undefined) {
    children.push(rowOf(root, `${parent.name}.<name>`, additionalProperties, false));
  }
  return children.flatMap((child) => [child, ...keysBelow(root, child)]);
}

/** An item of a list of mappings: `buttons[].text`. */
function itemOf(root: Schema, { name, schema }: Row): Row {
  return rowOf(root, `${name}[]`, schema.items ?? {}, false);
}

/** Follows a reference. Keys of the campaign file are explained on its page, and `wire` once. */
function rowOf(root: Schema, name: string, written: Schema, required: boolean): Row {
  const ref = written.$ref;
  if (ref === undefined) return { name, schema: written, required, elsewhere: null };
  const [file = '', pointer = ''] = ref.split('#');
  const schema = at(file === '' ? root : readSchema(file), pointer);
  // What stands under `definitions` has no place of its own on the page.
  if (pointer.startsWith('/definitions/') && file !== '') return rowOf(root, name, schema, required);
  if (file === '') {
    const first = 'environments.<name>.wire';
    return { name, schema, required, elsewhere: name === first ? null : `Keys: see \`${first}\`.` };
  }
  const key = pointer
    .split('/')
    .filter((part) => part !== '' && part !== 'properties')
    .join('.');
  const section = key.split('.')[0] ?? key;
  const hasSection = at(readSchema(file), `/properties/${section}`).properties !== undefined;
  const link = `campaign.md#${hasSection ? section.toLowerCase() : 'keys'}`;
  return { name, schema, required, elsewhere: `See [\`${key}\`](${link}).` };
}

function at(schema: Schema, pointer: string): Schema {
  let found: unknown = schema;
  for (const part of pointer.split('/').slice(1)) found = (found as Readonly<Record<string, unknown>>)[part];
  if (found === undefined) throw new Error(`Nothing is at ${pointer}.`);
  return found as Schema;
}

function keyTable(rows: readonly Row[]): string {
  return table(
    ['key', 'type', 'default', 'meaning', 'example'],
    rows.map(({ name, schema, required, elsewhere }) => [
      `\`${name}\``,
      typeOf(schema),
      required ? 'required' : schema.default === undefined ? '' : code(schema.default),
      meaningOf(schema, elsewhere),
      schema.examples?.[0] === undefined ? '' : code(schema.examples[0]),
    ]),
  );
}

/** What is explained on another page is not said twice. */
function meaningOf({ description = '' }: Schema, elsewhere: string | null): string {
  if (elsewhere === null) return description;
  return elsewhere.startsWith('See') ? elsewhere : `${description} ${elsewhere}`;
}

const TYPE_WORDS: Readonly<Record<string, string>> = { object: 'mapping', array: 'list', boolean: '`true`, `false`' };

function typeOf({ type, enum: values, items, minimum, maximum }: Schema): string {
  if (values !== undefined) return values.map((value) => code(value)).join(', ');
  const types = typeof type === 'string' ? [type] : (type ?? []);
  const from = minimum === undefined ? '' : ` from ${minimum}`;
  const to = maximum === undefined ? '' : ` to ${maximum}`;
  const words = types.map((one) => {
    if (one === 'array' && items !== undefined) return `list of ${typeOf(items) || 'mapping'}`;
    const word = TYPE_WORDS[one] ?? one;
    return one === 'integer' || one === 'number' ? `${word}${from}${to}` : word;
  });
  return words.join(' or ');
}

/** A value as it is written in YAML, on one line. */
function code(value: unknown): string {
  const text = stringify(value, { collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: true });
  return `\`${text.trimEnd().replaceAll('\n', ' ')}\``;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

function page(title: string, ...blocks: readonly string[]): string {
  const origin = '<!-- Made by .scripts/docs.ts: change the source and run `node .scripts/docs.ts`. -->';
  return `${[`# ${title}`, origin, ...blocks].join('\n\n')}\n`;
}

function readSchema(file: string): Schema {
  return JSON.parse(readFileSync(new URL(`schemas/${file}`, ROOT), 'utf8')) as Schema;
}

/** The pages whose file is not what would be made. */
export function stalePages(): readonly string[] {
  return [...pages()].filter(([path, text]) => textOf(path) !== text).map(([path]) => path);
}

function textOf(path: string): string | null {
  try {
    return readFileSync(new URL(path, ROOT), 'utf8');
  } catch {
    return null;
  }
}

if (import.meta.main) {
  const stale = stalePages();
  if (process.argv.includes('--check')) {
    for (const path of stale) process.stderr.write(`${path} is stale: run \`node .scripts/docs.ts\`.\n`);
    process.exitCode = stale.length === 0 ? 0 : 1;
  } else {
    const all = pages();
    for (const path of stale) writeFileSync(new URL(path, ROOT), all.get(path) ?? '');
    process.stdout.write(stale.length === 0 ? 'Every page is up to date.\n' : `Wrote ${stale.join(', ')}.\n`);
  }
}
