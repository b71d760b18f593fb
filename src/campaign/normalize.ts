import { type Diagnostic, problem } from '../errors.ts';
import {
  type Campaign,
  type Limits,
  type ListGuards,
  PLAIN_KEYS,
  type SendSettings,
  type Threshold,
  type Validity,
} from '../model.ts';
import { freezeAll } from '../util/json.ts';
import { instantMs } from '../util/time.ts';
import { durationMs, share } from '../util/units.ts';
import { mainStep, readFallbacks, readSplit, readVariants, textsAt } from './channel-steps.ts';
import { checked, checkRate, checkTime, checkTimeZone, type Finding, type Report } from './check-values.ts';
import { DEFAULTS, TIMEOUT_BOUNDS_MS } from './defaults.ts';
import type { NamedCampaign } from './find.ts';
import { readList } from './list-spec.ts';
import { type Merged, plainKeys } from './merge.ts';
import {
  readCanary,
  readExclude,
  readFollowUp,
  readFrequency,
  readSchedule,
  readWindow,
  readWinnerRule,
} from './rules.ts';
import type { Sources } from './sources.ts';

interface NormalizeInput extends Pick<Campaign, 'project' | 'file' | 'inputs' | 'suppressions' | 'unreachable'> {
  readonly merged: Merged;
  readonly sources: Sources;
  readonly siblings: readonly Pick<NamedCampaign, 'name' | 'id'>[];
  /** The command line passes the list, so that the campaign need not name one. */
  readonly listIsPassed: boolean;
  /** A misspelt key was reported, so this one is not missing as well. */
  isExcused(pointer: string): boolean;
}

/** Fills in defaults, resolves units, checks values beyond the schema. Valid only without errors; frozen. */
export async function normalizeCampaign(
  input: NormalizeInput,
): Promise<{ readonly campaign: Campaign | null; readonly diagnostics: readonly Diagnostic[] }> {
  const { merged, sources, project } = input;
  const { file } = merged;
  const diagnostics: Diagnostic[] = [];
  const report: Report = (pointer, code, message, hint) => {
    const where = merged.where(pointer) ?? { at: { file: input.file } };
    diagnostics.push(problem(code, message, { ...where, hint }));
  };

  checkRequired(input, report);
  checkMetaData(merged, report);
  const main = mainStep(merged, sources, report);
  const timeZone = checked(file.timeZone, '/timeZone', checkTimeZone, report) ?? DEFAULTS.timeZone;
  const fallbacks = readFallbacks(main, merged, sources, report);
  const campaign: Omit<Campaign, 'recipients'> = {
    ...main,
    name: file.name ?? '',
    id: file.id ?? file.name ?? '',
    isIdWritten: file.id !== undefined,
    namePlace: merged.where('/name') ?? {},
    ...plainKeys(PLAIN_KEYS, file),
    timeZone,
    validity: checked(file.validity, '/validity', readValidity, report),
    variants: readVariants(main, fallbacks, merged, sources, report),
    split: { ...readSplit(merged, report), decides: readWinnerRule(file, report) },
    fallbacks,
    recipientMetaData:
      file.recipientMetaData === undefined ? null : textsAt(merged, '/recipientMetaData', file.recipientMetaData),
    partials: sources.partials,
    send: readSend(merged, report),
    limits: readLimits(merged, report),
    guards: readGuards(merged, input.listIsPassed, report),
    schedule: await readSchedule(merged, report),
    suppressions: input.suppressions,
    unreachable: file.topic === 'essential' ? null : input.unreachable,
    after: readFollowUp(merged, input.siblings, report),
    exclude: readExclude(merged, { others: input.siblings, timeZone, report }),
    ...readFrequency(merged, report),
    file: input.file,
    project,
    inputs: [...input.inputs, ...sources.inputs],
  };
  const list = readList(merged, sources, input.listIsPassed, main.channel, report);
  const complete = list !== null && diagnostics.length === 0 && sources.diagnostics.length === 0;
  return { campaign: complete ? freezeAll({ ...campaign, recipients: list }) : null, diagnostics };
}

/** Keys that the schema does not require, because handbill.yaml or the command line may give them. */
function checkRequired({ merged, listIsPassed, isExcused }: NormalizeInput, report: Report): void {
  const { template, content, variants = [] } = merged.file;
  const hasMessage = template !== undefined || content !== undefined || variants.length > 0;
  if (
    !hasMessage &&
    !['/template', '/content', '/variants'].some((key) => isExcused(key) || merged.own(key) !== undefined)
  ) {
    report('', 'missing-key', '"template" is missing.', 'For example: template: hello.hbs');
  }
  if (!merged.isWritten('/channel') && !isExcused('/channel')) {
    report('', 'missing-key', '"channel" is missing.', 'For example: channel: sms');
  }
  const { csv, list, contacts, sample } = merged.recipients;
  if (sample !== undefined && (list !== undefined || contacts !== undefined)) {
    const message = '"recipients.sample" is for a list in a file, and the recipients are in the campaign.';
    report('/recipients/sample', 'invalid-value', message, 'Remove it.');
  }
  if (listIsPassed || csv !== undefined || list !== undefined || contacts !== undefined) return;
  const own = merged.own('/recipients');
  const hint = 'Name a CSV file here, or pass one with --recipients FILE.';
  if (own === undefined) {
    if (!isExcused('/recipients')) report('', 'missing-key', '"recipients" is missing.', hint);
  } else if (own !== null && typeof own === 'object' && !Array.isArray(own)) {
    const places = ['csv', 'list', 'contacts'].map((key) => `/recipients/${key}`);
    const isMissing = places.every((place) => merged.own(place) === undefined && !isExcused(place));
    if (isMissing) report('/recipients', 'missing-key', '"recipients.csv" is missing.', hint);
  }
}

/** handbill's reference uses this name. */
function checkMetaData(merged: Merged, report: Report): void {
  for (const key of ['metaData', 'recipientMetaData'] as const) {
    if (merged.file[key]?.['handbill'] === undefined) continue;
    const message = `"${key}.handbill" is taken: handbill's own reference travels there.`;
    report(`/${key}/handbill`, 'invalid-value', message, 'Use another name.');
  }
}

/** A duration from the run's first start, or an instant. */
function readValidity(text: string): Finding<Validity> {
  const ms = durationMs(text);
  if (ms !== null) {
    return ms > 0 ? { value: { kind: 'duration', ms } } : invalid(`A validity of "${text}" is over at once.`);
  }
  const epochMs = instantMs(text);
  return epochMs === null
    ? invalid(`"${text}" is neither a duration nor an instant that exists.`)
    : { value: { kind: 'until', epochMs } };
}

function readSend(merged: Merged, report: Report): SendSettings {
  const { concurrency, rate, attempts, timeout, notAfter, recipientsPerRequest } = merged.file.send ?? {};
  const { min, max } = TIMEOUT_BOUNDS_MS;
  const notAfterMs = notAfter === undefined ? null : instantMs(notAfter);
  if (notAfter !== undefined && notAfterMs === null) {
    report('/send/notAfter', 'invalid-value', `"${notAfter}" is not an instant that exists.`);
  }
  return {
    concurrency: concurrency ?? DEFAULTS.concurrency,
    ratePerSecond: checked(rate, '/send/rate', checkRate, report),
    attempts: attempts ?? DEFAULTS.attempts,
    timeoutMs: checked(timeout, '/send/timeout', checkTime(min, max), report) ?? DEFAULTS.timeoutMs,
    notAfterMs,
    window: readWindow(merged, report),
    canary: readCanary(merged, report),
    recipientsPerRequest: recipientsPerRequest ?? DEFAULTS.recipientsPerRequest,
  };
}

function readLimits(merged: Merged, report: Report): Limits {
  const { maxRecipients, maxParts, maxCost, stopAfter = {} } = merged.file.limits ?? {};
  const threshold = (key: 'inDoubt' | 'rejected'): Threshold | null => {
    const written = stopAfter[key];
    if (written === undefined) return null;
    if (typeof written === 'number') return { count: written };
    const part = share(written);
    if (part !== null && part > 0) return { share: part };
    report(`/limits/stopAfter/${key}`, 'invalid-value', `"${written}" is not a share above 0% and up to 100%.`);
    return null;
  };
  return {
    maxRecipients: maxRecipients ?? null,
    maxParts: maxParts ?? null,
    maxCost: maxCost ?? null,
    stopAfterInDoubt: threshold('inDoubt'),
    stopAfterRejected: threshold('rejected'),
  };
}

function readGuards(merged: Merged, listIsPassed: boolean, report: Report): ListGuards {
  const { maxAge, csv } = merged.recipients;
  const { minRecipients, change } = merged.file.limits ?? {};
  const written = (pointer: string, text: string) => ({ text, place: merged.where(pointer) ?? {} });
  const ms = checked(maxAge, '/recipients/maxAge', checkTime(1000), report);
  if (merged.own('/recipients/maxAge') !== undefined && csv === undefined && !listIsPassed) {
    const message = '"recipients.maxAge" is for a list in a file, and the recipients are in the campaign.';
    report('/recipients/maxAge', 'invalid-value', message, 'Remove it.');
  }
  return {
    maxAge: maxAge === undefined || ms === null ? null : { ...written('/recipients/maxAge', maxAge), ms },
    minRecipients:
      minRecipients === undefined
        ? null
        : { ...written('/limits/minRecipients', String(minRecipients)), count: minRecipients },
    change:
      change === undefined
        ? null
        : { ...written('/limits/change', change), share: Number(change.replace('%', '')) / 100 },
  };
}

function invalid(message: string): Finding<never> {
  return { code: 'invalid-value', message };
}
