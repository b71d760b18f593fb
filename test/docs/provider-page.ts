import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readEnvironments } from '../../src/campaign/environments.ts';
import { parseProvider, type ReadProvider } from '../../src/campaign/read-provider.ts';
import type { Channel, Wire } from '../../src/model.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { compileRequest, type RequestForm } from '../../src/providers/request.ts';
import type { Entry } from '../../src/providers/text.ts';
import type { JsonObject } from '../../src/util/json.ts';

/** The guide to provider files. */
export const PAGE = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'wire.md'), 'utf8');

export function blocks(language: string): readonly string[] {
  return [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, text = '']) => text);
}

/** The provider file of the page. */
export function example(): ReadProvider {
  const [, file = ''] = blocks('yaml');
  const read = parseProvider('./providers/other.yaml', Buffer.from(file), 'providers/other.yaml');
  if ('provider' in read) return read;
  throw new Error(read.diagnostics.map(({ message }) => message).join(' '));
}

/** How its answers are read. */
export function wireOfExample(): Wire {
  const file = { environments: { other: { provider: './other.yaml', secrets: { key: { env: 'KEY' } } } } };
  const { environments } = readEnvironments(file, null, '/', new Map([['other', example()]]));
  const { wire } = environments.get('other') ?? {};
  if (wire === undefined) throw new Error('There is the environment.');
  return wire;
}

/** The form of a message of a campaign `table` in rich text. */
export function formOf(provider: Provider, channel: Channel): RequestForm {
  const unset = {
    accountReference: null,
    metaData: null,
    template: null,
    callback: null,
    vars: {},
    secrets: {},
    lacks: new Set<never>(),
  };
  const form = compileRequest(
    provider,
    {
      ...unset,
      campaign: 'table',
      channel,
      address: 'msisdn',
      from: 'Riverside',
      messageType: 'transactional',
      characterSet: undefined,
      validUntilMs: Date.UTC(2026, 10, 22, 9),
      baseUrl: 'https://api.example.com',
    },
    () => 0,
  );
  if (form === null) throw new Error('The provider has a form for it.');
  return form;
}

export function entryOf(to: string, reference: string, content: JsonObject | null = null): Entry {
  const nothing = { variables: null, metaData: null, headers: null, isGsm: null };
  return { ...nothing, to, reference, content, text: 'Your table is ready.' };
}
