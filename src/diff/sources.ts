import { isDeepStrictEqual } from 'node:util';
import type { Campaign, Leg, SourceText, Variables } from '../model.ts';
import { parsePointer } from '../util/pointer.ts';
import { hideAddresses } from './hide.ts';
import type { TemplateChange } from './result.ts';
import { shapeOf } from './word-diff.ts';

/** Whose messages a text is part of: everybody's, those of a variant (null: of the campaign itself), the fallbacks'. */
export type Scope =
  | { readonly kind: 'all' }
  | { readonly kind: 'fallbacks' }
  | { readonly kind: 'own'; readonly variant: string | null };

interface Source {
  readonly text: string;
  readonly scope: Scope;
}

export interface ScopedChange extends TemplateChange {
  readonly scope: Scope;
}

/** Every text of a campaign that is rendered for recipients, by what it is. */
export function sourcesOf(campaign: Campaign): ReadonlyMap<string, Source> {
  const sources = new Map<string, Source>();
  const own = campaign.variants.length === 0 ? [{ name: null, leg: campaign }] : campaign.variants;
  for (const { name, leg } of own) {
    addLeg(sources, leg, name === null ? '' : `variants.${name}.`, { kind: 'own', variant: name });
  }
  for (const leg of campaign.fallbacks) addLeg(sources, leg, `fallback.${leg.channel}.`, { kind: 'fallbacks' });
  addVariables(sources, campaign.recipientMetaData, 'recipientMetaData', { kind: 'all' });
  for (const [name, { text }] of campaign.partials) sources.set(`partials.${name}`, { text, scope: { kind: 'all' } });
  return sources;
}

function addLeg(sources: Map<string, Source>, { template, content, variables }: Leg, at: string, scope: Scope): void {
  if (template?.kind === 'text') sources.set(`${at}text`, { text: template.source.text, scope });
  for (const [pointer, { text }] of content?.texts ?? []) {
    sources.set(`${at}content.${parsePointer(pointer).join('.')}`, { text, scope });
  }
  addVariables(sources, variables, `${at}variables`, scope);
}

function addVariables(
  sources: Map<string, Source>,
  variables: Variables<SourceText> | null,
  at: string,
  scope: Scope,
): void {
  for (const [name, source] of Object.entries(variables ?? {})) {
    if (typeof source.text === 'string') sources.set(`${at}.${name}`, { text: source.text, scope });
    else addVariables(sources, source as Readonly<Record<string, SourceText>>, `${at}.${name}`, scope);
  }
}

/** The texts that differ, with the change of each. */
export function changedSources(before: Campaign, after: Campaign): readonly ScopedChange[] {
  const old = sourcesOf(before);
  const now = sourcesOf(after);
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((what) => {
    const [was, is] = [old.get(what), now.get(what)];
    if (isDeepStrictEqual(was?.text, is?.text)) return [];
    const scope = is?.scope ?? was?.scope ?? { kind: 'all' };
    return [{ what: hideAddresses(what), shape: shapeOf(was?.text ?? '', is?.text ?? ''), scope }];
  });
}

/** Columns that any text of either side may show: all of them where a provider gets every column. */
export function columnsShown(campaigns: readonly Campaign[], columns: readonly string[]): readonly string[] {
  const legs = campaigns.flatMap((one): readonly Leg[] => [
    one,
    ...one.variants.map(({ leg }) => leg),
    ...one.fallbacks,
  ]);
  if (legs.some(({ template, variables }) => template?.kind === 'provider' && variables === null)) return columns;
  const texts = campaigns.flatMap((one) => [...sourcesOf(one).values()].map(({ text }) => text));
  const to = new Set(campaigns.flatMap((one) => one.fallbacks.flatMap((fallback) => fallback.to ?? [])));
  return columns.filter((column) => to.has(column) || texts.some((text) => text.includes(column)));
}
