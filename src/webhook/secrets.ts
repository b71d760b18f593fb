import { type Diagnostic, problem, warning } from '../errors.ts';
import type { Receiver } from '../model.ts';
import { readSecret, type SecretWords } from '../util/secret.ts';
import { secretFault } from './secret-form.ts';

export interface WebhookSecrets {
  /** In the order of handbill.yaml; incomplete where a diagnostic is an error. */
  readonly secrets: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

const WORDS: SecretWords = {
  name: 'secret of webhooks',
  missing: 'missing-webhook-secret',
  setting: 'secrets: [{ file: PATH }]',
  leaked: 'Whoever has read it can report whatever he likes: change it.',
};

/**
 * Reads the secrets of webhooks from where handbill.yaml says, all of them, and looks at whether the scheme can use
 * them. No message ever holds one (SECURITY S7).
 *
 * @param root where relative paths of files begin
 */
export async function readWebhookSecrets(
  { scheme, secrets: sources }: Pick<Receiver, 'scheme' | 'secrets'>,
  env: Readonly<Record<string, string | undefined>>,
  root: string,
): Promise<WebhookSecrets> {
  const secrets: string[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const source of sources) {
    const read = await readSecret(source, env, root, WORDS);
    if ('problem' in read) {
      diagnostics.push(read.problem);
      continue;
    }
    // A file is read byte by byte, as Latin-1; both are meant as the bytes that were written.
    const secret = 'env' in source ? read.secret : Buffer.from(read.secret, 'latin1').toString('utf8');
    const fault = secretFault(scheme.kind, secret);
    const subject = `The secret of webhooks in ${read.place}`;
    if (fault !== null && 'wrong' in fault) {
      diagnostics.push(problem('invalid-webhook-secret', `${subject} ${fault.wrong}.`, { hint: fault.hint }));
    } else if (fault !== null) diagnostics.push(warning('weak-webhook', `${subject} ${fault.weak}.`));
    secrets.push(secret);
  }
  return { secrets, diagnostics: [...diagnostics, ...schemeWarnings(scheme)] };
}

function schemeWarnings(scheme: Receiver['scheme']): readonly Diagnostic[] {
  if (scheme.kind !== 'path') return [];
  const message = 'The secret is part of the URL, and URLs stand in the logs of proxies and of the sender.';
  const hint =
    'Use a signature if the sender can make one; else keep those logs private, and change the secret now and then.';
  return [warning('weak-webhook', message, { hint })];
}
