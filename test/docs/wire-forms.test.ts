import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readWire } from '../../src/campaign/environments.ts';
import type { WireFile } from '../../src/campaign/written.ts';
import { compilePointers } from '../../src/http/answer.ts';
import type { Verdict } from '../../src/http/classify.ts';
import { classifyMany } from '../../src/http/recipient-answers.ts';
import type { Json, Wire } from '../../src/model.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { startOtherApi } from '../helpers/other-api.ts';

const PAGE = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'wire.md'), 'utf8');
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

/** The settings that the page gives for answers of this form. */
function settingsOf(form: string): WireFile {
  const [, row] = new RegExp(`^\\| ${ANSWERS[form]} \\| \`(.*)\` \\|$`, 'm').exec(PAGE) ?? [];
  if (form !== 'per-recipient') return row === undefined ? {} : (parse(row) as WireFile);
  const [, example = ''] = /^```yaml\n(environments:\n {2}other:[\s\S]*?)^```/m.exec(PAGE) ?? [];
  return (parse(example) as { environments: { other: { wire: WireFile } } }).environments.other.wire;
}

/** A message as these settings write it. */
function messageFor(recipients: readonly string[], wire: Wire): Json {
  const numbers = recipients.map((to) => (wire.msisdn === 'digits' ? to.slice(1) : to));
  return {
    channel: wire.channels.rcs,
    body: { text: 'Your table is ready.' },
    recipients: numbers.map((msisdn) => ({ msisdn, metaData: { [wire.referenceName]: `r-${msisdn}` } })),
  };
}

async function send(
  { url }: { readonly url: string },
  settings: WireFile,
  recipients: readonly string[],
): Promise<readonly Verdict[]> {
  const wire = readWire(settings);
  const answer = await fetch(`${url}/v2/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': KEY },
    body: JSON.stringify(messageFor(recipients, wire)),
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
  const settings = settingsOf(form);
  let api: { readonly url: string } & AsyncDisposable;
  beforeAll(async () => {
    api = form === 'default' ? await startSandbox({ apiKey: KEY }) : await startOtherApi(form);
  });
  afterAll(() => api[Symbol.asyncDispose]());

  it('is understood, with the settings of the page', async () => {
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
