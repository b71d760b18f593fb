import { writeFileSync } from 'node:fs';
import { expect, it, test } from 'vitest';
import { reconcileText } from '../../src/cli/reconcile/command.ts';
import { takeFiles } from '../../src/operations/reconcile.ts';
import { placelessOptOut } from '../../src/operations/warnings.ts';
import { createProject } from '../helpers/project.ts';

test.each([
  ['07700 900123', true],
  ['(020) 7946-0000', true],
  ['447700900123', true],
  ['+447700900123', false],
  ['ann@example.com', false],
  ['c-1', false],
  ['12', false],
])('an opt-out from %s matches no recipient: %s', (address, isPlaceless) => {
  expect(placelessOptOut([address]) !== null).toBe(isPlaceless);
});

it('is said with what to do, and not where the country is known', async () => {
  const said = async (project: string) => {
    using here = createProject({ 'handbill.yaml': project });
    writeFileSync(here.path('replies.csv'), 'from,to,text\n07700 900123,12345,STOP\n');
    return reconcileText(await takeFiles(['replies.csv'], { cwd: here.root, env: {} }));
  };
  expect(await said('locale: en\n')).toMatch(/An opt-out came from a number without a country code.*defaultCountry/);
  expect(await said('defaultCountry: GB\n')).not.toContain('country code');
});
