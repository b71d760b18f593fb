/** Stores similar long texts as differences. Deflate searches only 32 KB back, and one email can be longer. */

/** Runs of the first text, as the index of a token and how many, and text that is not in it. */
export type Delta = readonly (readonly [at: number, count: number] | string)[];

export interface Base {
  readonly tokens: readonly string[];
  readonly places: ReadonlyMap<string, number>;
}

export function tokensOf(text: string): readonly string[] {
  return text.match(TOKEN) ?? [];
}

const TOKEN = /[^<>]+[<>]?|[<>]/g;

export function baseOf(text: string): Base {
  const tokens = tokensOf(text);
  const places = new Map<string, number>();
  for (const [i, token] of tokens.entries()) if (!places.has(token)) places.set(token, i);
  return { tokens, places };
}

/** Greedy, in one pass. */
export function deltaOf(text: string, { tokens, places }: Base): Delta {
  const delta: ([at: number, count: number] | string)[] = [];
  let expected = 0;
  for (const token of tokensOf(text)) {
    // After a changed token, the next ones usually continue where the base does.
    const at = tokens[expected] === token ? expected : (places.get(token) ?? -1);
    const last = delta.at(-1);
    if (at === -1) {
      if (typeof last === 'string') delta[delta.length - 1] = last + token;
      else delta.push(token);
      expected += 1;
      continue;
    }
    if (typeof last === 'object' && last[0] + last[1] === at) last[1] += 1;
    else delta.push([at, 1]);
    expected = at + 1;
  }
  return delta;
}

export function applyDelta(delta: Delta, tokens: readonly string[]): string {
  let text = '';
  for (const step of delta) {
    text += typeof step === 'string' ? step : tokens.slice(step[0], step[0] + step[1]).join('');
  }
  return text;
}

/* Between rows, and between the fields of a row: no text of a list needs them, and JSON never holds them raw. */

export const ROW_END = '\u001e';
export const FIELD_END = '\u001f';
