import type { Command } from 'commander';
import { problem, refuse } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import { maskText } from '../../util/redact.ts';
import { didYouMean } from '../../util/suggest.ts';
import { proseWidth, table } from '../../util/table.ts';
import { codePages, guides, type Page, placesOf, providerPages } from '../pages.ts';
import { pageText } from './page-text.ts';

/** `handbill help TOPIC`: a guide, or what a code of an error means. The help of commands is commander's (program.ts). */
export async function run(
  context: CommandContext,
  _flags: object,
  topics: readonly string[],
  command: Command,
): Promise<void> {
  const width = Math.min(proseWidth(context.width), WIDEST);
  await context.out(await answerTo(topics, command.parent ?? command, { width, colour: context.colour.out }));
}

/** Lines longer than this are hard to read. */
const WIDEST = 100;

type Shown = Parameters<typeof pageText>[1];

async function answerTo([first, ...rest]: readonly string[], program: Command, shown: Shown): Promise<string> {
  if (first === undefined) return program.helpInformation();
  const kind = KINDS[first.replace(/s$/, '')];
  if (kind !== undefined && rest.length === 0) return kind.all(shown);
  const name = (kind === undefined ? [first, ...rest] : rest).join(' ');
  const pages = kind?.pages() ?? [...guides(), ...codePages(), ...providerPages()];
  const page = pages.find((one) => one.name === name);
  const { meaningsOf } = await import('./meanings.ts');
  const meanings = kind === undefined ? meaningsOf(name) : [];
  if (meanings.length > 0) return pageText([`# ${name}`, ...meanings, page?.markdown ?? ''].join('\n\n'), shown);
  const places = page !== undefined || kind !== undefined ? [] : placesOf(name);
  const [place = page] = places;
  if (place === undefined) throw unknown(name, kind, pages, kind === undefined ? program.commands : []);
  if (places.length <= 1) return pageText(place.markdown, shown);
  return `It is in these guides:\n\n${listed(
    places.map(({ guide, title }) => ({ name: guide, title })),
    shown,
  )}`;
}

interface Kind {
  /** In a sentence. */
  readonly name: string;
  readonly hint?: string;
  pages(): readonly Page[];
  all(shown: Shown): string;
}

/** By the word before its name. */
const KINDS: Readonly<Record<string, Kind>> = {
  guide: {
    name: 'guide',
    pages: guides,
    all: (shown) => listed(guides(), shown),
  },
  provider: {
    name: 'provider',
    hint: '`handbill help providers` lists them, `handbill help wire` shows how to write a file for another API.',
    pages: providerPages,
    all: (shown) => pageText(guides().find(({ name }) => name === 'providers')?.markdown ?? '', shown),
  },
};

function listed(pages: readonly Pick<Page, 'name' | 'title'>[], { width }: Shown): string {
  const rows = pages.map(({ name, title }) => [name, title]);
  return `${table(rows, [{}, { shrink: true }], { width, indent: 2 })}\nhandbill help guide NAME shows one.\n`;
}

function unknown(name: string, kind: Kind | undefined, pages: readonly Page[], commands: readonly Command[]): Error {
  const found = didYouMean(name, [...commands.map((one) => one.name()), ...pages.map((page) => page.name)]);
  const hint = found.hint ?? kind?.hint ?? LISTS;
  const what = kind?.name ?? 'command, guide, provider or code of an error';
  return refuse(problem('usage', `There is no ${what} "${maskText(name)}".`, { hint }));
}

const LISTS = '`handbill help` lists the commands, `handbill help guides` the guides.';
