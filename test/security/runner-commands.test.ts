import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { withoutCommands } from '../../src/util/escape.ts';
import { handbillHere } from '../cli/in-process.ts';
import { readCommands } from '../cli/validation-readers.ts';
import { runCli } from '../helpers/cli.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

/*
 * A CI runner obeys lines of a log. A person who fills a cell or names a folder must not write one, on either stream of any
 * command, and whatever the environment says.
 */

/** What GitHub Actions, Azure DevOps and TeamCity take for a command, with what they do not see left out. */
function commandsIn(text: string): readonly string[] {
  const seen = text.replace(/\p{Default_Ignorable_Code_Point}/gu, '');
  return seen.match(/^[^\S\n]*::.*$|##(?:vso|teamcity)?\[.*$/gim) ?? [];
}

describe('a text', () => {
  it.each([
    ['a command', '::error::x', ': :error::x'],
    ['one after spaces', 'a\n   ::set-output name=x::y', 'a\n   : :set-output name=x::y'],
    ['one after a blank line and a no-break space', 'a\n\n\u00a0::x', 'a\n\n\u00a0: :x'],
    ['one of old', 'a ##[error]x', 'a ## [error]x'],
    ['one of Azure DevOps', 'a ##vso[task.prependpath]/tmp', 'a ## vso[task.prependpath]/tmp'],
    ['in capitals', '##VsO[x]', '## VsO[x]'],
    ['one of TeamCity', "##teamcity[setParameter name='x']", "## teamcity[setParameter name='x']"],
    ['more signs', '####vso[x]', '#### vso[x]'],
    ['two in a row', '##[##vso[x]', '## [## vso[x]'],
    ['colons in a line', 'a::b ::c', 'a::b ::c'],
    ['a heading', '## Heading [x]', '## Heading [x]'],
  ])('%s', (_label, text, harmless) => {
    expect(withoutCommands(text)).toBe(harmless);
    expect(commandsIn(withoutCommands(text))).toEqual([]);
    expect(readCommands(withoutCommands(text)).commands).toEqual([]);
  });

  it.each(['\u00ad', '\u200b', '\u2060', '\ufe0f', '\u{e0061}'])('with an invisible character: %j', (sign) => {
    for (const word of ['::x', '##[x]', '##vso[x]', '##teamcity[x]']) {
      const text = [...word].join(sign);
      expect(commandsIn(withoutCommands(`${sign}${text}`))).toEqual([]);
    }
  });

  it('is read in time, however many signs it has', () => {
    for (const sign of ['#', ':', '\ufeff', ' ', '\n', '\u200b']) {
      expect(commandsIn(withoutCommands(`${sign.repeat(200_000)}x`))).toEqual([]);
    }
  });
});

const EVIL = ['##vso[task.prependpath]/tmp/evil', '##[set-output name=x]v', '##teamcity[x]', '::add-mask::x'];
const FOLDER = '::add-mask::x';
let project: TestProject;

beforeAll(async () => {
  const campaign = (name: string): string =>
    `name: ${name}\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{first}}" }\nrecipients: { csv: people.csv, key: key }\nwindow: null\n`;
  const rows = EVIL.map((text, i) => `+44740012345${i},"${text}","${text} ${i}"`).join('\n');
  project = createProject({
    'handbill.yaml': '{}\n',
    [`${FOLDER}/campaigns/a/campaign.yaml`]: campaign('good').replace('window: null\n', ''),
    [`${FOLDER}/campaigns/a/people.csv`]: `msisdn,first,key\n${rows}\n`,
    [`${FOLDER}/campaigns/b/campaign.yaml`]: campaign('bad').replace('window: null\n', ''),
    [`${FOLDER}/campaigns/b/people.csv`]: `msisdn,first,key\n${EVIL.map((text) => `"${text}",x,${text}`).join('\n')}\n`,
    'optouts.csv': `address\n${EVIL.join('\n')}\n`,
  });
  const sent = await handbillHere(project.root, ['send', good(), '--yes']);
  expect(sent.err + sent.out).toContain('4');
});
afterAll(() => project[Symbol.dispose]());

const good = (): string => `./${FOLDER}/campaigns/a`;
const bad = (): string => `./${FOLDER}/campaigns/b`;

describe('no command prints one', () => {
  const lines: readonly [string, () => readonly string[]][] = [
    ['validate', () => ['validate', `./${FOLDER}`]],
    ['validate of bad rows', () => ['validate', bad()]],
    ['validate to a file', () => ['validate', bad(), '--format', 'junit', '-o', 'junit.xml']],
    ['preview', () => ['preview', good()]],
    ['preview to a file', () => ['preview', bad(), '--format', 'html', '-o', 'page.html', '--quiet']],
    ['plan of bad rows', () => ['plan', bad()]],
    ['send of bad rows', () => ['send', bad(), '--yes']],
    ['a dry run', () => ['send', good(), '--dry-run', '--occurrence', 'two']],
    ['report', () => ['report']],
    ['runs', () => ['runs']],
    ['due', () => ['due', '--dry-run', `./${FOLDER}`]],
    ['doctor', () => ['doctor', good()]],
    ['suppress add', () => ['suppress', 'add', '--file', 'optouts.csv']],
    ['suppress check', () => ['suppress', 'check', ...EVIL]],
    ['person', () => ['person', EVIL[0] ?? '']],
    ['an unknown campaign', () => ['send', EVIL[0] ?? '']],
    ['an unknown option', () => ['send', `--${EVIL[0]}`]],
  ];
  test.each(lines)('%s', async (_label, args) => {
    const { stdout, stderr } = await runCli(args(), { cwd: project.root });
    expect(stdout + stderr).not.toBe('');
    expect(commandsIn(stdout)).toEqual([]);
    expect(commandsIn(stderr)).toEqual([]);
  });
});

it('a format for programs stays exact', async () => {
  const { out } = await handbillHere(project.root, ['preview', good(), '--format', 'jsonl']);
  for (const text of EVIL) expect(out).toContain(text);
  const plan = await handbillHere(project.root, ['plan', good(), '--occurrence', 'three']);
  expect(plan.out).toContain(`${FOLDER}/campaigns/a/people.csv`);
  expect(plan.status).toBe(0);
});
