import { readFile } from 'node:fs/promises';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { describe, expect, it, test } from 'vitest';
import { compileMessageCheck, OPENAPI_FILE } from '../../src/sandbox/form.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { messageTo } from './message.ts';

type Node = { readonly [key: string]: unknown };

const text = await readFile(OPENAPI_FILE, 'utf8');
const description = JSON.parse(text) as Node;
const operation = at(description, 'paths', '/v2/messages', 'post');
const schemas = at(description, 'components', 'schemas');

function at(node: unknown, ...path: readonly string[]): Node {
  let found: unknown = node;
  for (const key of path) found = (found as Node | undefined)?.[key];
  if (typeof found !== 'object' || found === null) throw new Error(`nothing at ${path.join('/')}`);
  return found as Node;
}

function compile(schema: Node): ValidateFunction {
  const ajv = new Ajv2020({ strict: true, strictTypes: true, strictRequired: true, allErrors: true });
  ajv.addKeyword('components');
  return ajv.compile({ components: description['components'], ...schema });
}

/** Every object of the document, with its path. */
function* nodesOf(node: unknown, path: readonly string[] = []): Generator<readonly [Node, readonly string[]]> {
  if (typeof node !== 'object' || node === null) return;
  yield [node as Node, path];
  for (const [key, value] of Object.entries(node)) yield* nodesOf(value, [...path, key]);
}

/** Every media type of the operation that shows a body, with what it shows. */
function* mediaTypes(): Generator<readonly [place: string, schema: Node, example: unknown]> {
  for (const [node, path] of nodesOf(operation)) {
    if (!/^application\/[a-z+]*json$/.test(path.at(-1) ?? '')) continue;
    if ('example' in node) yield [path.join(' '), at(node, 'schema'), node['example']];
    for (const [name, { value }] of Object.entries((node['examples'] ?? {}) as Record<string, { value: unknown }>)) {
      yield [`${path.join(' ')} ${name}`, at(node, 'schema'), value];
    }
  }
}

describe('the OpenAPI description', () => {
  it('has what OpenAPI 3.1 requires', () => {
    expect(description['openapi']).toMatch(/^3\.1\.\d+$/);
    expect(at(description, 'info')).toMatchObject({ title: expect.any(String), version: expect.any(String) });
    expect(Object.keys(at(description, 'paths'))).toEqual(['/v2/messages']);
    expect(at(operation, 'requestBody', 'content', 'application/json', 'schema')).toBeDefined();
    for (const [status, response] of Object.entries(at(operation, 'responses'))) {
      expect(status).toMatch(/^(?:[1-5]\d\d|default)$/);
      expect(response).toMatchObject({ description: expect.any(String) });
    }
    expect(at(description, 'components', 'securitySchemes', 'apiKey')).toMatchObject({
      type: 'apiKey',
      in: 'header',
      name: 'X-Api-Key',
    });
  });

  it('uses only the keys that OpenAPI knows at each place', () => {
    const unknown = (node: Node, ...known: readonly string[]): string[] =>
      Object.keys(node).filter((key) => !known.includes(key));
    expect(unknown(description, 'openapi', 'info', 'servers', 'paths', 'components', 'security', 'tags')).toEqual([]);
    expect(unknown(operation, 'tags', 'summary', 'description', 'operationId', 'requestBody', 'responses')).toEqual([]);
    for (const response of Object.values(at(operation, 'responses'))) {
      expect(unknown(response as Node, 'description', 'headers', 'content')).toEqual([]);
    }
  });

  it('refers only to what it holds', () => {
    const references = [...nodesOf(description)].flatMap(([node]) =>
      typeof node['$ref'] === 'string' ? [node['$ref']] : [],
    );
    expect(references.length).toBeGreaterThan(10);
    for (const reference of references) {
      expect(reference).toMatch(/^#\//);
      expect(() => at(description, ...reference.slice(2).split('/'))).not.toThrow();
    }
  });

  it('describes every property, each with an example or only one value', () => {
    for (const [node, path] of nodesOf(schemas)) {
      if (path.at(-2) !== 'properties' || '$ref' in node) continue;
      const place = path.join('/');
      expect(node, place).toHaveProperty('description');
      const shown = 'examples' in node || 'const' in node || node['type'] === 'array';
      expect(shown, place).toBe(true);
    }
  });

  test.each(Object.keys(schemas))('compiles %s in strict mode, and the examples in it fit', (name) => {
    expect(() => compile({ $ref: `#/components/schemas/${name}` })).not.toThrow();
    for (const [node, path] of nodesOf(at(schemas, name))) {
      if (!Array.isArray(node['examples']) || path.at(-1) === 'properties') continue;
      const validate = compile(node);
      for (const example of node['examples']) expect([path, validate(example)]).toEqual([path, true]);
    }
  });

  test.each([...mediaTypes()])('shows a fitting example: %s', (_place, schema, example) => {
    const validate = compile(schema);
    expect([validate(example), validate.errors]).toEqual([true, null]);
  });

  it('has the statuses that the sandbox answers without a script', () => {
    const statuses = Object.keys(at(operation, 'responses'));
    expect(statuses).toEqual(expect.arrayContaining(['202', '400', '401', '413', '415', '422', '429', 'default']));
  });

  it('is what the sandbox keeps to', async () => {
    const sandbox = await startSandbox({ apiKey: 'test-key' });
    try {
      const accepted = compile({ $ref: '#/components/schemas/Accepted' });
      const failed = compile({ $ref: '#/components/schemas/Problem' });
      for (const message of [messageTo('+447700900123'), messageTo('+447700900123', '+447700900124'), {}, 1]) {
        const answer = await fetch(`${sandbox.url}/v2/messages`, {
          method: 'POST',
          headers: { 'x-api-key': 'test-key', 'content-type': 'application/json' },
          body: JSON.stringify(message),
        });
        const validate = answer.status === 202 ? accepted : failed;
        expect([validate(await answer.json()), validate.errors]).toEqual([true, null]);
      }
    } finally {
      await sandbox.close();
    }
  });
});

it('strings of 300 KB cannot slow the check down', () => {
  const checker = compileMessageCheck();
  const long = `${'a'.repeat(300_000)}!`;
  const digits = `+4${'4'.repeat(300_000)}`;
  const taken: [string, boolean][] = [];
  for (const key of ['accountReference', 'name', 'characterSet', 'channel', 'from', 'validity', 'messageType']) {
    taken.push([key, checker.isMessage({ ...messageTo('+447700900123'), [key]: long })]);
  }
  expect(taken.filter(([, isTaken]) => !isTaken).map(([key]) => key)).toEqual(['validity']);
  expect(checker.isMessage(messageTo(digits))).toBe(false);
});
