import { randomBytes } from 'node:crypto';
import { parse, serialize } from 'hono/utils/cookie';
import type { Notice } from '../pages/serve-layout.ts';
import { isSame } from '../util/secret.ts';

/** Somebody who opened the address that the start printed. */
export interface Session {
  /** Stands in each form: another site can send a form, but not read this. */
  readonly csrf: string;
  /** What the last action came to, to be shown once. */
  notice: Notice | null;
}

/** Who may do more than others; all of it is forgotten when the process ends. */
export interface Sessions {
  /** 192 bits, made at the start. */
  readonly token: string;
  /** The header that signs a browser in, or null where the token is not this one. */
  signIn(token: string): string | null;
  /** The header that signs it out. */
  signOut(cookies: string | undefined): string;
  of(cookies: string | undefined): Session | null;
}

const BYTES = 24;

/** Whoever opens the printed address more often than this signs out who did so first. */
const MOST_SESSIONS = 100;

/** @param port part of the name of the cookie: browsers give it to every port of a host */
export function createSessions(port: () => number): Sessions {
  const token = randomBytes(BYTES).toString('base64url');
  const sessions = new Map<string, Session>();
  const name = (): string => `handbill_${port()}`;
  const idIn = (cookies: string | undefined): string | null => parse(cookies ?? '', name())[name()] ?? null;
  const cookie = (value: string, more: { readonly maxAge?: number } = {}): string =>
    serialize(name(), value, { path: '/', httpOnly: true, sameSite: 'Strict', ...more });
  return {
    token,
    signIn(given) {
      if (!isSame(given, token)) return null;
      const id = randomBytes(BYTES).toString('base64url');
      sessions.set(id, { csrf: randomBytes(BYTES).toString('base64url'), notice: null });
      const oldest = sessions.keys().next().value;
      if (sessions.size > MOST_SESSIONS && oldest !== undefined) sessions.delete(oldest);
      return cookie(id);
    },
    signOut(cookies) {
      const id = idIn(cookies);
      if (id !== null) sessions.delete(id);
      return cookie('', { maxAge: 0 });
    },
    of: (cookies) => sessions.get(idIn(cookies) ?? '') ?? null,
  };
}
