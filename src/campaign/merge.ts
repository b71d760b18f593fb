import type { SourceText } from '../model.ts';
import { isList, valueAt } from '../util/json.ts';
import type { CampaignFile, ProjectFile, RecipientsFile } from './written.ts';
import { type Where, whereValue, type YamlFile } from './yaml.ts';

export type Merged = ReturnType<typeof mergeDefaults>;

/** Merged key by key; the campaign replaces everything else as a whole. */
const MERGED = ['send', 'limits', 'metaData', 'variables', 'recipientMetaData'] as const;

/** Merges a campaign over `defaults:` of handbill.yaml, and those over its `locale` and `timeZone`. */
export function mergeDefaults(
  campaign: Partial<CampaignFile>,
  project: ProjectFile,
  yamls: { readonly campaign: YamlFile; readonly project: YamlFile | null },
) {
  const { recipients: listDefaults, ...defaults } = project.defaults ?? {};
  const { locale, timeZone } = project;
  const base = {
    ...(locale === undefined ? {} : { locale }),
    ...(timeZone === undefined ? {} : { timeZone }),
    ...defaults,
  };
  const { recipients, ...own } = campaign;
  const file: Record<string, unknown> = { ...base, ...own };
  for (const key of MERGED) {
    if (base[key] !== undefined && own[key] !== undefined) file[key] = { ...base[key], ...own[key] };
  }
  const stopAfter = { ...base.limits?.stopAfter, ...own.limits?.stopAfter };
  if (Object.keys(stopAfter).length > 0) file['limits'] = { ...(file['limits'] as object), stopAfter };
  const windows = [base.send?.window, own.send?.window];
  if (windows.every((window) => typeof window === 'object')) {
    file['send'] = { ...(file['send'] as object), window: Object.assign({}, ...windows) };
  }
  // `recipients: people.csv` is `recipients: { csv: people.csv }`, and a list is `{ list: [...] }`.
  const list = isList(recipients) ? { list: recipients } : recipients;
  const isName = typeof valueAt(yamls.campaign.value, '/recipients') === 'string';
  const isInline = Array.isArray(valueAt(yamls.campaign.value, '/recipients'));
  const ownPointer = (p: string) => {
    if (p === '/recipients/csv' && isName) return '/recipients';
    return isInline ? p.replace(/^\/recipients\/list/, '/recipients') : p;
  };

  const places = [
    { yaml: yamls.campaign, pointerOf: ownPointer },
    ...(yamls.project === null
      ? []
      : [
          { yaml: yamls.project, pointerOf: (p: string) => `/defaults${p}` },
          { yaml: yamls.project, pointerOf: (p: string) => p },
        ]),
  ];
  const placeOf = (pointer: string) => {
    for (const { yaml, pointerOf } of places) {
      const own = pointerOf(pointer);
      if (yaml.places.has(own)) return { yaml, pointer: own };
    }
    return null;
  };
  return {
    file: file as Partial<Omit<CampaignFile, 'recipients'>>,
    recipients: { ...listDefaults, ...(typeof list === 'string' ? { csv: list } : list) } as Partial<RecipientsFile>,
    where(pointer: string): Where | null {
      const place = placeOf(pointer);
      return place === null ? null : whereValue(place.yaml, place.pointer);
    },
    text(pointer: string): SourceText | null {
      const place = placeOf(pointer);
      if (place === null) return null;
      const text = valueAt(place.yaml.value, place.pointer);
      if (typeof text !== 'string') return null;
      const start = place.yaml.places.get(place.pointer)?.textStart ?? 0;
      return { text, file: place.yaml.text.file, ...place.yaml.text.position(start) };
    },
    /** A plain scalar as written: `+447700900123`, where YAML reads a number. */
    plain(pointer: string): string | null {
      const place = placeOf(pointer);
      return place?.yaml.places.get(place.pointer)?.plain ?? null;
    },
    /** True even for a value that was reported and dropped. */
    isWritten: (pointer: string): boolean => placeOf(pointer) !== null,
    own: (pointer: string): unknown => valueAt(yamls.campaign.value, pointer),
  };
}

/** Picks the keys of `absent`; missing ones have its values. */
export function plainKeys<T extends object>(absent: T, written: object): T {
  const keys = Object.entries(absent).map(([key, value]) => [key, written[key as keyof typeof written] ?? value]);
  return Object.fromEntries(keys) as T;
}
