/** Reference pages out of JSON Schemas: docs/campaign.md, docs/project.md, docs/provider-file.md and docs/formats.md. */
import { readdirSync, readFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { block, code, page, table } from './docs-markdown.ts';
import { notationSections } from './docs-notation.ts';

const ROOT = new URL('..', import.meta.url);

/** What is used of JSON Schema. */
interface Schema {
  readonly $ref?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  /** Made here: nothing may stand there instead. */
  readonly orNull?: boolean;
  readonly definitions?: Readonly<Record<string, Schema>>;
}

/** A key with its dotted name, and where its keys are described if that is elsewhere. */
interface Row {
  readonly name: string;
  readonly schema: Schema;
  readonly required: boolean;
  readonly elsewhere: string | null;
}

/** docs/campaign.md */
export function campaignPage(): string {
  return schemaPage('Campaign file', 'campaign.schema.json', CAMPAIGN_INTRO);
}

/** docs/project.md */
export function projectPage(): string {
  return schemaPage('Project file', 'project.schema.json', PROJECT_INTRO);
}

/** docs/provider-file.md, with the placeholders and mappings that a schema cannot list. */
export function providerFilePage(): string {
  return `${schemaPage('Provider file', 'provider.schema.json', PROVIDER_INTRO)}\n${notationSections().join('\n\n')}\n`;
}

/** docs/formats.md: what commands print for scripts, a section for each format, under the name of its schema. */
export function formatsPage(): string {
  const schemas = FORMATS.map((file) => ({ file, name: file.replace('.schema.json', ''), root: readSchema(file) }));
  const index = schemas.map(({ name, root }) => [
    `[${titleOf(root)}](#${name})`,
    firstSentence(root.description ?? ''),
  ]);
  const sections = schemas.flatMap(({ file, name, root }) => {
    const rows = keysBelow(root, { name: '', schema: root, required: true, elsewhere: null });
    const example = root.examples?.[0];
    const shown = example === undefined ? [] : [block('json', JSON.stringify(example, null, 2))];
    const source = `Schema: [\`schemas/${file}\`](../schemas/${file}).`;
    return [`## ${name}`, `${root.description ?? ''} ${source}`, ...shown, ...eventsOf(root), formatTable(rows)];
  });
  return page('Formats for scripts', FORMATS_INTRO, table(['format', 'what it is'], index), ...sections);
}

/** Where each event has fields of its own: which. */
function eventsOf({ oneOf = [] }: Schema): readonly string[] {
  const rows = oneOf.flatMap(({ properties, required = [] }) => {
    const event = properties?.['event']?.const;
    const fields = required.map((name) => `\`${name}\``).join(', ');
    return event === undefined ? [] : [[`\`${event}\``, fields === '' ? 'none' : fields]];
  });
  return rows.length === 0 ? [] : [`### Events\n\n${table(['event', 'its fields'], rows)}`, '### Fields'];
}

function titleOf({ title = '' }: Schema): string {
  return title.replace(/^handbill /, '');
}

/** Without what follows its first stop before a capital. */
function firstSentence(text: string): string {
  return /^[\s\S]*?\.(?= [A-Z]|$)/.exec(text)?.[0] ?? text;
}

/** The formats that most readers look for; the others follow by name. */
const FIRST = ['report', 'due', 'doubts', 'replies', 'reconciliation', 'suppressions'];

/** Every format for scripts that there is a schema for. */
export const FORMATS: readonly string[] = readdirSync(new URL('schemas/', ROOT))
  .flatMap((file) => /^(.+)\.schema\.json$/.exec(file)?.[1] ?? [])
  .filter((name) => name !== 'campaign' && name !== 'project' && name !== 'provider')
  .toSorted((a, b) => placeOf(a) - placeOf(b) || (a < b ? -1 : 1))
  .map((name) => `${name}.schema.json`);

function placeOf(name: string): number {
  const place = FIRST.indexOf(name);
  return place === -1 ? FIRST.length : place;
}

const FORMATS_INTRO = `What \`--format json\` prints is one document, described by a JSON Schema that comes with the package:
\`import schema from 'handbill/schemas/report.schema.json' with { type: 'json' }\`. \`version\` is raised when a field changes its
meaning or goes away; new fields may appear without that. \`[]\` is each item of a list, \`<name>\` any name. The list of
channels is in [\`schemas/campaign.schema.json\`](../schemas/campaign.schema.json), to which the others refer: a validator needs that
file too (Ajv: \`new Ajv({ strict: false }).addSchema(campaign, 'campaign.schema.json')\`). The requests themselves are described
in OpenAPI: [\`schemas/messages.openapi.json\`](../schemas/messages.openapi.json).`;

function formatTable(rows: readonly Row[]): string {
  return table(
    ['field', 'type', 'meaning', 'example'],
    rows.map(({ name, schema }) => [
      `\`${name.replace(/^\./, '')}\``,
      typeOf(schema),
      schema.description ?? '',
      schema.examples?.[0] === undefined ? '' : `\`${JSON.stringify(schema.examples[0])}\``,
    ]),
  );
}

const CAMPAIGN_INTRO = `Every key of a campaign file, usually \`campaigns/<name>/campaign.yaml\`. Keys that it leaves out
come from \`defaults\` in [handbill.yaml](project.md), then from the defaults below. The guides say more:
[templates](templates.md), [content](content.md) of each channel, [recipients](recipients.md), [segments](segments.md),
[provider templates](provider-templates.md), [fallback](fallback.md), [variants](variants.md).`;

const PROJECT_INTRO = `Every key of \`handbill.yaml\`, the file at the root of a project. Keys of a campaign are explained in
[campaign.md](campaign.md).

## Which project and which ledger

All commands find the project in the same way, from the current folder. It is the folder of the outermost
\`handbill.yaml\`, from the current folder up to the root of the git repository; if there is none, the folder of the only
\`handbill.yaml\` at most three levels below that root (\`node_modules\`, hidden folders and other repositories are not
searched); if there is none either, the root of the repository. Several below the root are refused: go to the folder of one.
Outside of git, folders above the current one count as long as they belong to you or to root and not all users can write to
them: the outermost \`handbill.yaml\`, else the nearest folder with a \`.handbill\` ledger, else the current folder. Only
where the current folder is in no project at all, and a campaign is named by its path (cron, with an absolute path), the
same rule starts at the folder of the campaign. The ledger is \`.handbill/ledger.db\` in the folder of the project, unless
\`--ledger\`, \`HANDBILL_LEDGER\` or \`ledger\` in \`handbill.yaml\` name another, of which the first that is given counts; a
relative path is always taken from the folder of the project. A campaign that has its own \`handbill.yaml\`, or is
outside of the project or behind a link that leads out of it, is refused; so is a command that would make a second ledger
where the project has one, or where one exists in a folder above or below, or use a file where the project has sent with a
shared ledger; and so is the first \`send\` with an empty ledger, a file or PostgreSQL, where the project has sent with
another one. If a second one is right, \`send --allow second-ledger\` begins it.`;

const PROVIDER_INTRO = `Every key of a provider file, which says how one messaging API is spoken to. [Write a provider
file](wire.md) has an example that runs. Then come the [placeholders](#placeholders) and the [mappings with a
meaning](#mappings-with-a-meaning) of requests. The [providers that come with handbill](providers.md) are such files too.`;

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

/** Follows a reference. Keys of the campaign file are explained on its page, and those of an environment once. */
function rowOf(root: Schema, name: string, one: Schema, required: boolean): Row {
  const written = withoutNull(one);
  const ref = written.$ref;
  if (ref === undefined) return { name, schema: written, required, elsewhere: null };
  const [file = '', pointer = ''] = ref.split('#');
  const schema = withDefinition(at(file === '' ? root : readSchema(file), pointer));
  // What stands under `definitions` has no place of its own on the page.
  if (pointer.startsWith('/definitions/') && file !== '') return rowOf(root, name, withDefinition(written), required);
  // What scripts read is explained where it stands.
  if (file === '' && root.title !== 'handbill project' && root.title !== 'handbill campaign') {
    const { description = schema.description, orNull } = written;
    const row = rowOf(root, name, schema, required);
    const own = { ...(description === undefined ? {} : { description }), ...(orNull === undefined ? {} : { orNull }) };
    return { ...row, schema: { ...row.schema, ...own } };
  }
  if (file === '') {
    if (pointer === '/definitions/answers')
      return { name, schema, required, elsewhere: 'See [`answers`](provider-file.md#answers).' };
    const first = `environments.<name>.${pointer.split('/').at(-1)}`;
    return { name, schema, required, elsewhere: name === first ? null : `See \`${first}\`.` };
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

/** `oneOf` nothing and something is something that may be absent. */
function withoutNull(schema: Schema): Schema {
  const [alternatives] = [schema.anyOf, schema.oneOf, schema.allOf].filter((found) => found !== undefined);
  const [only, ...more] = (alternatives ?? []).filter(({ type }) => type !== 'null');
  if (only === undefined || more.length > 0) return schema;
  const { anyOf: _any, oneOf: _one, allOf: _all, ...own } = schema;
  return { ...only, ...own, ...(schema.allOf === undefined ? { orNull: true } : {}) };
}

/** What stands under `definitions` of a campaign, with what is said where it is used. */
function withDefinition(schema: Schema): Schema {
  const [file = '', pointer = ''] = schema.$ref?.split('#') ?? [];
  if (file === '' || !pointer.startsWith('/definitions/')) return schema;
  const { $ref: _ref, ...own } = schema;
  return { ...at(readSchema(file), pointer), ...own };
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

/** What is explained on another page is not said twice, nor is a default that stands in a column of its own. */
function meaningOf({ description: written = '', default: value }: Schema, elsewhere: string | null): string {
  const description = value === undefined ? written : written.replace(/ Default: [^ ]+\.$/, '');
  if (elsewhere === null) return description;
  return elsewhere.startsWith('See') ? elsewhere : `${description} ${elsewhere}`;
}

const TYPE_WORDS: Readonly<Record<string, string>> = { object: 'mapping', array: 'list', boolean: '`true`, `false`' };

function typeOf(schema: Schema): string {
  const { type, enum: values, items, minimum, maximum, orNull, anyOf } = schema;
  if (orNull === true) return `${typeOf({ ...schema, orNull: false })} or null`;
  if (anyOf !== undefined) return anyOf.map((one) => typeOf(one)).join(' or ');
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

function readSchema(file: string): Schema {
  return JSON.parse(readFileSync(new URL(`schemas/${file}`, ROOT), 'utf8')) as Schema;
}
