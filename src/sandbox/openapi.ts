import { readFileSync } from 'node:fs';

export const DIALECT_NAMES = ['default', 'top-level', 'per-recipient', 'problem'] as const;

/** How the sandbox speaks; docs/sandbox.md shows each. */
export type DialectName = (typeof DIALECT_NAMES)[number];

/** The OpenAPI description of the operation, which is also what requests are checked against. */
export const OPENAPI_FILE = new URL('../../schemas/messages.openapi.json', import.meta.url);

type Node = { readonly [key: string]: unknown };

/** The description as in the file, with every dialect. */
interface OpenApi {
  readonly components: Node;
  readonly paths: Node;
  readonly servers: unknown;
}

export function readDescription(): OpenApi {
  return JSON.parse(readFileSync(OPENAPI_FILE, 'utf8')) as OpenApi;
}

/** Says, beside a schema of alternatives, which of them a dialect means; beside an example, whose it is. */
const BY_DIALECT = 'x-dialects';

/** The description of one dialect: if the file has several forms of a body, the one of this dialect. */
export function describeDialect(name: DialectName, url: string): Node {
  const description = readDescription();
  const narrowed = narrow(description.paths, name);
  return { ...description, servers: [{ url }], paths: narrowed };
}

/** Answers whose every form belongs to other dialects fall away, and their examples too. */
function narrow(node: unknown, name: DialectName): unknown {
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) return node.map((item) => narrow(item, name));
  const found = node as Node;
  const entries = Object.entries(found).flatMap(([key, value]) => {
    if (key === BY_DIALECT || isOfAnother(value, name)) return [];
    return [[key, narrow(value, name)] as const];
  });
  const chosen = chosenBy(found, name);
  return Object.fromEntries(chosen === null ? entries : [...entries, ['schema', { $ref: chosen }]]);
}

function isOfAnother(value: unknown, name: DialectName): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const whose = (value as Node)[BY_DIALECT];
  if (Array.isArray(whose)) return !whose.includes(name);
  if (typeof whose === 'object' && whose !== null) return !(name in whose);
  const { content } = value as Node;
  return (
    typeof content === 'object' && content !== null && Object.values(content).every((one) => isOfAnother(one, name))
  );
}

function chosenBy(node: Node, name: DialectName): string | null {
  const whose = node[BY_DIALECT];
  if (typeof whose !== 'object' || whose === null || Array.isArray(whose)) return null;
  const chosen = (whose as Node)[name];
  return typeof chosen === 'string' ? chosen : null;
}
