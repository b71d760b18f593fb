import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { golden } from '../helpers/golden.ts';
import { fixture, interpret, said } from './reading.ts';

golden('each body of a provider is read whole', 'webhook/interpret', (name) => {
  const { events, problems } = interpret(fixture(name));
  return [...problems, ...events.map(said)];
});

it('every fixture is read here', () => {
  const names = readdirSync(join(import.meta.dirname, '..', 'fixtures', 'webhook'));
  const read = readFileSync(join(import.meta.dirname, '..', 'golden', 'webhook', 'interpret.txt'), 'utf8');
  for (const name of names.filter((one) => /\.(?:json|jsonl|form)$/.test(one))) expect(read).toContain(`=== ${name}\n`);
});
