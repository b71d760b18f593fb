import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAnswerReader } from '../../src/http/alike.ts';
import { readAnswer } from '../../src/http/answer.ts';
import type { CompiledWire } from '../../src/http/pointers.ts';
import { attempt } from './answers.ts';
import { wireOf, wireWith } from './wire.ts';

/** Reads them one after the other, and expects of each what parsing it gives. */
function expectAsParsed(bodies: readonly string[], wire: CompiledWire): void {
  const read = createAnswerReader(wire);
  for (const body of bodies) {
    const one = attempt({ body });
    expect(read(one), body).toEqual(readAnswer(one, wire));
  }
}

/** Wire settings that say how often JSON was looked into: every look at an answer follows the pointer of its refusals. */
function counted(): { wire: CompiledWire; looks: () => number } {
  let looks = 0;
  const wire = wireWith({ failed: ['/failed'] });
  const failed = wire.pointers.failed;
  const pointers = {
    ...wire.pointers,
    get failed() {
      looks += 1;
      return failed;
    },
  };
  return { wire: { ...wire, pointers }, looks: () => looks };
}

describe('answers that are alike but for their ids', () => {
  it('are parsed until their form is known, and not after', () => {
    const { wire, looks } = counted();
    const read = createAnswerReader(wire);
    const ids = ['m-1', 'm-2', 'b_3', 'x'.repeat(128)];
    const answers = ids.map((id) => read(attempt({ body: `{"id":"${id}","status":"queued"}` })));
    expect(answers).toEqual(ids.map((messageId) => ({ kind: 'recognised', messageId })));
    const [first = 0] = [looks()];
    read(attempt({ body: '{"id":"m-5","status":"queued"}' }));
    expect(looks()).toBe(first);
    read(attempt({ body: '{"id":"m-6","status":"refused"}' }));
    expect(looks()).toBeGreaterThan(first);
  });

  it('are looked at for their form only a few times where they are never alike', () => {
    const { wire, looks } = counted();
    const read = createAnswerReader(wire);
    const looksOf = (at: number): number => {
      const before = looks();
      read(attempt({ body: `{"id":"m-${at}","at":${at}}` }));
      return looks() - before;
    };
    const each = Array.from({ length: 12 }, (_, at) => looksOf(at));
    expect(each.slice(0, 8).every((count) => count > (each.at(-1) ?? 0))).toBe(true);
    expect(new Set(each.slice(8)).size).toBe(1);
  });

  it('is a refusal where the refusal stands beside the id', () => {
    const wire = wireWith({ failed: ['/failed'] });
    expectAsParsed(
      ['{"id":"a"}', '{"id":"b"}', '{"id":"c","failed":"no"}', '{"id":"d"}', '{"failed":"no","id":"e"}'],
      wire,
    );
  });

  it('are parsed where the id is the refusal as well, or a word that means one', () => {
    expectAsParsed(['{"id":"a"}', '{"id":"b"}'], wireWith({ failed: ['/id'] }));
    const listed = ['{"messages":[{"id":"a"}]}', '{"messages":[{"id":"refused"}]}'];
    expectAsParsed(
      listed,
      wireOf({ response: { recipients: ['/messages'], recipientStatus: { at: ['/id'], refused: ['refused'] } } }),
    );
  });

  it('are read where the id stands, not where the same text does', () => {
    const wire = wireWith();
    expectAsParsed(['{"id":"\\u0061","x":"a"}', '{"id":"\\u0061","x":"b"}'], wire);
    expectAsParsed(['{"x":"a","id":"a"}', '{"x":"b","id":"a"}', '{"x":"a","id":"b"}'], wire);
    expectAsParsed(['{"id":"id"}', '{"id":"a"}', '{"id":"id"}', '{"a":"id"}'], wire);
  });

  it('takes the key out of every id', () => {
    const wire = wireWith({}, [], (text) => text.replaceAll('secret', '***'));
    expectAsParsed(['{"id":"a"}', '{"id":"my-secret"}', '{"id":"b"}'], wire);
    expect(createAnswerReader(wire)(attempt({ body: '{"id":"secret"}' }))).toMatchObject({ messageId: '***' });
  });

  it('says nothing of an answer that was cut off', () => {
    const wire = wireWith();
    const read = createAnswerReader(wire);
    const body = '{"id":"m-1"}';
    read(attempt({ body }));
    const cut = attempt({ body, error: { code: 'HANDBILL_CUT_BODY', message: 'ECONNRESET at the end of the answer' } });
    expect(read(cut)).toEqual(readAnswer(cut, wire));
    expect(read(cut)).toMatchObject({ kind: 'unrecognised' });
  });

  it('is what parsing gives, whatever comes in whatever order', () => {
    const id = fc.oneof(
      fc.stringMatching(/^[\w-]{0,8}$/),
      fc.string({ maxLength: 6 }),
      fc.constant('x'.repeat(600)),
      fc.integer(),
    );
    const value = fc.oneof(id, fc.boolean(), fc.constant(null), fc.array(id, { maxLength: 2 }));
    const key = fc.constantFrom('id', 'messageId', 'failed', 'a', 'm', 'error');
    const document = fc.dictionary(key, value, { maxKeys: 3 }).map((one) => JSON.stringify(one));
    const form = fc.constantFrom(
      '{"id":"?"}',
      '{"id":"?","a":"b"}',
      '{"a":{"id":"?"},"id":"m"}',
      '{"?":1,"id":"?"}',
      ' {"id": "?" }\n',
      '{"id":"a","id":"?"}',
      '"?"',
      '{"id":"?"',
      '{"id":"\\"?"}',
      '{"messageId":"?","a":"\\u0041"}',
    );
    const filled = fc.tuple(form, id).map(([form, id]) => form.replaceAll('?', String(id)));
    const bodies = fc.array(fc.oneof({ weight: 3, arbitrary: filled }, document), { minLength: 2, maxLength: 12 });
    const wires = [
      wireWith(),
      wireWith({ failed: ['/failed'] }),
      wireWith({ failed: ['/id'] }),
      wireWith({ messageIdRequired: true }),
    ];
    fc.assert(
      fc.property(bodies, fc.constantFrom(...wires), (bodies, wire) => expectAsParsed(bodies, wire)),
      { numRuns: 3000 },
    );
  });
});
