import { createSenderCheck, senderAdvice } from '../content/senders.ts';
import { unicodeCauses } from '../content/unicode.ts';
import { type Code, type Diagnostic, type Position, warning } from '../errors.ts';
import type {
  Campaign,
  Decision,
  DeferDecision,
  JsonObject,
  SendDecision,
  SkipDecision,
  Step,
  StepMessage,
} from '../model.ts';
import { doubtAboutEmail } from '../recipients/email.ts';
import { doubtAbout, type NumberDoubt } from '../recipients/phone.ts';
import { show } from '../recipients/show.ts';
import { columnTag } from '../templates/compile.ts';
import { entityIn, placeholderIn } from '../templates/entities.ts';
import { eq } from '../templates/helpers/compare.ts';
import type { LinkPart } from '../templates/links.ts';
import { compared, yamlName } from '../util/cell.ts';
import { createCarrierCheck } from './carriers.ts';
import { channelStepsOf } from './compile.ts';
import { createLanguageCheck } from './languages.ts';
import type { Plan } from './plan.ts';
import type { CheckContent } from './write-message.ts';

/** Characters of entities, tags and placeholders. */
const MAY_BE_LEFT = /[&<{%|[\]}]/;

export async function createWarner({
  campaign,
  check,
  columns,
  compiled,
}: Pick<Plan, 'campaign' | 'check' | 'columns' | 'compiled'>) {
  const steps = channelStepsOf(campaign);
  const links = compiled.links.map((part) => ({ ...part, index: columns.indexOf(part.column) }));
  // The numbers of invented people are those that no one has.
  const isSample = campaign.recipients.sampled !== undefined;
  const ofNumber = (message: StepMessage, assigned: boolean, at: Position): Diagnostic | null => {
    const found = numberWarning(message, assigned, at);
    return isSample && found?.code === 'unassigned-number' ? null : found;
  };
  const warnsOfAddress = campaign.recipients.duplicates !== 'keep';
  const ofCarrier = await createCarrierCheck(campaign);
  const senders = new Map<Step, ReturnType<typeof createSenderCheck>>();
  const ruleOf = (step: Step, country: string | null) => {
    let check = senders.get(step);
    if (check === undefined) {
      check = createSenderCheck(step.channel === 'sms' ? step.from : null, campaign.project.senderRules);
      senders.set(step, check);
    }
    return check(country);
  };
  const ofStep = (message: StepMessage, variant: string | null, at: Position): readonly Diagnostic[] => {
    const step = steps(message, variant);
    const ofText = both(ofMessage(message, step, check, at), ofCarrier(message, at));
    const doubt = message.step === 0 ? null : ofNumber(message, true, at);
    const found = both(doubt === null ? NOTHING : [doubt], both(ofText, ofVariables(message, step, at)));
    const rule = ruleOf(step, message.country);
    if (rule === null || step.from === null || message.country === null) return found;
    const { message: said, hint } = senderAdvice(step.from, message.country, rule);
    return [...found, warning('sender-country', said, { at, hint })];
  };
  const ofLater = ({ mayGet, recipient }: DeferDecision, at: Position): readonly Diagnostic[] => {
    const [first] = mayGet;
    const number = first === undefined ? null : ofNumber(first, recipient.assigned, at);
    const found = mayGet.flatMap((message) => {
      const own = ofStep(message, message.variant, at);
      return message.step === 0 ? own : ofFallback(message, own);
    });
    // A warning that several variants share is printed once.
    const shared = [...(number === null ? [] : [number]), ...ofLinks(links, recipient.values, at)];
    return [...shared, ...new Map(found.map((one) => [one.message, one])).values()];
  };
  return (decision: SendDecision | SkipDecision | DeferDecision): readonly Diagnostic[] => {
    const at = { file: campaign.recipients.file, line: decision.line };
    if (decision.decision === 'skip') return ofDuplicate(decision, at, campaign.recipients);
    if (decision.decision === 'defer') return ofLater(decision, at);
    const own = both(ofStep(decision, decision.variant, at), ofLinks(links, decision.recipient.values, at));
    const shared = warnsOfAddress ? ofSharedAddress(decision, at) : NOTHING;
    const number = ofNumber(decision, decision.recipient.assigned, at);
    if (number === null && shared.length === 0 && decision.fallbacks.length === 0) return own;
    return [
      ...(number === null ? [] : [number]),
      ...shared,
      ...own,
      ...decision.fallbacks.flatMap((message) => ofFallback(message, ofStep(message, decision.variant, at))),
    ];
  };
}

/** Finds comparisons that no recipient meets, languages without a variant, and columns whose values hold HTML entities. */
export function createComparisonCheck({
  campaign,
  columns,
  compiled,
}: Pick<Plan, 'campaign' | 'columns' | 'compiled'>) {
  const byPlace = new Map(
    compiled.comparisons.map((one) => [JSON.stringify([one.place.at, one.column, one.text]), one]),
  );
  let open = [...byPlace.values()].map((one) => ({
    one,
    index: columns.indexOf(one.column),
    folded: fold(one.text),
    like: null as string | null,
  }));
  let isAnyMeant = false;
  const { file } = campaign.recipients;
  const entities = new Map<number, Diagnostic>();
  const unused = new Map(compiled.branches.map(({ name, at }) => [name, at]));
  const languages = createLanguageCheck({ campaign, columns });
  return {
    add(decision: Decision): void {
      languages?.add(decision);
      if (decision.decision !== 'send' && decision.decision !== 'defer') return;
      isAnyMeant = true;
      for (const { variant } of decision.decision === 'send' ? [decision] : decision.mayGet) {
        if (variant !== null) unused.delete(variant);
      }
      for (const index of compiled.used) {
        if (entities.has(index)) continue;
        const value = decision.recipient.values[index] ?? '';
        // Most values have none of the characters.
        if (!MAY_BE_LEFT.test(value)) continue;
        const placeholder = placeholderIn(value);
        const found = entityIn(value);
        const text = placeholder ?? found?.text;
        if (text === undefined) continue;
        const said = `The column "${columns[index] ?? ''}" holds "${text}", which would be sent literally.`;
        const hint =
          placeholder === null
            ? `${found?.hint} A web system may have exported the list as HTML.`
            : 'The program that wrote the list did not fill it in: export the list again, or correct it.';
        const code = placeholder === null ? 'html-entity' : 'foreign-tag';
        entities.set(index, warning(code, said, { at: { file, line: decision.line }, hint }));
      }
      if (open.length === 0) return;
      const { values } = decision.recipient;
      const isMet = ({ one, index }: (typeof open)[number]): boolean => eq(values[index] ?? '', one.text);
      if (open.some(isMet)) open = open.filter((comparison) => !isMet(comparison));
      for (const comparison of open) {
        if (comparison.like !== null) continue;
        const value = values[comparison.index] ?? '';
        if (fold(value) === comparison.folded) comparison.like = value;
      }
    },
    unmet: () =>
      !isAnyMeant
        ? NOTHING
        : [
            ...[...unused].map(([name, at]) =>
              warning('unmet-comparison', `No recipient gets the variant "${name}".`, { at, hint: UNUSED }),
            ),
            ...(languages?.warnings() ?? []),
            ...entities.values(),
            ...open.map(({ one: { column, text, place }, like }) =>
              warning(
                'unmet-comparison',
                `No recipient who is sent to has ${JSON.stringify(text)} in the column "${column}".`,
                {
                  ...place,
                  hint:
                    like === null
                      ? 'Check the text and the column. Upper and lower case count.'
                      : `The list has ${JSON.stringify(like)}: upper and lower case count.`,
                },
              ),
            ),
          ],
  };
}

const UNUSED = 'Check the condition and the columns, and whether a variant before it takes its recipients.';

function fold(text: string): string {
  return compared(text).toLowerCase();
}

/** Nearly all rows have no warning: then no list is made. */
function both(some: readonly Diagnostic[], others: readonly Diagnostic[]): readonly Diagnostic[] {
  return some.length === 0 ? others : others.length === 0 ? some : [...some, ...others];
}

const EMPTY: JsonObject = Object.freeze({});
const NOTHING: readonly Diagnostic[] = Object.freeze([]);

const NUMBER_CODES: Readonly<Partial<Record<NumberDoubt['kind'], Code>>> = {
  'wrong-length': 'wrong-length-number',
  landline: 'landline-number',
  unassigned: 'unassigned-number',
};

const NUMBER_HINTS: Readonly<Partial<Record<NumberDoubt['kind'], string>>> = {
  'wrong-length':
    'Look whether a digit is missing. `recipients.alsoInvalid: [wrong-length]` takes such numbers for invalid.',
};

function numberWarning({ to, country, channel }: StepMessage, assigned: boolean, at: Position): Diagnostic | null {
  // Contacts and email addresses are no numbers; a landline takes calls, and may have an account of a messaging app.
  if (channel === 'email') {
    const doubt = doubtAboutEmail(to);
    return doubt && warning('unusual-address', `The address ${doubt.problem}.`, { at, hint: doubt.hint });
  }
  if (!to.startsWith('+') || (assigned && channel !== 'sms' && channel !== 'voice')) return null;
  const doubt = doubtAbout({ to, country, assigned }, channel === 'voice');
  if (doubt === null) return null;
  const { kind, problem } = doubt;
  const other = `Ask for a mobile number. \`recipients.alsoInvalid: [${kind}]\` takes such numbers for invalid.`;
  const hint = kind === 'unassigned' ? {} : { hint: NUMBER_HINTS[kind] ?? other };
  return warning(NUMBER_CODES[kind] ?? 'special-number', `The number ${problem}.`, { at, ...hint });
}

/** A duplicate that says the same is what the first row is for; another text is lost. */
function ofDuplicate(
  { duplicateOf, isSame, key }: SkipDecision,
  at: Position,
  list: Pick<Campaign['recipients'], 'key' | 'to'>,
): readonly Diagnostic[] {
  if (duplicateOf === undefined || isSame === true) return NOTHING;
  const message = `Line ${at.line} is a duplicate of line ${duplicateOf} with other values: only line ${duplicateOf} counts.`;
  // Spreadsheets keep 15 digits of a number.
  const rounded = /^\d{15}0+$/.test(key ?? '')
    ? ' Or a spreadsheet rounded the keys: give the column the format "Text" there.'
    : '';
  const columns = list.key.length > 0 ? list.key : [list.to];
  const example = `recipients.key: [${columns.map(yamlName).join(', ')}, order]`;
  const hint = `Remove the row that is wrong. If you want to send both, name the columns that tell them apart: \`${example}\`.`;
  return [warning('duplicate-differs', message, { at, hint: hint + rounded })];
}

function ofSharedAddress({ sameAddressAs }: SendDecision, at: Position): readonly Diagnostic[] {
  if (sameAddressAs === undefined) return NOTHING;
  const message = `Lines ${sameAddressAs} and ${at.line} have the same address and different keys: both are sent to.`;
  const hint =
    'Set `recipients.duplicates`: `skip` sends to the first only, `keep` sends to both without this warning.';
  return [warning('duplicate-address', message, { at, hint })];
}

function ofFallback({ channel }: StepMessage, found: readonly Diagnostic[]): readonly Diagnostic[] {
  return found.map((one) => ({ ...one, message: `Fallback to ${channel}: ${one.message}` }));
}

/** No code of a character; and in a query what ends a value, or is read as a blank. */
const CHANGES_LINK = /%(?![\da-f]{2})/i;
const CHANGES_QUERY = /[&=#?]|%(?![\da-f]{2})|^\+|\+(?=.*@)/i;

/** Characters that break a link in the row: a blank anywhere, and in a query one that means something there. */
function ofLinks(
  links: readonly (LinkPart & { readonly index: number })[],
  values: readonly string[],
  at: Position,
): readonly Diagnostic[] {
  if (links.length === 0) return NOTHING;
  return links.flatMap(({ column, inQuery, index }) => {
    const value = values[index] ?? '';
    const sign = (inQuery ? CHANGES_QUERY : CHANGES_LINK).exec(value)?.[0];
    if (!/\s/.test(value) && sign === undefined) return [];
    const why = sign === undefined ? 'has a blank, where the link ends' : `has "${sign}", which changes the link`;
    const message = `The value ${show(value)} of the column "${column}" is not encoded in a link: it ${why}.`;
    return [warning('value-in-link', message, { at, hint: `Write {{url ${columnTag(column).slice(2, -2)}}}.` })];
  });
}

/** Values that a messaging app refuses in a template, one message at a time, after the start. */
function ofVariables({ channel, variables }: StepMessage, step: Step, at: Position): readonly Diagnostic[] {
  if (channel !== 'messaging-app' || step.template?.kind !== 'provider' || variables === null) return NOTHING;
  const texts = Object.entries(variables).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as const] : Object.entries(value),
  );
  return texts.flatMap(([name, value]) => {
    const what = /[\n\r\u0085\u2028\u2029]/.test(value)
      ? 'a line end'
      : /[\t\v\f]/.test(value)
        ? 'a tab'
        : /\p{Zs}{5,}/u.test(value)
          ? 'more than four blanks in a row'
          : null;
    if (what === null) return [];
    const message = `The variable "${name}" has ${what}, and messaging apps refuse a template with that.`;
    return [
      warning('content-advice', message, { at, hint: `Write {{oneline ...}} around the column under \`variables\`.` }),
    ];
  });
}

function ofMessage(message: StepMessage, step: Step, check: CheckContent | null, at: Position): readonly Diagnostic[] {
  if (message.channel === 'sms' && message.replaced.length === 0 && message.sms?.encoding !== 'UCS-2') return NOTHING;
  const found: Diagnostic[] = [];
  if (message.replaced.length > 0) {
    const list = [...new Set(message.replaced.map((r) => `${r.from} -> ${r.to || 'nothing'}`))].join(', ');
    found.push(warning('transliterated', `Replaced to stay in GSM-7: ${list}.`, { at }));
  }
  if (message.sms?.encoding === 'UCS-2' && step.characterSet === 'auto' && message.text !== null) {
    found.push(unicodeWarning(message.text, message.sms.parts, at));
  }
  if (message.channel === 'sms' || check === null) return found;
  const text = step.template?.kind === 'provider' ? null : (message.text ?? undefined);
  for (const { severity, code, message: said, hint } of check(message.channel, message.content ?? EMPTY, text)) {
    if (severity === 'warning') found.push(warning(code, said, { at, hint }));
  }
  return found;
}

function unicodeWarning(text: string, parts: number, at: Position): Diagnostic {
  const causes = unicodeCauses(text);
  const named = [...new Set(causes.map((c) => c.character))].slice(0, 5).join(' ');
  const first = causes[0];
  const where = first === undefined ? '' : `, first at line ${first.line}, column ${first.column} of the message`;
  const plural = parts === 1 ? '1 part' : `${parts} parts`;
  return warning('unicode-message', `Outside GSM-7: ${named}${where}. The message is Unicode, in ${plural}.`, { at });
}
