import { expect, test } from 'vitest';
import { checkContent } from '../../src/content/channels.ts';
import type { ContentProblem } from '../../src/content/check-values.ts';
import type { Channel, JsonObject } from '../../src/model.ts';

/** Content, and the text beside it. */
export interface Message {
  readonly content: JsonObject;
  readonly text?: string | null;
}

export function problemsOf(channel: Channel, { content, text }: Message): readonly ContentProblem[] {
  return checkContent(channel, content, text);
}

/** `content-limit /buttons/3`: what a problem is, without its sentence. */
export function brief(problems: readonly ContentProblem[]): readonly string[] {
  return problems.map(({ code, pointer }) => `${code} ${pointer}`);
}

/** The same with its sentence, and what to do. */
export function stated(problems: readonly ContentProblem[]): readonly string[] {
  return problems.map(({ code, severity, pointer, message, hint }) =>
    [
      severity === 'error' ? code : `${severity} ${code}`,
      pointer,
      message,
      ...(hint === undefined ? [] : [`(${hint})`]),
    ].join(' '),
  );
}

/** So many characters, of which every other one takes two UTF-16 units. */
export function wide(length: number): string {
  return '😀x'.repeat(Math.ceil(length / 2)).slice(0, Math.floor(length / 2) * 3 + (length % 2) * 2);
}

/** One limit: what it bounds, how much it allows, where the surplus is found, and a message with so much of it. */
export type Limit<T> = readonly [label: string, most: number, pointer: string, make: (value: T) => Message];

/** A length: so many characters pass, one more fails with both figures, and a text that is not known passes. */
export function testLengths(channel: Channel, limits: readonly Limit<string | null>[]): void {
  test.each(limits)('%s: %i characters', (_label, most, pointer, make) => {
    for (const text of ['x'.repeat(most), wide(most)]) expect(problemsOf(channel, make(text))).toEqual([]);
    for (const text of ['x'.repeat(most + 1), wide(most + 1)]) {
      const problems = problemsOf(channel, make(text));
      expect(brief(problems)).toEqual([`content-limit ${pointer}`]);
      expect(problems[0]?.severity).toBe('error');
      expect(problems[0]?.message).toContain(` ${most + 1} characters`);
      expect(problems[0]?.message).toContain(`at most ${most}.`);
      expect(problems[0]?.hint).toBe('Shorten it by 1.');
    }
    expect(problemsOf(channel, make(null))).toEqual([]);
  });
}

/** A number of things: so many pass, one more fails with both figures. */
export function testCounts(channel: Channel, limits: readonly Limit<number>[]): void {
  test.each(limits)('%s: at most %i', (_label, most, pointer, make) => {
    expect(problemsOf(channel, make(most))).toEqual([]);
    const problems = problemsOf(channel, make(most + 1));
    expect(brief(problems)).toEqual([`content-limit ${pointer}`]);
    expect(problems[0]?.message).toMatch(new RegExp(`\\b${most + 1} .*at most ${most}\\.`));
  });
}

/** So many different things. */
export function several<T>(count: number, make: (index: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
