import type { Channel } from '../model.ts';
import { foldName } from './states.ts';

const NAMES: Readonly<Record<Channel, string>> = {
  sms: 'sms mms',
  rcs: 'rcs rbm googlercs',
  'messaging-app': `messagingapp whatsapp whatsappcloud whatsappbusiness wa viber viberbm viberbot viberservice messenger
    facebook facebookmessenger instagram instagramdm telegram line lineon kakao kakaotalk kakaosb kakaoalim zalo wechat
    applebusinesschat applemb imessage signal`,
  email: 'email mail smtp mailto',
  voice: 'voice call phonecall tts voicecall',
};

const TABLE: ReadonlyMap<string, Channel> = new Map(
  (Object.entries(NAMES) as [Channel, string][]).flatMap(([channel, names]) =>
    names.split(/\s+/).map((name) => [name, channel] as const),
  ),
);

/** Values that environments have for channels (`wire.channels`), folded: they come before the usual names. */
export function foldChannels(
  values: Iterable<readonly [value: string, channel: Channel]>,
): ReadonlyMap<string, Channel> {
  return new Map([...values].map(([value, channel]) => [foldName(value), channel]));
}

/**
 * The channel of a name such as `SMS`, `VIBER_BM`, `sms.inbound` or `delivery_report_sms`; null for what is none of
 * ours.
 */
export function channelOf(name: string, own: ReadonlyMap<string, Channel>): Channel | null {
  const folded = foldName(name);
  const known = own.get(folded) ?? TABLE.get(folded);
  if (known !== undefined) return known;
  const parts = name.toLowerCase().split(/[-_.:\s]/);
  return TABLE.get(parts[0] ?? '') ?? TABLE.get(parts.at(-1) ?? '') ?? null;
}
