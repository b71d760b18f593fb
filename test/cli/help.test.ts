import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pageText } from '../../src/cli/help/page-text.ts';
import { codePages, guides, placesOf, providerPages, sections } from '../../src/cli/pages.ts';
import { COMMANDS } from '../../src/cli/table.ts';
import { REASON_WORDS } from '../../src/report/reason-words.ts';
import { DELIVERY_WORDS, OUTCOME_WORDS, STATE_WORDS } from '../../src/report/words.ts';
import { displayWidth } from '../../src/util/table.ts';
import { HELLO, handbill, projectWith } from './run-handbill.ts';

let root = '';
let remove = async (): Promise<void> => undefined;
beforeAll(async () => {
  ({ root, remove } = await projectWith(HELLO));
});
afterAll(() => remove());

describe('handbill help', () => {
  it('lists every guide with its title', async () => {
    const { status, out } = await handbill(root, ['help', 'guides']);
    expect(status).toBe(0);
    const files = readdirSync(join(import.meta.dirname, '../../docs')).filter((name) => /^[^R].*\.md$/.test(name));
    for (const name of files) expect(out).toMatch(new RegExp(`^ {2}${name.slice(0, -3)} +\\S`, 'm'));
  });

  it('shows a guide as text that fits the width', async () => {
    const { status, out, err } = await handbill(root, ['help', 'windows']);
    expect({ status, err }).toEqual({ status: 0, err: '' });
    expect(out).toMatch(/^[A-Z]/);
    expect(out).not.toMatch(/\]\(|^#|^\|/m);
    expect(out).toContain('    window:\n');
  });

  it.each([
    [['help', 'preview'], 'Usage: handbill preview'],
    [['help', 'preview'], 'Guide: handbill help guide preview'],
    [['help', 'suppress', 'add'], 'Usage: handbill suppress add'],
    [['help'], 'Usage: handbill COMMAND'],
  ])('%j shows %s', async (args, says) => {
    const { status, out } = await handbill(root, args);
    expect(status).toBe(0);
    expect(out).toContain(says);
  });

  it('tells a guide from the command of the same name', async () => {
    const { out } = await handbill(root, ['help', 'guide', 'preview']);
    expect(out).not.toContain('Usage:');
    expect(out.split('\n')[0]).toBe(guides().find(({ name }) => name === 'preview')?.title);
  });

  it.each([
    ['fence', /^fence\n\nThe environment sends.*See also: handbill help fences, handbill help diagnostics\n$/s],
    ['bug', /^bug\n\nSomething happened.*Fix: .*\.\n$/s],
  ])('shows what the code %s means, and nothing of the next one', async (code, all) => {
    const { status, out } = await handbill(root, ['help', code]);
    expect(status).toBe(0);
    expect(out).toMatch(all);
    expect(out.match(/^Cause: /gm)).toHaveLength(1);
  });

  it.each([
    [['help', 'wndows'], 'Did you mean "windows"?'],
    [['help', 'guide', 'send'], 'handbill help guides'],
    [['help', 'sendd'], 'Did you mean "send"?'],
    [['help', 'providers', 'twillio'], 'There is no provider "twillio".\n  help: Did you mean "twilio"?'],
    [['help', 'plvo'], 'Did you mean "plivo"?'],
    [['help', 'provider', 'windows'], '`handbill help providers` lists them'],
  ])('of %j the nearest topic is named', async (args, says) => {
    const { status, err } = await handbill(root, args);
    expect(status).toBe(2);
    expect(err).toContain(says);
  });

  it.each([...new Map(sections().map((one) => [one.title, one])).values()].map((one) => [one.title, one] as const))(
    'finds the section %s by its title, or says which guides have it',
    (title, { guide, name, markdown }) => {
      for (const topic of [title, name]) {
        expect(placesOf(topic)).toContainEqual(expect.objectContaining({ guide, title, markdown }));
      }
    },
  );

  it.each([
    ['rcs', /^RCS\n\n/],
    [
      'in-doubt',
      /^in-doubt\n\nAn outcome: may have reached the API, no usable answer\.\n\nSee also: handbill help doubt\n$/,
    ],
    ['suppressed', /^suppressed\n\nA reason: on the suppression list\. Nothing to do, unless/],
    ['rejected', /\n\nAn outcome: .*\n\nA delivery report: /s],
    ['interrupted', /\n\nThe state of a run: it was interrupted\..*told to stop before/s],
    ['voice', /^Voice\n\n/],
    ['pre-commit', /^pre-commit\n\n/],
    ['opt-out', /^Which words opt out\n\n/],
    ['notAfter', /^It is in these guides:\n\n.*\n {2}windows +Send/s],
    ['providers', /^Providers\n\n.*^messages-v2 .*\n46elks +SMS +1 .*^twilio +SMS, RCS, WhatsApp +1 /ms],
    ['providers infobip', /^Infobip SMS\n\n.*host: "xxxxx\.api\.infobip\.com" # Host/s],
    ['provider infobip', /^Infobip SMS\n\n/],
    ['infobip', /^Infobip SMS\n\n/],
    ['Look up', /^It is in these guides:\n\n.*\n {2}webhooks +Look up\n/s],
  ])('%s leads to what a guide says about it', async (topic, says) => {
    const { status, out } = await handbill(root, ['help', ...topic.split(' ')]);
    expect({ status, out }).toEqual({ status: 0, out: expect.stringMatching(says) });
  });

  it('explains each outcome, reason, state and delivery of a report', async () => {
    const all = [OUTCOME_WORDS, REASON_WORDS, STATE_WORDS, DELIVERY_WORDS].flatMap((words) => Object.keys(words));
    for (const word of new Set(all)) {
      const { status, out } = await handbill(root, ['help', word]);
      expect({ status, out }, word).toEqual({ status: 0, out: expect.stringMatching(`^${word}\n\n(?:An?|The) `) });
    }
    for (const word of ['unclear', 'not delivered', 'not-delivered', 'not-sent', 'waiting', 'sent']) {
      expect((await handbill(root, ['help', ...word.split(' ')])).out, word).toContain('In a report');
    }
  });

  it('has a guide for each command that names one', () => {
    const names = guides().map(({ name }) => name);
    for (const { guide } of COMMANDS) if (guide !== undefined) expect(names).toContain(guide);
  });
});

describe('the text of a page', () => {
  it.each([...guides(), ...codePages(), ...providerPages()].map((page) => [page.name, page] as const))(
    '%s: every line of prose fits, and no mark of Markdown is left',
    (_, { markdown }) => {
      const text = pageText(markdown, { width: 80, colour: false });
      expect(text).not.toMatch(/\]\([\w./#-]+\)|^#+ [A-Z]|^\|? ?---/m);
      const code = new Set(
        [...markdown.matchAll(/^```[\s\S]*?^```/gm)].flatMap(([block]) => block.split('\n')).map((line) => line.trim()),
      );
      for (const line of text.split('\n')) {
        if (displayWidth(line) <= 80 || code.has(line.trim())) continue;
        // Only what cannot be broken: an address, a command without blanks.
        expect(line.trim().split(' ').length, line).toBeLessThan(3);
      }
    },
  );

  it('has bold titles where there is colour, and the same words', () => {
    const coloured = pageText('# Title\n\nSome *words* with `code`, and [a page](windows.md).\n', {
      width: 80,
      colour: true,
    });
    expect(coloured).toContain('\u001b[1mTitle');
    expect(stripVTControlCharacters(coloured)).toBe(
      'Title\n\nSome words with `code`, and a page.\n\nSee also: handbill help windows\n',
    );
  });

  it('leads to the code or the command that a link to its section names', () => {
    const text = pageText(
      '[a](diagnostics.md#unknown-name), [b](../diagnostics.md#clock), [d](commands.md#handbill-due), [c](x.md#part)\n',
      {
        width: 200,
        colour: false,
      },
    );
    expect(text).toContain(
      'See also: handbill help unknown-name, handbill help clock, handbill help due, handbill help x\n',
    );
  });

  it('is lists and tables in columns', () => {
    const text = pageText('1. one\n2. two\n   - deep\n\n| a | b |\n|---|---|\n| `x` | y |\n', {
      width: 40,
      colour: false,
    });
    expect(text).toBe('1. one\n2. two\n   - deep\n\na    b\n`x`  y\n');
  });
});
