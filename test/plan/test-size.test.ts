import { describe, expect, it } from 'vitest';
import { plan } from '../../src/operations/plan.ts';
import { preview } from '../../src/operations/preview.ts';
import { validate } from '../../src/operations/validate.ts';
import { handbillHere } from '../cli/in-process.ts';
import { createProject } from '../helpers/project.ts';

const CAMPAIGN = `name: sale
channel: sms
from: Riverside
recipients: people.csv
variants: [{ name: A, template: { text: A } }, { name: B, template: { text: B } }]
test: 20%
`;

const projectOf = (more: string, rows: number) =>
  createProject({
    'sale/campaign.yaml': `${CAMPAIGN}${more}`,
    'sale/people.csv': `msisdn\n${Array.from({ length: rows }, (_, i) => `+4474001${String(i).padStart(5, '0')}\n`).join('')}`,
  });

async function codesOf(more: string, rows: number): Promise<readonly string[]> {
  using project = projectOf(more, rows);
  const { diagnostics } = await validate(['sale'], { cwd: project.root });
  return diagnostics.map(({ code }) => code);
}

describe('a test with fewer messages than winner.minimum', () => {
  it('is warned about by validate, preview and plan, with both numbers and what to change', async () => {
    using project = projectOf('winner: { by: replied }\n', 202);
    const { estimate } = await plan('sale', { cwd: project.root });
    const { A = 0, B = 0 } = estimate.variants;
    const found = (await validate(['sale'], { cwd: project.root })).diagnostics;
    expect(found).toMatchObject([
      {
        code: 'test-too-small',
        severity: 'warning',
        message: `The test has ${A} of "A" and ${B} of "B"; winner.minimum asks for 50 of each, so that no variant can win.`,
        hint: `Set \`test\` to ${Math.ceil(1000 / Math.min(A, B))}% or more, or set \`winner.minimum\` to ${Math.min(A, B)} or less.`,
      },
    ]);
    expect((await preview('sale', { cwd: project.root }).result()).warnings).toMatchObject([found[0]]);
    const { err } = await handbillHere(project.root, ['plan', 'sale', '-o', 'sale.json'], { width: 200 });
    expect(err).toContain('warning[test-too-small]');
  });

  it.each([
    ['a smaller minimum', 'winner: { by: replied, minimum: 10 }\n', 202, []],
    ['a longer list', 'winner: { by: replied }\n', 700, []],
    ['a winner that a person names', 'winner: { by: manual }\n', 202, []],
    ['a list that is too short for any test', 'winner: { by: replied }\n', 40, ['test-too-small']],
  ])('%s', async (_label, more, rows, codes) => {
    expect(await codesOf(more, rows)).toEqual(codes);
  });
});
