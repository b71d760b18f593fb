import type { Command } from 'commander';
import { problem, refuse } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import { maskText } from '../../util/redact.ts';
import { didYouMean } from '../../util/suggest.ts';
import { proseWidth, table } from '../../util/table.ts';
import { codePages, guides, placesOf } from '../pages.ts';
import { addExamples } from '../shared/options.ts';
import { pageText } from './page-text.ts';

/** `handbill help TOPIC`: a guide, or what a code of an error means. The help of commands is commander's (program.ts). */
export function configure(command: Command, context: CommandContext): void {
  command.usage('[topic...]').argument('[topic...]', 'a command, a guide, or the code of an error');
  addExamples(command, [
    ['handbill help send', 'the options of a command'],
    ['handbill help guides', 'the guides, a line each'],
    ['handbill help windows', 'a guide'],
    ['handbill help voice', 'a section of a guide, or the guides that have the word'],
    ['handbill help guide preview', 'a guide that is named as a command is'],
    ['handbill help missing-variable', 'what an error means, with an example'],
  ]).action(async (topics: readonly string[]) => {
    const width = Math.min(proseWidth(context.width), WIDEST);
    await context.out(answerTo(topics, command.parent ?? command, { width, colour: context.colour.out }));
  });
}

/** Lines longer than this are hard to read. */
const WIDEST = 100;

interface Shown {
  readonly width: number;
  readonly colour: boolean;
}

function answerTo([first, ...rest]: readonly string[], program: Command, shown: Shown): string {
  if (first === undefined) return program.helpInformation();
  const isGuide = first === 'guide' || first === 'guides';
  if (isGuide && rest.length === 0) return list(shown);
  const name = (isGuide ? rest : [first, ...rest]).join(' ');
  const page =
    guides().find((guide) => guide.name === name) ?? codePages().find((code) => !isGuide && code.name === name);
  const places = page !== undefined || isGuide ? [] : placesOf(name);
  const [place = page] = places;
  if (place === undefined) throw unknown(name, isGuide ? [] : program.commands.map((one) => one.name()));
  return places.length > 1 ? listPlaces(places, shown) : pageText(place.markdown, shown);
}

function listPlaces(places: ReturnType<typeof placesOf>, { width }: Shown): string {
  const rows = places.map(({ guide, title }) => [guide, title]);
  return `It is in these guides:\n\n${table(rows, [{}, { shrink: true }], { width, indent: 2 })}\nhandbill help guide NAME shows one.\n`;
}

function list({ width }: Shown): string {
  const rows = guides().map(({ name, title }) => [name, title]);
  return `${table(rows, [{}, { shrink: true }], { width, indent: 2 })}\nhandbill help guide NAME shows one.\n`;
}

/** @param commands - their names; none where only a guide was asked for */
function unknown(name: string, commands: readonly string[]): Error {
  const codes = commands.length === 0 ? [] : codePages();
  const found = didYouMean(name, [...commands, ...[...guides(), ...codes].map((page) => page.name)]);
  const hint = found.hint ?? '`handbill help` lists the commands, `handbill help guides` the guides.';
  const what = commands.length === 0 ? 'guide' : 'command, guide or code of an error';
  return refuse(problem('usage', `There is no ${what} "${maskText(name)}".`, { hint }));
}
