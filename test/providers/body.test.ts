import { expect, it } from 'vitest';
import { compileJson } from '../../src/providers/body.ts';
import type { Entry } from '../../src/providers/text.ts';
import { createLookup, NO_FACTS } from '../../src/providers/values.ts';
import type { Json } from '../../src/util/json.ts';

const ANN: Entry = {
  to: '+447700900123',
  reference: 'r-1',
  text: 'Hello "Ann"',
  variables: null,
  content: null,
  metaData: null,
  headers: null,
  isGsm: true,
};
const BO: Entry = { ...ANN, to: '+447700900124', reference: 'r-2' };

function written(tree: Json, entries: readonly Entry[] = [ANN], from: string | null = null): unknown {
  return JSON.parse(
    compileJson(
      tree,
      createLookup({ ...NO_FACTS, from }, () => 0),
    )(entries),
  );
}

it.each<[what: string, tree: Json, is: Json]>([
  ['without a value', { to: '{to}', sender: { type: 'id', value: '{from}' } }, { to: ANN.to }],
  ['without a value in a message', { to: '{to}', extra: { a: 1, b: '{content.subject}' } }, { to: ANN.to }],
  [
    'of fixed values',
    { to: '{to}', options: { flash: false, list: [] } },
    { to: ANN.to, options: { flash: false, list: [] } },
  ],
  [
    'with something instead',
    { to: '{to}', sms: { coding: '{from|auto}', x: '{from}' } },
    { to: ANN.to, sms: { coding: 'auto' } },
  ],
  ['around one without a value', { to: '{to}', a: { type: 'x', b: [{ c: 1, d: '{from}' }] } }, { to: ANN.to }],
  ['with one of two', { a: { fixed: 1, to: '{to}', from: '{from}' } }, { a: { fixed: 1, to: ANN.to } }],
  ['with a key of its value', { to: '{to}', a: { fixed: 1, '{from}': '{to}' } }, { to: ANN.to }],
])('a mapping %s', (_what, tree, is) => {
  expect(written(tree)).toEqual(is);
});

it('has the sender where there is one', () => {
  const tree = { sender: { type: 'id', value: '{from}' }, text: '{text}', to: '{to}' };
  expect(written(tree, [ANN], 'Riverside')).toEqual({
    sender: { type: 'id', value: 'Riverside' },
    text: 'Hello "Ann"',
    to: ANN.to,
  });
});

it('each recipient has a reference of theirs, and a request for several has none', () => {
  const tree = { ref: '{reference}', to: { $each: 'recipients', $do: { to: '{to}', ref: '{reference}' } } };
  const ann = { to: ANN.to, ref: 'r-1' };
  expect(written(tree)).toEqual({ ref: 'r-1', to: [ann] });
  expect(written(tree, [ANN, BO])).toEqual({ to: [ann, { to: BO.to, ref: 'r-2' }] });
});
