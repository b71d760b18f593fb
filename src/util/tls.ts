import { type Diagnostic, problem } from '../errors.ts';

/** handbill verifies certificates on every connection, but the user should learn that a variable switches it off. */
export function checkTlsEnvironment(env: Readonly<Record<string, string | undefined>>): Diagnostic | null {
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0') return null;
  return problem(
    'tls-verification-off',
    'NODE_TLS_REJECT_UNAUTHORIZED=0 switches the verification of certificates off.',
    {
      hint: 'Unset it. For your own certificate authority, set NODE_EXTRA_CA_CERTS to its file.',
    },
  );
}
