import { readEnvironments } from '../../src/campaign/environments.ts';
import { builtIn } from '../../src/campaign/read-provider.ts';
import { unsubscribeHeaders } from '../../src/content/email-content.ts';
import { isGsm } from '../../src/content/sms-parts.ts';
import { compilePointers } from '../../src/http/answer.ts';
import type { Verdict } from '../../src/http/classify.ts';
import type { Attempt } from '../../src/model.ts';
import { authorizerOf, headersOf } from '../../src/providers/auth.ts';
import { compileRequest } from '../../src/providers/request.ts';
import { type AnswerExample, addressKind, type Known, type RequestExample, withoutHeaders } from './examples.ts';

/** How answers of a provider are read, without further settings. */
export function wireOf(name: string) {
  const { environments } = readEnvironments(
    { environments: { one: { provider: name } } },
    null,
    '/',
    new Map([['one', builtIn(name)]]),
  );
  const environment = environments.get('one');
  if (environment === undefined) throw new Error('There is an environment.');
  return compilePointers(environment.wire);
}

export function attemptOf({
  status,
  body,
  text,
  headers = {},
}: Pick<AnswerExample, 'status' | 'headers' | 'body' | 'text'>): Attempt {
  const said = text ?? (body === undefined ? '' : JSON.stringify(body));
  const contentType = headers['content-type'] ?? (text === undefined ? 'application/json' : 'text/plain');
  return {
    phase: 'P4',
    status,
    body: said,
    contentType,
    retryAfter: headers['retry-after'] ?? null,
    error: null,
    latencyMs: 1,
  } as Attempt;
}

/** A verdict in the words of the examples. */
export function wordOf({ outcome, reason, halt, split, again }: Verdict): string {
  if (split) return 'split';
  if (halt === 'wrong-address') return 'stop';
  if (outcome === 'in-doubt') return 'doubt';
  if (halt !== null) return 'stop';
  if (reason === 'opted-out') return 'opted-out';
  if (reason === 'unsupported-channel') return 'unsupported';
  if (again) return 'retry';
  return outcome === 'rejected' ? 'refused' : outcome;
}

/** The request that handbill makes for an example. */
export async function requestOf({ provider, examples }: Known, { message, recipients }: RequestExample) {
  const { now, callback = null, vars = {}, secrets = {} } = examples;
  const nowMs = Date.parse(now ?? '2026-11-27T10:00:00Z');
  const { channel, text, template, variables, content, validForSeconds, characterSet, messageType } = message;
  const form = compileRequest(
    provider,
    {
      campaign: 'example',
      accountReference: null,
      messageType: messageType ?? null,
      metaData: null,
      channel,
      address: addressKind(channel),
      characterSet,
      from: message.from ?? null,
      template: template?.id ?? null,
      validUntilMs: validForSeconds === undefined ? null : nowMs + validForSeconds * 1000,
      callback,
      lacks: new Set(),
      vars,
      secrets,
      baseUrl: null,
    },
    () => nowMs,
  );
  if (form === null) throw new Error('There is no form for it.');
  const body = form.write(
    recipients.map(({ to, reference, variables: own }) => ({
      to,
      reference,
      text: text ?? null,
      variables: own ?? variables ?? null,
      content: content === undefined ? null : withoutHeaders(content),
      metaData: null,
      headers: content?.['unsubscribe'] === undefined ? null : unsubscribeHeaders(content),
      isGsm: text === undefined ? null : isGsm(text),
    })),
  );
  const authorization = await authorizerOf(provider, vars, secrets, () => nowMs)?.();
  const named = { ...headersOf(provider, vars, secrets), ...(authorization === undefined ? {} : { authorization }) };
  const headers = Object.fromEntries(Object.entries(named).map(([name, value]) => [name.toLowerCase(), value]));
  return { form, body, headers };
}
