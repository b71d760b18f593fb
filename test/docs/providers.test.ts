import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { parse } from 'yaml';
import { findProject } from '../../src/campaign/place.ts';
import { readProject } from '../../src/campaign/project.ts';
import { providerNames } from '../../src/campaign/read-provider.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDER = join(ROOT, 'docs', 'providers');
const NAMES = providerNames();

function pageOf(name: string): string {
  return readFileSync(join(FOLDER, `${name}.md`), 'utf8');
}

test('each provider has a page, and each page a provider', () => {
  expect(readdirSync(FOLDER).toSorted()).toEqual(NAMES.map((name) => `${name}.md`).toSorted());
});

describe.each(NAMES)('the page of %s', (name) => {
  const [, settings = ''] = /```yaml\n([\s\S]*?)```/.exec(pageOf(name)) ?? [];

  it.each([
    ['as it is', settings],
    ['with what is optional', settings.replaceAll(/^( *)# /gm, '$1')],
  ])('has an environment that can be pasted, %s', async (_, text) => {
    const folder = mkdtempSync(join(tmpdir(), 'handbill-provider-'));
    try {
      writeFileSync(join(folder, 'handbill.yaml'), text);
      const { project, diagnostics } = readProject(findProject(folder), { cwd: folder });
      expect(diagnostics).toEqual([]);
      expect(project.environments.get('production')?.provider.name).toBe(name);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('has settings of webhooks that can be added to it', async () => {
    const [, second] = pageOf(name).matchAll(/```yaml\n([\s\S]*?)```/g);
    const webhook = second?.[1] ?? '';
    expect(webhook).toMatch(/^webhook:\n/);
    const folder = mkdtempSync(join(tmpdir(), 'handbill-provider-'));
    try {
      writeFileSync(join(folder, 'handbill.yaml'), settings + webhook.replaceAll(/^(?=.)/gm, '    '));
      const { project, diagnostics } = readProject(findProject(folder), { cwd: folder });
      expect(diagnostics).toEqual([]);
      expect(project.environments.get('production')?.webhook.receiver).not.toBeNull();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('has each note, each fact that is not verified and each source', () => {
    const text = readFileSync(join(ROOT, 'src', 'providers', `${name}.yaml`), 'utf8');
    const { notes, unverified, sources, checked } = parse(text) as Record<string, readonly string[]>;
    const page = pageOf(name).replaceAll('`', '');
    for (const sentence of [notes, unverified, sources].flat()) expect(page).toContain(sentence);
    if (sources?.length) expect(page).toContain(String(checked));
  });
});

/** Written by hand, from the descriptions of the APIs. */
test.each<[name: string, says: string]>([
  ['twilio', 'Channels**: SMS, RCS and messaging app (WhatsApp)'],
  ['twilio', 'Recipients in a request**: one'],
  ['twilio', 'Longest text**: 1,600 characters'],
  ['twilio', 'Validity**: 1 second to 10 hours'],
  ['twilio', 'reports give it back where the environment has `webhook.url`; else the message id finds'],
  ['whatsapp-cloud', 'reports give it back'],
  ['46elks', 'Set their URL'],
  ['twilio', 'reported in answers and reports'],
  ['infobip', 'Recipients in a request**: up to 1,000'],
  ['infobip', 'reports give it back'],
  ['govuk-notify', 'Content**: templates of the provider only'],
  ['govuk-notify', 'proved by a bearer token'],
  ['telnyx', 'Validity**: cannot be set'],
  ['telnyx', 'proved by a signature over the body (Ed25519)'],
  ['mailgun', 'Opt-outs that the API knows**: reported in reports'],
  ['46elks', 'Opt-outs that the API knows**: not reported'],
  ['whatsapp-cloud', 'Content**: texts and templates of the provider'],
])('the page of %s says %s', (name, says) => {
  expect(pageOf(name)).toContain(says);
});
