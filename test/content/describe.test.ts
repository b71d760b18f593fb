import { expect, it } from 'vitest';
import { describeContent } from '../../src/content/describe.ts';
import type { Channel } from '../../src/model.ts';
import { golden } from '../helpers/golden.ts';

golden('content is shown in a terminal as its channel shows it', 'content/describe', (input) => {
  const [channel, text, content] = input.split('\n');
  return describeContent(channel as Channel, JSON.parse(text ?? ''), JSON.parse(content ?? ''));
});

it('shows answers side by side as long as there is room', () => {
  const buttons = Array.from({ length: 11 }, (_, i) => ({ text: `Answer ${i}`, reply: `${i}` }));
  const lines = describeContent('rcs', 'Hi', { buttons });
  expect(lines.slice(1).join('  ')).toBe(buttons.map(({ text }) => `[ ${text} ]`).join('  '));
  expect(lines.length).toBe(4);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(72);
});
