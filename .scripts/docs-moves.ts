/** The section of docs/reference/outcomes.md that is made of the table of moves; the rest of the page is written by hand. */
import { readFileSync } from 'node:fs';
import { CONDITIONS, MOVES } from '../src/ledger/moves.ts';
import { table } from './docs-markdown.ts';

const TITLE = '## Which state may follow which';

export function movesPage(): string {
  const page = readFileSync(new URL('../docs/reference/outcomes.md', import.meta.url), 'utf8');
  const [before = ''] = page.split(TITLE);
  const rows = MOVES.filter(({ why }) => why !== null).map(({ from, to, why, only = [] }) => [
    `\`${from}\``,
    `\`${to}\``,
    why ?? '',
    only.map((name) => CONDITIONS[name].words).join('; '),
  ]);
  return `${before.trimEnd()}\n\n${TITLE}\n\n${INTRO}\n\n${table(['from', 'to', 'why', 'only if'], rows)}\n`;
}

const INTRO = `The database itself refuses every other move, so that a bug in handbill cannot make it. \`claimed\` is the state of a
recipient whose request is about to be made or under way; reports show it as \`pending\`, and as \`in-doubt\` after a kill.`;
