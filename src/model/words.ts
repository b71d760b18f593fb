/* Words that all the others use. Those of messages are beside the channels, in content/. */

export type { Channel } from '../content/channels.ts';
export type { CharacterSet } from '../content/sms-parts.ts';
export type { Json, JsonObject } from '../util/json.ts';
export type { KeySource } from '../util/secret.ts';
