import type { Channel, JsonObject } from '../model.ts';
import type { ContentCheck, ContentProblem } from './check-values.ts';
import { checkEmail } from './email.ts';
import { checkMessagingApp } from './messaging-app.ts';
import { checkRcs } from './rcs.ts';
import { checkVoice } from './voice.ts';

/**
 * Checks the content of one message against the limits of its channel: when a campaign is loaded, with texts that
 * contain expressions as null, and again for each recipient, with everything filled in.
 *
 * @param content - without `text`, in the shape that the schema allows; `{}` if there is none
 * @param text - null: not known here (it contains expressions, or the provider has it); undefined: there is none
 */
export function checkContent(
  channel: Channel,
  content: JsonObject,
  text: string | null | undefined,
): readonly ContentProblem[] {
  const strange = strangeKeys(channel, content);
  const problems = CHECKS[channel](content, text);
  return strange.length === 0 ? problems : [...strange, ...problems];
}

const CHECKS: Readonly<Record<Channel, ContentCheck>> = {
  sms: () => NOTHING,
  rcs: checkRcs,
  'messaging-app': checkMessagingApp,
  email: checkEmail,
  voice: checkVoice,
};

/** Keys that belong to another channel. */
function strangeKeys(channel: Channel, content: JsonObject): readonly ContentProblem[] {
  let problems: ContentProblem[] | null = null;
  for (const key in content) {
    const channels = CHANNELS_OF.get(key);
    if (channels?.includes(channel) === true) continue;
    problems ??= [];
    problems.push(strangeKey(channel, key, channels));
  }
  return problems ?? NOTHING;
}

function strangeKey(channel: Channel, key: string, channels: readonly Channel[] | undefined): ContentProblem {
  const message = `A message on ${channel} has no "${key}".`;
  const instead = INSTEAD[`${channel} ${key}`];
  const elsewhere = channels === undefined ? null : `It is for ${channels.join(' and ')}.`;
  const hint = [elsewhere, instead].filter((sentence) => typeof sentence === 'string').join(' ');
  const problem = { code: 'content-invalid', severity: 'error', pointer: `/${key}`, message } as const;
  return hint === '' ? problem : { ...problem, hint };
}

const CHANNELS_OF: ReadonlyMap<string, readonly Channel[]> = new Map<string, readonly Channel[]>([
  ['header', ['messaging-app']],
  ['footer', ['messaging-app']],
  ['list', ['messaging-app']],
  ['buttons', ['rcs', 'messaging-app']],
  ['cards', ['rcs', 'messaging-app']],
  ['card', ['rcs']],
  ['cardWidth', ['rcs']],
  ['subject', ['email']],
  ['preheader', ['email']],
  ['html', ['email']],
  ['unsubscribe', ['email']],
  ['language', ['voice']],
  ['voice', ['voice']],
  ['repeat', ['voice']],
]);

/** How the same is said on another channel. */
const INSTEAD: Readonly<Record<string, string>> = {
  'rcs header': 'Write "card" with "media" and "title".',
  'rcs footer': 'Say it in the text.',
  'rcs list': 'Write "buttons" or "cards".',
  'messaging-app card': 'Write "header", "text" and "buttons".',
  'voice subject': 'Say it in the text.',
};

const NOTHING: readonly ContentProblem[] = Object.freeze([]);
