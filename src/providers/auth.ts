import type { Provider } from './provider.ts';
import { compileText } from './text.ts';
import { createLookup, NO_FACTS } from './values.ts';

type Named = Readonly<Record<string, string>>;

/** The headers of every request: those of the file, and those that prove who sends it, unless they differ each time. */
export function headersOf({ headers, auth }: Provider, vars: Named, secrets: Named): Named {
  const fill = filler(vars, secrets);
  const own = Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, fill(text)]));
  if (auth === null || 'jwt' in auth) return own;
  if ('basic' in auth) {
    const pair = Buffer.from(auth.basic.map(fill).join(':')).toString('base64');
    return { ...own, Authorization: `Basic ${pair}` };
  }
  return { ...own, ...Object.fromEntries(Object.entries(auth.header).map(([name, text]) => [name, fill(text)])) };
}

/** Makes a JSON Web Token for each request; null: the provider asks for none. `now`: in ms since 1970. */
export function authorizerOf(
  { auth }: Provider,
  vars: Named,
  secrets: Named,
  now: () => number,
): (() => Promise<string>) | null {
  if (auth === null || !('jwt' in auth)) return null;
  const fill = filler(vars, secrets);
  const { alg, key, claims } = auth.jwt;
  const secret = new TextEncoder().encode(fill(key));
  return async () => {
    const { SignJWT } = await import('jose');
    const seconds = Math.floor(now() / 1000);
    const filled = Object.fromEntries(
      Object.entries(claims).map(([name, text]) => [name, text === 'now' ? seconds : fill(text)]),
    );
    return `Bearer ${await new SignJWT(filled).setProtectedHeader({ alg, typ: 'JWT' }).sign(secret)}`;
  };
}

function filler(vars: Named, secrets: Named): (text: string) => string {
  const lookup = createLookup({ ...NO_FACTS, vars, secrets }, () => 0);
  return (text) => {
    const value = compileText(text, lookup);
    return 'constant' in value && value.constant !== undefined ? String(value.constant) : '';
  };
}
