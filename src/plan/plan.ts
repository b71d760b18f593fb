import { type Diagnostic, EXIT, HandbillError, problem, refuse } from '../errors.ts';
import type { Campaign, Environment, InputFile, Recipient, Row, SendRequest, SourceText } from '../model.ts';
import { resolveColumns } from '../recipients/columns.ts';
import { type List, openList } from '../recipients/read.ts';
import { createRecipientReader, type InvalidRow } from '../recipients/recipient.ts';
import { type CompiledTemplate, columnTag, compileTemplate, type TemplateValues } from '../templates/compile.ts';
import { createValues } from '../templates/values.ts';
import { didYouMean } from '../util/suggest.ts';
import { createExpander, type Personal } from './expand.ts';
import { createReference } from './reference.ts';
import { settingsInput } from './settings.ts';

/** What would happen: a campaign, an environment and an occurrence, with everything compiled that a row needs. */
export interface Plan {
  readonly campaign: Campaign;
  readonly environment: Environment;
  readonly occurrence: string;
  readonly columns: readonly string[];
  /** Hashes of all that goes into a message, except the list, whose hash is known once it has been read. */
  readonly inputs: readonly InputFile[];
  /** Found while the plan was made: unused columns, entities in an SMS. Never errors. */
  readonly warnings: readonly Diagnostic[];
  readonly stages: Stages;
  readonly referenceOf: (key: string) => string;
  /** The request for one recipient; `startMs` is the run's first start, which dates a relative validity. */
  expander(startMs: number): (to: string, key: string, personal: Personal) => SendRequest;
}

/** What is done to a row, in order. */
export interface Stages {
  readonly recipient: (row: Row) => Recipient | InvalidRow;
  readonly values: (values: readonly string[]) => TemplateValues;
  /** The columns (by position) that must not be empty, with their names. */
  readonly required: readonly { readonly index: number; readonly name: string }[];
  readonly text: CompiledTemplate | null;
  readonly variables: Personalised | null;
  readonly metaData: Personalised | null;
}

export type Personalised = readonly { readonly name: string; readonly template: CompiledTemplate }[];

export interface PlanOptions {
  readonly environment: string;
  readonly occurrence: string;
}

/**
 * Makes a plan: reads the header of the list, resolves columns, compiles and checks the templates.
 * Opens no connection and reads no row. Throws `HandbillError` (exit 2) with everything that is wrong.
 */
export async function createPlan(campaign: Campaign, options: PlanOptions): Promise<Plan> {
  const environment = environmentOf(campaign, options.environment);
  checkOccurrence(options.occurrence);
  const list = await openList(campaign.recipients);
  await list.close();
  const compiled = compile(campaign, list);
  const errors = compiled.diagnostics.filter((d) => d.severity === 'error');
  if (compiled.stages === null || errors.length > 0) throw new HandbillError(EXIT.refused, errors);
  const identity = { environment: environment.name, campaign: campaign.name, occurrence: options.occurrence };
  const referenceOf = createReference(identity, campaign.channel);
  return {
    campaign,
    environment,
    occurrence: options.occurrence,
    columns: list.columns,
    inputs: [...campaign.inputs.filter((i) => i.role !== 'project'), settingsInput(campaign, environment)],
    warnings: compiled.diagnostics,
    stages: compiled.stages,
    referenceOf,
    expander: (startMs) => createExpander(campaign, environment, referenceOf, startMs),
  };
}

/** What makes a run the same run must be something that people can read and write again. */
function checkOccurrence(occurrence: string): void {
  if (/^[^\s\p{C}]([^\p{C}]{0,98}[^\s\p{C}])?$/u.test(occurrence)) return;
  const hint = 'Name it in 1 to 100 characters on one line, such as 2026-11-21 or spring-2.';
  throw refuse(
    problem('usage', `${JSON.stringify(occurrence.slice(0, 40))} cannot be the name of an occurrence.`, { hint }),
  );
}

function environmentOf(campaign: Campaign, name: string): Environment {
  const environment = campaign.project.environments.get(name);
  if (environment !== undefined) return environment;
  const known = [...campaign.project.environments.keys()];
  throw refuse(
    problem('unknown-environment', `There is no environment "${name}".`, {
      at: { file: campaign.project.file ?? 'handbill.yaml' },
      hint: didYouMean(name, known).hint ?? `Environments stand in handbill.yaml; known here: ${known.join(', ')}.`,
    }),
  );
}

/** Compiles everything that is rendered per recipient; `stages` is null where an error stands in the way. */
function compile(campaign: Campaign, list: List): { stages: Stages | null; diagnostics: readonly Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const used = new Set<string>();
  const required = new Set<string>();
  const one = (source: SourceText): CompiledTemplate | null => {
    const { template, diagnostics: found } = compileTemplate(source, {
      columns: list.columns,
      partials: campaign.partials,
      escape: 'none',
      locale: campaign.locale,
      timeZone: campaign.timeZone,
    });
    diagnostics.push(...found);
    for (const column of template?.columns ?? []) used.add(column);
    return template;
  };
  const many = (sources: Readonly<Record<string, SourceText>>): Personalised =>
    Object.entries(sources).flatMap(([name, source]) => {
      const template = one(expression(source));
      return template === null ? [] : [{ name, template }];
    });

  const text = campaign.template.kind === 'text' ? one(campaign.template.source) : null;
  for (const column of text?.required ?? []) required.add(column);
  const variables =
    campaign.template.kind === 'provider' ? many(campaign.variables ?? everyColumn(campaign, list)) : null;
  if (campaign.variables !== null)
    for (const v of variables ?? []) for (const c of v.template.required) required.add(c);
  const metaData = campaign.recipientMetaData === null ? null : many(campaign.recipientMetaData);

  const columns = resolveColumns(campaign.recipients, list.columns, list.headerLine);
  if (Array.isArray(columns)) diagnostics.push(...columns);
  if (diagnostics.some((d) => d.severity === 'error')) return { stages: null, diagnostics };
  const stages: Stages = {
    recipient: createRecipientReader(campaign.recipients, list.columns),
    values: createValues(list.columns, [...used]),
    required: [...required].map((name) => ({ index: list.columns.indexOf(name), name })),
    text,
    variables,
    metaData,
  };
  return { stages, diagnostics };
}

/** A bare column name is that column; anything with braces is an expression. */
function expression(source: SourceText): SourceText {
  return source.text.includes('{{') ? source : { ...source, text: columnTag(source.text) };
}

function everyColumn(campaign: Campaign, list: List): Readonly<Record<string, SourceText>> {
  const address = campaign.recipients.to;
  return Object.fromEntries(
    list.columns
      .filter((name) => name !== address)
      .map((name) => [name, { text: name, file: campaign.file, line: 1, column: 1 }]),
  );
}
