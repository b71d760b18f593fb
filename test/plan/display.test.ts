import { describe, expect, it } from 'vitest';
import { validate } from '../../src/operations/validate.ts';
import { compileDisplay } from '../../src/plan/display.ts';
import { createProject } from '../helpers/project.ts';

const labelOf = (columns: readonly string[], cells: readonly string[], text: string | null = null): string | null => {
  const display = text === null ? null : { text, file: 'campaign.yaml', line: 1, column: 1 };
  const campaign = { recipients: { display }, partials: new Map(), locale: 'en', timeZone: 'UTC' } as never;
  return compileDisplay(campaign, columns).display?.labelOf(cells) ?? null;
};

describe('the label of a recipient', () => {
  it.each([
    [['msisdn', 'name'], ['+44', 'Mair Llewellyn'], 'Mair Llewellyn'],
    [['Full Name', 'first_name'], ['Mair Llewellyn', 'Mair'], 'Mair Llewellyn'],
    [['First Name', 'LAST-NAME'], ['Mair', 'Llewellyn'], 'Mair Llewellyn'],
    [['surname', 'forename'], ['Llewellyn', 'Mair'], 'Mair Llewellyn'],
    [['familyName', 'givenName'], ['', 'Mair'], 'Mair'],
    [['first_name'], ['  '], null],
    [['msisdn', 'username', 'filename'], ['+44', 'mair', 'x'], null],
  ])('of the columns %j with %j is %j', (columns, cells, label) => {
    expect(labelOf(columns, cells)).toBe(label);
  });

  it('is what the campaign says, on one line, as a template writes it', () => {
    const [columns, cells] = [
      ['a', 'b', 'name'],
      ["O'Brien <x>", 'Ann\n Marie', 'no'],
    ];
    expect(labelOf(columns, cells, '{{upper a}}, {{b}}{{#if (eq a "x")}}!{{/if}}\n')).toBe("O'BRIEN <X>, Ann Marie");
    // A cell that a helper cannot read leaves the row without a name.
    expect(labelOf(columns, cells, '{{date a "yyyy"}}')).toBeNull();
  });
});

it.each([
  ['{{nosuch}}', 'The columns: msisdn, name.'],
  ['{{nmae}}', 'Did you mean "name"?'],
])('the unknown column of the display %s is named with its setting, and the hint says %s', (text, hint) => {
  const display = { text, file: 'campaign.yaml', line: 1, column: 1 };
  const campaign = { recipients: { display }, partials: new Map(), locale: 'en', timeZone: 'UTC' };
  const { diagnostics } = compileDisplay(campaign, ['msisdn', 'name']);
  const message = `recipients.display: No column is called "${text.slice(2, -2)}".`;
  expect(diagnostics).toEqual([expect.objectContaining({ message, hint })]);
});

it('a display with an unknown column refuses the campaign, with its place', async () => {
  using project = createProject({
    'handbill.yaml': '',
    'campaigns/hello/people.csv': 'msisdn,first_name\n+447700900001,Mair\n',
    'campaigns/hello/campaign.yaml':
      'name: hello\nchannel: sms\ntemplate: { text: Hi }\nrecipients: { csv: people.csv, display: "{{frist_name}}" }\n',
  });
  const { diagnostics } = await validate([], { cwd: project.root, env: {} });
  const [error] = diagnostics.filter(({ severity }) => severity === 'error');
  expect(error).toMatchObject({ code: 'unknown-name', at: { line: 4, column: 44 } });
  expect(error?.hint).toContain('first_name');
});
