import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readWire } from '../../src/campaign/environments.ts';
import { builtIn, DEFAULT_PROVIDER } from '../../src/campaign/read-provider.ts';
import type { WireFile } from '../../src/campaign/written.ts';
import { compilePointers } from '../../src/http/answer.ts';
import type { Verdict } from '../../src/http/classify.ts';
import { classifyMany } from '../../src/http/recipient-answers.ts';
import type { Wire } from '../../src/model.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { startOtherApi } from '../helpers/other-api.ts';
import { entryOf, example, formOf, wireOfExample } from './provider-page.ts';

const SETTINGS = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'reference', 'wire-settings.md'), 'utf8');
const KEY = 'test-key';
/** How the page calls each form of answers. */
const ANSWERS: Readonly<Record<string, string>> = {
  'top-level': 'one `messageId` at the top, errors with `errorCode` and `description`',
  problem: '201 and an `id`, errors as ASP.NET writes them',
};
/** Takes RCS; an Android 4.4, which does not; one that is answered 400. */
const ANN = '+447700900124';
const OLD = '+447700900844';
const BAD = '+447700900400';

interface Api {
  readonly provider: Provider;
  readonly wire: Wire;
}

/** How the docs tell handbill to speak to an API whose answers have this form. */
function apiOf(form: string): Api {
  if (form === 'per-recipient') return { provider: example().provider, wire: wireOfExample() };
  const [, row] = new RegExp(`^\\| ${ANSWERS[form]} \\| \`(.*)\` \\|$`, 'm').exec(SETTINGS) ?? [];
  const wire = readWire(row === undefined ? {} : (parse(row) as WireFile));
  return { provider: builtIn(DEFAULT_PROVIDER).provider, wire };
}

async function send(
  { url }: { readonly url: string },
  { provider, wire }: Api,
  recipients: readonly string[],
): Promise<readonly Verdict[]> {
  const { write, contentType: sent } = formOf(provider, 'rcs');
  const answer = await fetch(`${url}/v2/messages`, {
    method: 'POST',
    headers: { 'content-type': sent, 'x-api-key': KEY },
    body: write(recipients.map((to) => entryOf(to, `r-${to}`))),
  });
  const contentType = answer.headers.get('content-type');
  const facts = { phase: 'P4', status: answer.status, error: null, retryAfter: null, latencyMs: 1 } as const;
  return classifyMany(
    { ...facts, contentType, body: await answer.text() },
    recipients.map((to) => ({ to, reference: `r-${to}` })),
    { wire: compilePointers(wire), firstAnswer: false, nowMs: 0, stopping: false },
  );
}

function told(verdicts: readonly Verdict[]): readonly string[] {
  return verdicts.map(
    ({ outcome, reason, split }) => `${outcome}${reason === null ? '' : ` ${reason}`}${split ? ' split' : ''}`,
  );
}

const UNSUPPORTED = 'rejected unsupported-channel';
const SPLIT = 'pending unsupported-channel split';

describe.each([
  {
    form: 'default',
    several: ['accepted', UNSUPPORTED],
    refused: 'rejected status',
    mixed: ['rejected refused', 'accepted'],
  },
  {
    form: 'top-level',
    several: [SPLIT, SPLIT],
    refused: 'rejected status',
    mixed: ['rejected status', 'rejected status'],
  },
  {
    form: 'per-recipient',
    several: ['accepted', UNSUPPORTED],
    refused: 'rejected refused',
    mixed: ['rejected refused', 'accepted'],
  },
  {
    form: 'problem',
    several: [SPLIT, SPLIT],
    refused: 'rejected status',
    mixed: ['rejected status', 'rejected status'],
  },
] as const)('$form', ({ form, several, refused, mixed }) => {
  const settings = apiOf(form);
  let api: { readonly url: string } & AsyncDisposable;
  beforeAll(async () => {
    api = form === 'default' ? await startSandbox({ apiKey: KEY }) : await startOtherApi(form);
  });
  afterAll(() => api[Symbol.asyncDispose]());

  it('is understood, with the settings of the docs', async () => {
    const [one] = await send(api, settings, [ANN]);
    expect(one).toMatchObject({ outcome: 'accepted', messageId: expect.stringMatching(/^sbx-/) });
    expect(told(await send(api, settings, [OLD]))).toEqual([UNSUPPORTED]);
    expect(told(await send(api, settings, [BAD]))).toEqual([refused]);
    expect(told(await send(api, settings, [ANN, OLD]))).toEqual(several);
    expect(told(await send(api, settings, [BAD, ANN]))).toEqual(mixed);
  });

  it('gives every recipient an id, and a refusal its reason', async () => {
    const all = await send(api, settings, [ANN, '+447700900125', '+447700900126']);
    expect(told(all)).toEqual(['accepted', 'accepted', 'accepted']);
    for (const { messageId } of all) expect(messageId).toMatch(/^sbx-/);
    const [old] = await send(api, settings, [OLD]);
    expect(old?.error).toMatch(/^The recipient cannot receive RCS: .*Android 4\.4\.$/);
  });
});
