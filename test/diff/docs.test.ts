import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandRunner } from '../helpers/here.ts';
import { createRepository } from './repository.ts';

const runCommand = commandRunner();

const PAGE = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'diff.md'), 'utf8');

const block = (language: string) => new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(PAGE)?.[1] ?? '';

test('docs/diff.md shows what the command prints', async () => {
  const [campaign, list] = [block('yaml'), block('csv')];
  using repository = createRepository({
    'handbill.yaml': '{}\n',
    'campaigns/hello/campaign.yaml': campaign,
    'campaigns/hello/people.csv': list,
  });
  repository.git('checkout', '-q', '-b', 'work');
  repository.write({
    'campaigns/hello/campaign.yaml': `${campaign.replace('Hello', 'Hi')}send: { rate: 10/s }\n`,
    'campaigns/hello/people.csv': list.replace('20 EUR', '25 EUR').replace('+447700900013,Zoe', '+447700900014,Mei'),
  });
  const [command = '', ...output] = block('console').split('\n');
  const { stdout, stderr, status } = await runCommand(command.replace('$ handbill ', '').split(' '), {
    cwd: repository.root,
  });
  expect([stdout, stderr, status]).toEqual([output.join('\n'), '', 0]);
});
