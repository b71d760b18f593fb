import type { Verdict, Verifier } from './proof.ts';
import { isOneOf } from './same.ts';

/* Schemes that send the secret itself: nothing says when, so that a request that was copied can be sent again. */

/** User and password, as RFC 7617 has it. */
export function basicVerifier(secrets: readonly string[]): Verifier {
  const expected = secrets.map((secret) => Buffer.from(secret, 'utf8'));
  return ({ headers }) => {
    const given = credentials(headers.authorization, 'basic');
    return given === null ? NONE : verdict(isOneOf(Buffer.from(given, 'base64'), expected));
  };
}

/** A token, as RFC 6750 has it. */
export function bearerVerifier(secrets: readonly string[]): Verifier {
  return ({ headers }) => {
    const given = credentials(headers.authorization, 'bearer');
    return given === null ? NONE : verdict(isOneOf(given, secrets));
  };
}

/** A secret in the URL. */
export function pathVerifier(secrets: readonly string[]): Verifier {
  return ({ segment }) => (segment === null ? NONE : verdict(isOneOf(segment, secrets)));
}

/** What stands behind the name of the scheme, which may be written in any case. */
function credentials(header: string | undefined, scheme: string): string | null {
  const [name = '', value = '', ...more] = (header ?? '').trim().split(/ +/, 3);
  return name.toLowerCase() === scheme && value !== '' && more.length === 0 ? value : null;
}

function verdict(matches: boolean): Verdict {
  return matches ? { verified: true, id: null } : WRONG;
}

const NONE = { verified: false, reason: 'the request holds no secret' } as const;
const WRONG = { verified: false, reason: 'the secret is not one of here' } as const;
