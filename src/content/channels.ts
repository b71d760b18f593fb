import type { JsonObject } from '../util/json.ts';
import type { ChannelEntry } from './channel.ts';
import type { ContentProblem } from './check-values.ts';
import { email } from './email.ts';
import { messagingApp } from './messaging-app.ts';
import { rcs } from './rcs.ts';
import { sms } from './sms.ts';
import { voice } from './voice.ts';

/** The order is that of lists in messages. */
export const CHANNEL_TABLE = { sms, rcs, 'messaging-app': messagingApp, email, voice } as const satisfies Readonly<
  Record<string, ChannelEntry>
>;

export type Channel = keyof typeof CHANNEL_TABLE;

export const CHANNELS = Object.keys(CHANNEL_TABLE) as readonly Channel[];

/**
 * @param content - without `text`, in the shape that the schema allows; `{}` if there is none
 * @param text - null: not known here (it contains expressions, or the provider has it); undefined: there is none
 */
export function checkContent(
  channel: Channel,
  content: JsonObject,
  text: string | null | undefined,
): readonly ContentProblem[] {
  const entry: ChannelEntry = CHANNEL_TABLE[channel];
  const strange = strangeKeys(channel, entry, content);
  const problems = entry.check(content, text);
  return strange.length === 0 ? problems : [...strange, ...problems];
}

function strangeKeys(channel: Channel, entry: ChannelEntry, content: JsonObject): readonly ContentProblem[] {
  let problems: ContentProblem[] | null = null;
  for (const key in content) {
    if (entry.keys.includes(key)) continue;
    problems ??= [];
    problems.push(strangeKey(channel, key, entry.instead?.[key]));
  }
  return problems ?? NOTHING;
}

function strangeKey(channel: Channel, key: string, instead: string | undefined): ContentProblem {
  const message = `A message on ${channel} has no "${key}".`;
  const others = CHANNELS.filter((other) => (CHANNEL_TABLE[other] as ChannelEntry).keys.includes(key));
  const elsewhere = others.length === 0 ? null : `It is for ${others.join(' and ')}.`;
  const hint = [elsewhere, instead].filter((sentence) => typeof sentence === 'string').join(' ');
  const problem = { code: 'content-invalid', severity: 'error', pointer: `/${key}`, message } as const;
  return hint === '' ? problem : { ...problem, hint };
}

const NOTHING: readonly ContentProblem[] = Object.freeze([]);
