import { expect, it } from 'vitest';
import type { Diagnostic } from '../../src/errors.ts';
import { parseAnswer } from '../../src/http/answer.ts';
import { createAnswerCheck, createAnswering } from '../../src/http/connection-answers.ts';
import { classifyMany } from '../../src/http/recipient-answers.ts';
import type { AnsweringConnection } from '../../src/model.ts';
import { attempt, NOW } from './answers.ts';
import { wireOf } from './wire.ts';

/** Asks an API for recipient after recipient; on a connection that was ended nothing more is asked. */
function ask(answerTo: (to: string, number: number) => object, count: number, lanes = 1) {
  const notices: Diagnostic[] = [];
  const wire = wireOf();
  const check = createAnswerCheck(wire, (notice) => notices.push(notice));
  const open: (AnsweringConnection & { isOver: boolean })[] = [];
  const connect = () => {
    const made = { isOver: false, ...createAnswering(() => (made.isOver = true)) };
    return made;
  };
  const said: string[] = [];
  for (let i = 1; i <= count; i++) {
    const to = `+44770090010${i}`;
    const own = open[i % lanes];
    const connection = own === undefined || own.isOver ? connect() : own;
    open[i % lanes] = connection;
    const facts = { ...attempt({ body: JSON.stringify(answerTo(to, i)) }), connection };
    const recipients = [{ to, reference: `ref-${i}` }];
    const context = { wire, firstAnswer: false, nowMs: NOW, stopping: false };
    const document = parseAnswer(facts, recipients);
    const [verdict] = check(facts, recipients, classifyMany(facts, recipients, context, document), document);
    said.push(`${verdict?.outcome} ${verdict?.reason ?? ''}${verdict?.halt === null ? '' : '!'}`.trim());
    if (verdict?.halt !== null) break;
  }
  return { said, notices };
}

it('an API that gives every message the same id is told after the second answer, and ends the start', () => {
  const { said, notices } = ask(() => ({ id: 'fixed' }), 5);
  expect(said).toEqual(['accepted', 'in-doubt mismatch', 'in-doubt mismatch!']);
  expect(notices.map(({ code }) => code)).toEqual(['mismatch']);
  expect(`${notices[0]?.message} ${notices[0]?.hint}`).toMatch(
    /same id.*mock server with fixed answers does this.*help mismatch/,
  );
});

it('the same on another connection ends it at once', () => {
  expect(ask(() => ({ id: 'fixed' }), 5, 2).said).toEqual(['accepted', 'in-doubt mismatch!']);
});

it('an API that names another recipient each time is told after the second answer', () => {
  const { said, notices } = ask((_, n) => ({ id: `m-${n}`, to: '+447700900999' }), 5);
  expect(said).toEqual(['in-doubt mismatch', 'in-doubt mismatch!']);
  expect(notices.map(({ message }) => message)).toEqual([
    'The API names another recipient than the request in each answer.',
  ]);
});

it('an API that answers one request twice is told, and goes on', () => {
  const ids = ['m-1', 'm-1', 'm-3', 'm-4'];
  const { said, notices } = ask((_, n) => ({ id: ids[n - 1] }), 4);
  expect(said).toEqual(['accepted', 'in-doubt mismatch', 'accepted', 'accepted']);
  expect(notices).toHaveLength(1);
  expect(ask((to, n) => ({ id: `m-${n}`, to: n === 2 ? '+447700900999' : to }), 4).notices).toEqual([]);
});

it('an API that gives each message its own id, or none, is told nothing', () => {
  expect(ask((to, n) => ({ id: `m-${n}`, to }), 6, 3)).toEqual({ said: Array(6).fill('accepted'), notices: [] });
  expect(ask(() => ({ ok: true }), 6, 3)).toEqual({ said: Array(6).fill('accepted'), notices: [] });
});
