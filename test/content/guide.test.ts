import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { parse } from 'yaml';
import { validatorOf } from '../../src/campaign/validators.ts';
import { checkContent } from '../../src/content/channels.ts';
import { describeContent } from '../../src/content/describe.ts';
import { CAROUSEL_LIMITS, LIST_LIMITS, MESSAGING_APP_LIMITS } from '../../src/content/messaging-app.ts';
import { RCS_LIMITS } from '../../src/content/rcs.ts';
import type { Channel, Json, JsonObject } from '../../src/model.ts';

const read = (page: string): string => readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8');
const GUIDE = read('content.md');
const PAGES = ['content.md', 'channels.md', 'email.md'].map(read).join('\n');

interface Example {
  readonly name: string;
  readonly channel: Channel;
  readonly content: Readonly<Record<string, Json>>;
}

const examples = [...PAGES.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)]
  .map(([, yaml = '']) => parse(yaml) as Example)
  .filter(({ content }) => content !== undefined);

/** Texts with expressions, and files, are not known. */
function known(value: Json, key = ''): Json {
  if (typeof value === 'string') return value.includes('{{') || key === 'html' ? null : value;
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item: Json) => known(item));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, known(inner, name)]));
}

describe('the examples of docs/content.md and the pages of channels', () => {
  it('show each channel with content', () => {
    expect(examples.map(({ channel }) => channel)).toEqual(
      expect.arrayContaining(['rcs', 'messaging-app', 'email', 'voice']),
    );
  });

  test.each(examples)('$name can be sent', (example) => {
    const validate = validatorOf('campaign');
    expect(validate(example), JSON.stringify(validate.errors?.map((e) => e.instancePath))).toBe(true);
    const { text, ...content } = known(example.content) as Readonly<Record<string, Json>>;
    expect(checkContent(example.channel, content, text as string | null | undefined)).toEqual([]);
  });

  it('and the preview are of one message', () => {
    const { text, ...content } = examples[0]?.content ?? {};
    const filled = String(text).replace('{{first_name}}', 'Ada').replace('{{visit_day}}', 'Monday');
    expect(GUIDE).toContain(`\`\`\`text\n${describeContent('messaging-app', filled, content).join('\n')}\n\`\`\``);
  });

  it('of buttons are buttons', () => {
    const buttons = [...GUIDE.matchAll(/^\| `(\{ text: .* \})` \|/gm)].map(
      ([, yaml = '']) => parse(yaml) as JsonObject,
    );
    expect(buttons).toHaveLength(6);
    expect(checkContent('rcs', { buttons }, 'Hi')).toEqual([]);
  });
});

describe('the tables of limits', () => {
  test.each([
    ['RCS', RCS_LIMITS],
    ['Messaging app', { ...MESSAGING_APP_LIMITS, ...LIST_LIMITS, ...CAROUSEL_LIMITS }],
  ])('have every figure of %s', (section, limits) => {
    const table =
      read('channels.md')
        .split(/^## /m)
        .find((text) => text.startsWith(`${section}\n`))
        ?.match(/^\|.*$/gm)
        ?.join('\n') ?? '';
    for (const [what, figure] of Object.entries(limits)) expect(table, what).toMatch(new RegExp(`\\b${figure}\\b`));
  });
});
