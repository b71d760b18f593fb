import { type Diagnostic, problem } from '../errors.ts';

/**
 * Refuses to run where a variable switches the verification of certificates off. handbill verifies them on every
 * connection anyway, but the user should learn that the variable is set.
 */
export function checkTlsEnvironment(env: Readonly<Record<string, string | undefined>>): Diagnostic | null {
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0') return null;
  return problem(
    'tls-verification-off',
    'NODE_TLS_REJECT_UNAUTHORIZED=0 switches the verification of certificates off.',
    {
      hint: 'Unset it. For a certificate authority of your own, set NODE_EXTRA_CA_CERTS to its file.',
    },
  );
}
