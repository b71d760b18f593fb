/* Words that all the others use. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

export const CHANNELS = ['sms', 'rcs', 'messaging-app', 'email', 'voice'] as const;
export type Channel = (typeof CHANNELS)[number];

export type CharacterSet = 'auto' | 'gsm' | 'unicode';

/** Where a secret is: never the secret itself. */
export type KeySource = { readonly env: string } | { readonly file: string };
