import { expect, it, test } from 'vitest';
import type { Diagnostic } from '../../src/errors.ts';
import { createReuse } from '../../src/http/connection.ts';

/** `x`: a connection ends soon after its answer; `l`: late; `a`: an answer on a connection that was used again. */
test.each([
  ['', true],
  ['x', true],
  ['xx', false],
  ['lllll', true],
  ['xlx', false],
  ['xaaaaaaaaax', false],
  ['xaaaaaaaaaax', true],
  ['xaaaaaaaaaaxx', false],
  ['xxaaaaaaaaaaaaaaa', false],
])('connections that go %j are used again: %s', (events, expected) => {
  const notices: Diagnostic[] = [];
  const reuse = createReuse((notice) => notices.push(notice));
  for (const event of events) {
    if (event === 'a') reuse.answeredAgain();
    else reuse.closed(event === 'x' ? 1000 : 1001);
  }
  expect(reuse.isAllowed).toBe(expected);
  expect(notices.map(({ code }) => code)).toEqual(expected ? [] : ['connection-limit']);
});

it('is said once', () => {
  const notices: Diagnostic[] = [];
  const reuse = createReuse((notice) => notices.push(notice));
  for (let n = 0; n < 5; n++) reuse.closed(1);
  expect(notices).toHaveLength(1);
});
