import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { providerNames } from '../../src/campaign/read-provider.ts';
import { outcomes, type RecipientOutcome, send, startSandbox } from '../../src/index.ts';
import type { JsonObject } from '../../src/util/json.ts';
import { createProject } from '../helpers/project.ts';
import { type Known, knownProvider } from './examples.ts';

/* Twelve people are sent to by each provider, at a sandbox that answers by its examples. */

const KNOWN = providerNames()
  .filter((name) => name !== 'messages-v2')
  .map(knownProvider);
const NOW = Date.UTC(2026, 10, 27, 10);
/** Endings below 600 choose an answer, all others are taken. */
const ENDINGS = ['701', '702', '404', '703', '451', '704', '429', '705', '706', '707', '708', '500'];
/** In one request with others: a full queue and a failure would be about all of them. */
const TOGETHER = ['701', '702', '404', '703', '451', '704', '709', '705', '706', '707', '708', '710'];

describe.each(KNOWN)('$name', (known) => {
  it('posts its golden requests for twelve people, and reads every answer', async () => {
    const folder = createProject({});
    const receipts = folder.path('receipts.jsonl');
    await using sandbox = await startSandbox({ provider: known.name, receipts, now: () => NOW });
    using project = createProject(projectFor(known, sandbox.url));
    const env = { PATH: process.env['PATH'], ...environmentOf(known) };
    const options = {
      cwd: project.root,
      env,
      now: () => NOW,
      environment: 'local',
      concurrency: 1,
      confirm: true as const,
    };
    const { report } = await send('twelve', options);
    const ends: string[] = [];
    for await (const outcome of outcomes('twelve', options)) ends.push(endOf(outcome));
    const requests = readFileSync(receipts, 'utf8').trimEnd().split('\n').map(requestIn);
    await expect(`${[...requests, '', ...ends, ''].join('\n')}`).toMatchFileSnapshot(
      join(import.meta.dirname, 'golden', `${known.name}.txt`),
    );
    expect(report.totals.pending).toBe(0);
    folder[Symbol.dispose]();
  });
});

function requestIn(line: string): string {
  const { status, text } = JSON.parse(line) as { status: number; text: string };
  return `${status} ${text}`;
}

function endOf({ to, outcome, reason, messageId }: RecipientOutcome): string {
  return [to, outcome, reason ?? '', messageId?.replace(/^sbx-[0-9a-f]+/, 'sbx').replace(/^\d+$/, 'a number') ?? '']
    .join(' ')
    .trimEnd();
}

function projectFor({ name, provider, examples }: Known, baseUrl: string): Readonly<Record<string, string>> {
  const example = examples.requests.find(({ message }) => message.text !== undefined) ?? examples.requests[0];
  if (example === undefined) throw new Error('There are requests.');
  const { channel, from, text, template, content } = example.message;
  const variables = example.message.variables ?? example.recipients[0]?.variables;
  const names = Object.keys(variables ?? {});
  const secrets = Object.keys(provider.secrets).map((secret) => [secret, { env: secret.toUpperCase() }] as const);
  const environment = { provider: name, baseUrl, vars: examples.vars ?? {}, secrets: Object.fromEntries(secrets) };
  const campaign: JsonObject = {
    name: 'twelve',
    channel,
    ...(from === undefined ? {} : { from }),
    template: text === undefined ? { ...template } : { text },
    ...(names.length === 0 ? {} : { variables: Object.fromEntries(names.map((one) => [one, one])) }),
    ...(content === undefined ? {} : { content: { ...content, html: 'mail.html' } }),
    recipients: 'people.csv',
    send: { recipientsPerRequest: Math.min(12, provider.limits.recipients) },
  };
  const isEmail = channel === 'email';
  const people = (provider.limits.recipients > 1 ? TOGETHER : ENDINGS).map((ending, i) => {
    const values = names.map((one) => String(variables?.[one]));
    return [isEmail ? `p${i}+${ending}@example.com` : `+447700900${ending}`, ...values].join(',');
  });
  return {
    'handbill.yaml': JSON.stringify({ environments: { local: environment } }),
    'campaigns/twelve/campaign.yaml': JSON.stringify(campaign),
    'campaigns/twelve/people.csv': [[isEmail ? 'email' : 'msisdn', ...names].join(','), ...people, ''].join('\n'),
    'campaigns/twelve/mail.html': String(content?.['html'] ?? ''),
  };
}

function environmentOf({ examples }: Known): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(examples.secrets ?? {}).map(([name, secret]) => [name.toUpperCase(), secret]),
  );
}
