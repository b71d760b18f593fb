import type { ContentProblem } from '../content/problem.ts';
import type { Diagnostic } from '../errors.ts';
import type { Campaign, Content, Json, JsonObject, Leg } from '../model.ts';
import { pointerTo } from '../util/json.ts';
import type { Workshop } from './workshop.ts';

/** What can be said before the first row: texts with expressions in them are not known yet. */
export function checkAtLoad(leg: Leg, content: Content | null, shop: Workshop): void {
  const { template } = leg;
  // The provider has the rest of an email: its subject need not stand here.
  if (leg.channel === 'email' && template?.kind === 'provider') return;
  const source = template?.kind === 'text' ? template.source.text : undefined;
  const text = template?.kind === 'provider' || source?.includes('{{') ? null : source;
  const tree = content === null ? {} : (known(content.tree, '', content) as JsonObject);
  for (const found of shop.check?.(leg.channel, tree, text) ?? []) {
    shop.diagnostics.push(diagnosticOf(found, leg, content, shop.campaign));
  }
}

function known(value: Json, pointer: string, content: Content): Json {
  if (typeof value === 'string') {
    const text = content.texts.get(pointer)?.text ?? value;
    return text.includes('{{') ? null : text;
  }
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item: Json, i) => known(item, `${pointer}/${i}`, content));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]: [string, Json]) => [
      key,
      known(inner, pointer + pointerTo([key]), content),
    ]),
  );
}

/** At the part of the content that is wrong; where that is not written, at what encloses it. */
function diagnosticOf(found: ContentProblem, leg: Leg, content: Content | null, campaign: Campaign): Diagnostic {
  const { code, severity, message, hint } = found;
  const place = placeOf(found.pointer, content) ?? templatePlace(leg) ?? { at: { file: campaign.file } };
  return { code, severity, message, ...place, ...(hint === undefined ? {} : { hint }) };
}

function placeOf(pointer: string, content: Content | null): Pick<Diagnostic, 'at' | 'source'> | null {
  if (content === null) return null;
  for (let p = pointer; ; p = p.slice(0, p.lastIndexOf('/'))) {
    const place = content.places.get(p);
    if (place !== undefined) return place;
    if (p === '') return null;
  }
}

function templatePlace(leg: Leg): Pick<Diagnostic, 'at' | 'source'> | null {
  if (leg.template?.kind === 'provider') return leg.template.place;
  if (leg.template?.kind !== 'text') return null;
  const { file, line, column } = leg.template.source;
  return { at: { file, line, column } };
}
