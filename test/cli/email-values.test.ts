import { describe, expect, it } from 'vitest';
import { createProject } from '../helpers/project.ts';
import { handbillHere } from './in-process.ts';

/** A campaign of emails with one row, and what its preview says. */
async function preview(content: string, cells: Readonly<Record<string, string>>, html = '<p>Hello</p>') {
  const header = ['email', ...Object.keys(cells)].join(',');
  const row = ['ada@example.com', ...Object.values(cells).map((one) => `"${one}"`)].join(',');
  using project = createProject({
    'campaigns/news/campaign.yaml': `name: news\nchannel: email\nfrom: office@riverside.example\nrecipients: people.csv\ncontent:\n  html: news.html\n${content}`,
    'campaigns/news/news.html': html,
    'campaigns/news/people.csv': `${header}\n${row}\n`,
  });
  return await handbillHere(project.root, ['preview', 'news', '--format', 'jsonl']);
}

describe('the address to unsubscribe', () => {
  const header = async (address: string, cells: Readonly<Record<string, string>>): Promise<string> => {
    const { out, err } = await preview(`  subject: News\n  unsubscribe:\n    ${address}\n`, cells);
    const found = /List-Unsubscribe\\?":\\?"([^"\\]*)/.exec(out)?.[1];
    return found ?? err;
  };

  it.each([
    ['a path', '../../admin', 'https://r.example/u/..%2F..%2Fadmin/x'],
    ['a query', 'x?y=1#z', 'https://r.example/u/x%3Fy%3D1%23z/x'],
    ['backslashes', 'a\\..\\b', 'https://r.example/u/a%5C..%5Cb/x'],
    ['what is encoded already', '%2e%2e', 'https://r.example/u/%252e%252e/x'],
    ['blanks', 'a b', 'https://r.example/u/a%20b/x'],
    ['a plain word', 'tok-1_2.3~', 'https://r.example/u/tok-1_2.3~/x'],
  ])('keeps its path where a value holds %s', async (_label, tok, expected) => {
    for (const tag of ['{{tok}}', '{{{tok}}}', '{{url tok}}', "{{default tok 'x'}}", '{{#if tok}}{{tok}}{{/if}}']) {
      expect(await header(`url: "https://r.example/u/${tag}/x"`, { tok }), tag).toBe(`<${expected}>`);
    }
  });

  it.each(['..', '.'])('is refused where a value is %s, which would leave its path', async (tok) => {
    expect(await header('url: "https://r.example/u/{{tok}}"', { tok })).toContain('is not one that mail programs call');
  });

  it('may come from the list as a whole, and continue', async () => {
    const cells = { base: 'https://r.example/a?b=c', tok: 'x&y' };
    expect(await header('url: "{{base}}&t={{tok}}"', cells)).toBe('<https://r.example/a?b=c&t=x%26y>');
  });

  it('is no other mailbox by a value', async () => {
    const cells = { tok: 'a@evil.example?cc=b' };
    for (const at of ['u+{{tok}}@r.example', '{{tok}}@r.example']) {
      expect(await header(`mailto: "${at}"`, cells)).toContain('a%40evil.example%3Fcc%3Db@r.example>');
    }
    expect(await header('mailto: "{{box}}"', { box: 'u@r.example' })).toBe('<mailto:u@r.example>');
  });
});

describe('an email whose list decides more than its words', () => {
  const warnings = async (html: string): Promise<readonly string[]> => {
    const { err, status } = await preview('  subject: News\n', { tok: 'x', link: 'https://r.example' }, html);
    expect(status, err).toBe(0);
    return [...err.matchAll(/([^ \n/]+): warning\[value-in-html\]|warning\[value-in-html\]/g)].map((one) => one[0]);
  };

  it.each([
    '<p>{{{tok}}}</p>',
    '<p>{{&tok}}</p>',
    '<p>{{{upper tok}}}</p>',
    '<p>{{#if tok}}{{{tok}}}{{/if}}</p>',
    '<a href="{{link}}">x</a>',
    "<a class=x HREF = '{{link}}/y'>x</a>",
    '<a href={{default link "https://r.example"}}>x</a>',
    '<a href="{{#if tok}}{{link}}{{else}}https://r.example{{/if}}">x</a>',
  ])('warns: %s', async (html) => {
    expect(await warnings(html)).toHaveLength(1);
  });

  it.each([
    '<p>{{tok}} {{{date "2026-01-02"}}}</p>',
    '<a href="https://r.example/{{tok}}">{{link}}</a>',
    '<a href="https://r.example/?{{url tok}}">x</a>',
    '<p title="{{tok}}">x</p>',
  ])('does not: %s', async (html) => {
    expect(await warnings(html)).toEqual([]);
  });
});

it('a value is no encoded word of a subject', async () => {
  const { err, status } = await preview("  subject: 'Hello {{tok}}'\n", { tok: '=?utf-8?q?evil?=' });
  expect(status).toBe(2);
  expect(err).toContain('encoded word');
});
