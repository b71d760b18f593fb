import { expect, it } from 'vitest';
import { diagnosticLines, golden } from '../helpers/golden.ts';
import { check, SMALLEST, visible } from './helper.ts';

golden('each mistake is one error, at its place, with what to write', 'campaign/mistakes', (input, label) => {
  const kind = label.startsWith('handbill.yaml') ? 'project' : 'campaign';
  const isPart = !label.startsWith('campaign: ') && kind === 'campaign';
  const { diagnostics } = check(kind, isPart ? `${SMALLEST}${input}\n` : input);
  if (visible(diagnostics).includes('SEKRET')) return 'the key is shown';
  const lines = diagnosticLines(diagnostics, 'file.yaml');
  return isPart && diagnostics.some(({ source }) => source !== input) ? [...lines, 'the line is not shown'] : lines;
});

it('a campaign of the smallest kind is good', () => expect(check('campaign', SMALLEST).diagnostics).toEqual([]));

it('a campaign with 300 KB in a field is refused', () => {
  const long = `${'a'.repeat(300_000)}!`;
  for (const line of ['name', 'messageType', 'locale', 'validity', 'accountReference', long]) {
    const { diagnostics } = check('campaign', `${line}: "${long}"\n`);
    expect(diagnostics.length).toBeGreaterThan(0);
    for (const d of diagnostics)
      expect(d.message.length + (d.hint?.length ?? 0), d.message.slice(0, 80)).toBeLessThan(500);
  }
});
