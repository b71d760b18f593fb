import { CHANNEL_TABLE, CHANNELS, type Channel } from '../../content/channels.ts';
import { EXIT, problem, refuse } from '../../errors.ts';
import type { CommandContext } from '../../operations/context.ts';
import {
  countryFault,
  DEFAULT_ANSWERS,
  defaultSender,
  INIT,
  type InitOptions,
  type InitResult,
  init,
  normalCountry,
  providersWith,
  senderFault,
} from '../../operations/init.ts';
import type { OptionTable } from '../../operations/options.ts';
import { safeLine } from '../../util/escape.ts';
import { displayPath } from '../../util/paths.ts';
import type { Flags } from '../shared/options.ts';
import { askSelect, askText } from '../shared/prompt.ts';

export const FLAGS = {
  ...INIT,
  yes: { flag: '--yes', says: 'ask nothing: defaults for whatever is not given' },
} as const satisfies OptionTable;

type Given = Flags<typeof FLAGS>;

export async function run(context: CommandContext, given: Given, folder: string): Promise<void> {
  const answers = await answersOf(given, context);
  if (answers === null) throw refuse(problem('not-confirmed', 'Nothing was made: the questions were not answered.'));
  const result = await init(folder, { ...given, ...answers, cwd: context.cwd });
  await context.out(initText(result, context.cwd));
  context.exit(EXIT.done);
}

/** The options, then answers of the user, or defaults without a terminal. Null: the user cancelled. */
async function answersOf(given: Given, context: CommandContext): Promise<InitOptions | null> {
  const asks = given.yes !== true && context.interactive;
  const channel = given.channel ?? (asks ? await askChannel(context) : DEFAULT_ANSWERS.channel);
  if (channel === null) return null;
  const written = given.country ?? (asks ? await askCountry(context) : DEFAULT_ANSWERS.country);
  if (written === null) return null;
  const country = normalCountry(written);
  const provider = given.provider ?? (asks ? await askProvider(channel, context) : LATER);
  if (provider === null) return null;
  const initial = defaultSender(channel, country, provider);
  const typed = given.from ?? (asks ? await askSender(channel, initial, context) : initial);
  if (typed === null) return null;
  const from = typed === initial ? {} : { from: typed };
  const campaign = given.campaign ?? DEFAULT_ANSWERS.campaign;
  return { campaign, channel, country, ...from, ...(provider === LATER ? {} : { provider }) };
}

const LATER = '';

async function askProvider(channel: Channel, context: CommandContext): Promise<string | null> {
  const known = providersWith(channel).map(({ name, title }) => ({ value: name, label: title }));
  const options = [{ value: LATER, label: 'decide later: the sandbox only' }, ...known];
  return await askSelect(context, { question: 'Which messaging API do you use?', options, initial: LATER });
}

async function askChannel(context: CommandContext): Promise<Channel | null> {
  const options = CHANNELS.map((value) => ({ value, label: CHANNEL_TABLE[value].init.label }));
  return await askSelect(context, { question: 'What do you want to send?', options, initial: DEFAULT_ANSWERS.channel });
}

async function askCountry(context: CommandContext): Promise<string | null> {
  return await askText(context, {
    question: 'In which country are most recipients? (two letters)',
    initial: DEFAULT_ANSWERS.country,
    check: (typed) => countryFault(normalCountry(typed)),
  });
}

async function askSender(channel: Channel, initial: string, context: CommandContext): Promise<string | null> {
  const question =
    CHANNEL_TABLE[channel].init.sender === 'email' ? 'Which address are they from?' : 'Who are they from?';
  return await askText(context, { question, initial, check: (typed) => senderFault(channel, typed) });
}

/** The project file, and the campaign with its template and its list. */
const NAMED = 4;

function initText({ root, made, kept, notes, next }: InitResult, cwd: string): string {
  const place = displayPath(root, cwd) || '.';
  const lines = [
    made.length === 0 ? `Nothing is missing in ${place}.` : `Made in ${place}:`,
    ...made.slice(0, NAMED).map((path) => `  ${path}`),
    ...(made.length > NAMED ? [`  and ${made.length - NAMED} more`] : []),
    ...(kept.length === 0 ? [] : ['Left as they are:', ...kept.map((path) => `  ${path}`)]),
    ...notes,
    'Next:',
    ...next.map((command) => `  ${command}`),
  ];
  return `${lines.map(safeLine).join('\n')}\n`;
}
