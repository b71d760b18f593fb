import type { ProjectReading } from '../campaign/project.ts';
import { sharedSecrets, sharingWith } from '../campaign/read-webhook.ts';
import { type Diagnostic, EXIT, HandbillError, problem, refuse, warning } from '../errors.ts';
import type { Sender } from '../webhook/receive.ts';
import { readWebhookSecrets } from '../webhook/secrets.ts';
import { interpreterOf } from './project.ts';

/**
 * Reads the secrets of all environments. If one is `named`, skips others whose secrets are missing, with a warning: a
 * machine needs no others. `alsoIn`: environments that a sender of this one may also report for; `patienceMs`: the least that a provider waits for an answer. Throws exit 2 if
 * handbill.yaml names no senders, or a secret is missing.
 */
export async function readSenders(
  reading: ProjectReading,
  named: string | null,
  env: Readonly<Record<string, string | undefined>>,
) {
  const { environments, file, root } = reading.project;
  const senders = new Map<string, Sender>();
  const diagnostics: Diagnostic[] = [];
  let patienceMs = Number.POSITIVE_INFINITY;
  for (const [name, { webhook }] of environments) {
    if (webhook.receiver === null) continue;
    const { scheme, methods, answerWithinMs } = webhook.receiver;
    const { secrets, verifyToken, diagnostics: found } = await readWebhookSecrets(webhook.receiver, env, root);
    if (!found.some(isError)) {
      const { interpret } = interpreterOf(reading, name);
      senders.set(name, { scheme, secrets, interpret, methods, verifyToken });
      patienceMs = Math.min(patienceMs, answerWithinMs ?? patienceMs);
    } else if (named !== null && named !== name) {
      const message = `Nothing is received for ${name}: its secret of webhooks cannot be used here.`;
      diagnostics.push(
        warning('missing-webhook-secret', message, { hint: 'Set it here, or let it come in elsewhere.' }),
      );
      continue;
    }
    diagnostics.push(...found.map((one) => (file === null ? one : { ...one, at: { file } })));
  }
  const errors = diagnostics.filter(isError);
  if (errors.length > 0) throw new HandbillError(EXIT.refused, errors);
  if (senders.size === 0 || (named !== null && !senders.has(named))) {
    const subject = file === null ? 'There is no handbill.yaml here that says' : `${file} does not say`;
    const message = `${subject} how webhooks${named === null ? '' : ` of ${named}`} are received.`;
    const hint = `Write environments: { ${named ?? 'NAME'}: { webhook: { secrets: [{ env: HANDBILL_WEBHOOK_SECRET }] } } }: docs/webhooks.md has the rest.`;
    throw refuse(problem('missing-key', message, { hint }));
  }
  const secrets = new Map([...senders].map(([name, sender]) => [name, sender.secrets]));
  diagnostics.push(...sharedSecrets(secrets));
  return { senders, alsoIn: (name: string) => sharingWith(name, secrets), diagnostics, patienceMs };
}

const isError = ({ severity }: Diagnostic): boolean => severity === 'error';
