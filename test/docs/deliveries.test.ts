import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandRunner } from '../helpers/here.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

const runCommand = commandRunner();

const PAGE = readFileSync(new URL('../../docs/deliveries.md', import.meta.url), 'utf8');

function blocks(language: string): readonly string[] {
  return [...PAGE.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, name, text = '']) =>
    name === language ? [text] : [],
  );
}

/** The commands of the page in their order, with what they print; in one folder, as a reader would give them. */
describe('docs/deliveries.md', () => {
  let project: TestProject;

  beforeAll(async () => {
    const [people = '', reports = ''] = blocks('csv');
    project = createProject({
      'handbill.yaml': '{}\n',
      'spring/campaign.yaml': blocks('yaml')[0] ?? '',
      'spring/people.csv': people,
      'reports.csv': reports,
    });
    const sent = await runCommand(['send', 'spring', '--quiet'], { cwd: project.root });
    expect(sent).toMatchObject({ status: 0, stderr: '' });
  });
  afterAll(() => project[Symbol.dispose]());

  it('shows what the commands print', async () => {
    const commands = blocks('console').map((block) => /^\$ handbill (.*)\n([\s\S]*)$/.exec(block) ?? []);
    expect(commands.length).toBeGreaterThan(3);
    for (const [, command = '', output = ''] of commands) {
      const { status, stdout, stderr } = await runCommand(command.split(' '), { cwd: project.root });
      expect({ command, status, output: stdout }).toEqual({ command, status: 0, output });
      expect(stderr).toMatch(/^(?:Ledger: \.handbill\/ledger\.db\n|Written: again\.csv \([0-9]+ bytes\)\n)?$/);
    }
    const { stdout } = await runCommand(['report', 'spring', '--format', 'json'], { cwd: project.root });
    expect(JSON.parse(stdout)).toMatchObject({ occurrence: 'again', totals: { recipients: 1, accepted: 1 } });
  });

  it('shows the section of the report', async () => {
    const { stdout } = await runCommand(['runs', '--format', 'json'], { cwd: project.root });
    const { run } = JSON.parse(stdout).runs.find((one: { occurrence: string }) => one.occurrence === 'once');
    const report = await runCommand(['report', run], { cwd: project.root });
    const [section = ''] = blocks('text');
    expect(report.stdout).toContain(section);
  });
});
