import type { Scheme } from '../model.ts';
import type { Verifier } from './proof.ts';
import { hmacVerifier } from './verify-hmac.ts';
import { basicVerifier, bearerVerifier, pathVerifier } from './verify-secret.ts';
import { standardVerifier } from './verify-standard.ts';

/** @param secrets as `readWebhookSecrets` gives them; any of them counts */
export function createVerifier(scheme: Scheme, secrets: readonly string[]): Verifier {
  switch (scheme.kind) {
    case 'standard':
      return standardVerifier(scheme.toleranceMs, secrets);
    case 'hmac':
      return hmacVerifier(scheme, secrets);
    case 'basic':
      return basicVerifier(secrets);
    case 'bearer':
      return bearerVerifier(secrets);
    case 'path':
      return pathVerifier(secrets);
  }
}

/** The value that a 401 names in WWW-Authenticate (RFC 9110, 15.5.2); null: the scheme has no name there. */
export function challengeOf(scheme: Scheme): string | null {
  if (scheme.kind === 'basic') return 'Basic realm="webhooks", charset="UTF-8"';
  return scheme.kind === 'bearer' ? 'Bearer realm="webhooks"' : null;
}
