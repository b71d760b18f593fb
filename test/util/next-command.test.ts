import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { envWords, nextCommand, runAt } from '../../src/util/next-command.ts';

describe('a next command', () => {
  it('is as short as can be where the user named no place', () => {
    expect(nextCommand('send', 'hello', ...envWords('sandbox'))).toBe('handbill send hello');
    expect(nextCommand('send', 'hello', ...envWords('live'))).toBe('handbill send hello --env live');
  });

  it('repeats --ledger, and is quoted for a shell', () => {
    const command = runAt({ ledger: 'my ledgers/a.db' }, () =>
      nextCommand('send', "it's one", '--recipients', 'a b.csv'),
    );
    expect(command).toBe(`handbill send 'it'\\''s one' --recipients 'a b.csv' --ledger 'my ledgers/a.db'`);
  });

  it('shows no password of a shared ledger', () => {
    const at = (ledger: string) => runAt({ ledger }, () => nextCommand('report'));
    expect(at('postgres://ann@db.example/h')).toBe('handbill report --ledger postgres://ann@db.example/h');
    expect(at('postgres://ann:pw-of-ann@db.example/h')).toBe('handbill report --ledger postgres://db.example/h');
    expect(at('postgres://db.example/h?sslpassword=pw-of-ann')).not.toContain('pw-of-ann');
  });

  it('names the sandbox where HANDBILL_ENV would choose another environment', () => {
    expect(runAt({ environment: 'live' }, () => nextCommand('send', 'hello', ...envWords('sandbox')))).toBe(
      'handbill send hello --env sandbox',
    );
  });

  it('goes with each call, also where several run at once', async () => {
    const at = (ledger: string) =>
      runAt({ ledger }, async () => {
        await new Promise((done) => setTimeout(done, 1));
        return nextCommand('runs');
      });
    expect(await Promise.all([at('a.db'), at('b.db')])).toEqual([
      'handbill runs --ledger a.db',
      'handbill runs --ledger b.db',
    ]);
  });

  it('is written by this one function: no source puts one together from parts', () => {
    const src = join(import.meta.dirname, '..', '..', 'src');
    const found = readdirSync(src, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => {
        const text = readFileSync(join(src, name), 'utf8');
        return [
          ...text.matchAll(
            /\bhandbill (?!help\b)[a-z]+(?: [a-z]+)?(?: --?[a-z-]+)+ \$\{|`handbill (?:send|report|doubt list|runs close|preview|rehearse|approve|plan|resume) \$\{/g,
          ),
        ].map(([match]) => `${name}: ${match}`);
      });
    expect(found).toEqual([]);
  });
});
