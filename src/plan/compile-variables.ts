import { problem } from '../errors.ts';
import type { Leg, SourceText, Variables } from '../model.ts';
import { columnTag } from '../templates/compile.ts';
import { REPORT_COLUMN_PREFIX } from '../util/report-columns.ts';
import { addressKindOf } from './leg-of.ts';
import { compileNamed, isText, type Personalised, type Workshop } from './workshop.ts';

type ProviderTemplate = Extract<Leg['template'], { kind: 'provider' }>;

/** The variables of a template of the provider; null where an error prevents them, or contacts take none. */
export function compileVariables(
  leg: Leg,
  template: ProviderTemplate,
  shop: Workshop,
  required: Set<string>,
): Personalised | null {
  const { campaign, diagnostics } = shop;
  if (addressKindOf(campaign, leg) === 'contact') {
    if (leg.variables !== null || template.needs !== null) {
      const message = 'Contacts of the address book take no variables: the API has no place for them.';
      const hint = 'Remove "variables" and "template.needs", or send to numbers (`recipients.to`).';
      diagnostics.push(problem('invalid-value', message, { ...template.place, hint }));
    }
    return null;
  }
  const sources = leg.variables ?? defaultVariables(template, shop);
  if (leg.variables !== null && template.needs !== null) checkNeeds(leg.variables, template, shop);
  const compiled = compileNamed(sources, shop);
  // Variables that are written, or listed as needed, must be there; every column is only an offer.
  if (leg.variables !== null || template.needs !== null) addRequired(compiled, required);
  return compiled;
}

function addRequired(variables: Personalised, required: Set<string>): void {
  for (const variable of variables) {
    if ('group' in variable) addRequired(variable.group, required);
    else for (const column of variable.template.required) required.add(column);
  }
}

/**
 * Without `variables`: the columns that the template is said to need, else every column but the address and those of a
 * report.
 */
function defaultVariables(template: ProviderTemplate, shop: Workshop): Variables<SourceText> {
  const { campaign, columns } = shop;
  const at = { file: campaign.file, line: template.place.at?.line ?? 1, column: template.place.at?.column ?? 1 };
  if (template.needs === null) {
    const addresses = [campaign.recipients.to, ...campaign.fallbacks.map(({ to }) => to)];
    const isOffered = (name: string): boolean => !addresses.includes(name) && !name.startsWith(REPORT_COLUMN_PREFIX);
    const others = columns.filter(isOffered);
    return Object.fromEntries(others.map((name) => [name, { text: name, ...at }]));
  }
  const found: Record<string, SourceText | Record<string, SourceText>> = Object.create(null);
  const missing = template.needs.filter((name) => !columns.includes(lastOf(name)));
  checkGroups(template.needs, template, shop);
  for (const name of template.needs) {
    const [group, inner] = groupOf(name);
    const source = { text: columnTag(lastOf(name)), ...at };
    if (inner === null) found[name] = source;
    else found[group] = { ...(found[group] as Record<string, SourceText> | undefined), [inner]: source };
  }
  if (missing.length === 0) return found;
  const names = missing.map((name) => `"${name}"`).join(', ');
  const hint = `Add ${missing.length === 1 ? 'it' : 'them'} to the list, or say under "variables" where the values come from.`;
  const message = `The template needs ${names}, which the list does not have as ${missing.length === 1 ? 'a column' : 'columns'}.`;
  shop.diagnostics.push(problem('template-needs', message, { ...template.place, hint }));
  return {};
}

/** Names that no object from outside may have. */
const FORBIDDEN: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** JSON holds either a value or a group under one name. */
function checkGroups(needs: readonly string[], template: ProviderTemplate, shop: Workshop): void {
  const groups = new Set(needs.filter((name) => groupOf(name)[1] !== null).map((name) => groupOf(name)[0]));
  const impossible = [...groups].filter((name) => name === '' || FORBIDDEN.has(name));
  if (impossible.length > 0) {
    const message = `"template.needs" has a group called ${quoted(impossible)}, which is never allowed.`;
    shop.diagnostics.push(
      problem('template-needs', message, { ...template.place, hint: 'Name it as the template does.' }),
    );
  }
  const both = [...new Set(needs)].filter((name) => groups.has(name));
  if (both.length === 0) return;
  const message = `"template.needs" names ${quoted(both)} both as a variable and as a group of variables.`;
  const hint = 'Keep one of the two: "header", or "header.image".';
  shop.diagnostics.push(problem('template-needs', message, { ...template.place, hint }));
}

/** Missing and superfluous variables are errors: the provider would send a hole, or refuse. */
function checkNeeds(variables: Variables<SourceText>, template: ProviderTemplate, shop: Workshop): void {
  const given = new Set(
    Object.entries(variables).flatMap(([name, value]) =>
      isText(value) ? [name] : Object.keys(value).map((inner) => `${name}.${inner}`),
    ),
  );
  const needs = new Set(template.needs ?? []);
  const report = (message: string, hint: string) =>
    shop.diagnostics.push(problem('template-needs', message, { ...template.place, hint }));
  const missing = [...needs].filter((name) => !given.has(name));
  const superfluous = [...given].filter((name) => !needs.has(name));
  if (missing.length > 0) {
    report(`The template needs ${quoted(missing)}, which "variables" does not give.`, 'Add what is missing.');
  }
  if (superfluous.length > 0) {
    const hint = 'Remove it, or add it to "template.needs".';
    report(`"variables" gives ${quoted(superfluous)}, which the template does not need.`, hint);
  }
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}

function groupOf(name: string): readonly [group: string, inner: string | null] {
  const dot = name.indexOf('.');
  return dot === -1 ? [name, null] : [name.slice(0, dot), name.slice(dot + 1)];
}

function lastOf(name: string): string {
  const [group, inner] = groupOf(name);
  return inner ?? group;
}
