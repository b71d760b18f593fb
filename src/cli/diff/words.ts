import type {
  CampaignDiff,
  CountryFigures,
  DecisionChange,
  Diff,
  Figures,
  Finding,
  RecipientsDiff,
  RuleChange,
  SideName,
  TemplateChange,
  TextGroup,
} from '../../diff/result.ts';
import { type CostRange, listCostText } from '../../plan/estimate.ts';
import { countOf, money, number } from '../../report/words.ts';
import { microsOf } from '../../util/units.ts';

/* The words of a diff, the same for terminals and for pull requests. Nothing here is escaped. */

/** Shown for a figure that one side lacks. */
export const NONE = '-';

function sideWords({ name, commit, mergeBase }: SideName): string {
  if (commit === null) return `the ${name}`;
  return mergeBase ? `${commit.slice(0, 8)} (where ${name} and this side part)` : `${name} (${commit.slice(0, 8)})`;
}

export function headline({ before, after, environment }: Diff): string {
  return `From ${sideWords(before)} to ${sideWords(after)}, environment ${environment}.`;
}

export function isEmpty({ campaigns, project }: Diff): boolean {
  return campaigns.length === 0 && project.length === 0;
}

export const NOTHING = 'Nothing changes: no recipient is added or removed, and no text, figure or rule differs.';

/** `hello`, `hello (new)`. */
export function titleOf({ name, change, renamedFrom }: CampaignDiff): string {
  if (renamedFrom !== null) return `${name} (was ${renamedFrom})`;
  return change === 'changed' ? name : `${name} (${change === 'added' ? 'new' : 'deleted'})`;
}

export function figureLines({ before, after }: CampaignDiff) {
  const [old, now] = [before?.figures ?? null, after?.figures ?? null];
  if (old === null && now === null) return [];
  const lines: { readonly label: string; readonly before: string; readonly after: string }[] = [];
  const line = (label: string, of: (figures: Figures) => string | null, always = false): void => {
    const was = old === null ? null : of(old);
    const is = now === null ? null : of(now);
    if (was === null && is === null) return;
    // For a campaign that is new or gone, missing figures get no line.
    if (!always && [was, is].every((figure) => figure === null || figure === '0')) return;
    if (always || was !== is) lines.push({ label, before: was ?? NONE, after: is ?? NONE });
  };
  const counts = (label: string, of: (figures: Figures) => Readonly<Record<string, number>>, always = false): void => {
    for (const name of namesIn(old, now, of)) {
      line(`${label}${name}`, (figures) => number(of(figures)[name] ?? 0), always);
    }
  };
  line('rows', ({ rows }) => number(rows));
  line('to send', ({ send }) => number(send), true);
  counts('skipped: ', ({ skipped }) => skipped);
  // Without them, `to send` and the cost that comes later would not add up.
  counts('deferred: ', ({ deferred }) => deferred, true);
  line('invalid', ({ invalid }) => number(invalid));
  line('parts', ({ parts, encodings }) => (Object.keys(encodings).length === 0 ? null : number(parts)), true);
  counts('encoding ', ({ encodings }) => encodings);
  line('cost', costWords, true);
  for (const country of namesIn(old, now, ({ countries }) => countries)) {
    line(country, (figures) => countryWords(figures.countries[country], figures.currency));
  }
  return lines;
}

function namesIn(
  old: Figures | null,
  now: Figures | null,
  of: (figures: Figures) => Readonly<Record<string, unknown>>,
): readonly string[] {
  return [...new Set([old, now].flatMap((figures) => (figures === null ? [] : Object.keys(of(figures)))))].sort();
}

export function costWords({ cost, waiting, currency, unpriced }: Figures): string | null {
  const inMicros = (range: CostRange | null): CostRange | null =>
    range === null ? null : { low: microsOf(range.low), high: microsOf(range.high) };
  return listCostText({ now: inMicros(cost), waiting: inMicros(waiting), currency, unpriced });
}

function countryWords(found: CountryFigures | undefined, currency: string | null): string {
  if (found === undefined) return NONE;
  const { messages, parts, cost } = found;
  return [
    countOf(messages, 'message'),
    ...(parts === 0 ? [] : [countOf(parts, 'part')]),
    ...(cost === null ? [] : [money(cost, currency)]),
  ].join(', ');
}

/** `3 -> 4`; `3` if nothing changes, or if only one side has a figure. */
export function arrow(before: string, after: string, sign: string): string {
  if (before === NONE) return after;
  return before === after || after === NONE ? before : `${before} ${sign} ${after}`;
}

/** `1 added (+44••••••0004), 2 removed (...)`. */
export function recipientsWords(recipients: RecipientsDiff): readonly string[] {
  const { added, removed, readdressed, addedExamples, removedExamples } = recipients;
  const with_ = (count: number, word: string, examples: readonly string[]): readonly string[] => {
    if (count === 0) return [];
    const more = count > examples.length ? ', ...' : '';
    return [`${number(count)} ${word}${examples.length === 0 ? '' : ` (${examples.join(', ')}${more})`}`];
  };
  return [
    ...with_(added, 'added', addedExamples),
    ...with_(removed, 'removed', removedExamples),
    ...(readdressed === 0 ? [] : [`${number(readdressed)} with another address`]),
  ];
}

export function decisionWords({ before, after, recipients, example }: DecisionChange, sign: string): string {
  const such = example === null ? '' : `, such as ${example}`;
  return `${countOf(recipients, 'recipient')}: ${before} ${sign} ${after}${such}`;
}

/** Which recipients get another text, and what in it changes apart from the templates. */
export function groupWords({ recipients, example, decision, templates, columns, variant }: TextGroup): string {
  const who = recipients === null ? null : recipients === 0 ? NO_RECIPIENT : countOf(recipients, 'recipient');
  const such = example === null ? '' : ` such as ${example}`;
  const when = decision === null || decision === 'send' ? '' : `, ${decision}`;
  const what: string[] = [];
  if (variant !== null) what.push(`variant ${variant.before ?? '(none)'} becomes ${variant.after ?? '(none)'}`);
  if (columns.length > 0) what.push(`${columns.length === 1 ? 'column' : 'columns'} ${columns.join(', ')} changed`);
  if (templates.length === 0 && what.length === 0) what.push('by a setting, not by the template or a value');
  const said = `${who ?? 'Not compared with the list'}${such}${when}`;
  return what.length === 0 ? said : `${said}: ${what.join('; ')}`;
}

const NO_RECIPIENT = 'No recipient on the list gets this change';

export function ruleWords({ before, after }: RuleChange): readonly [before: string, after: string] {
  return [before ?? '(not set)', after ?? '(not set)'];
}

/** The diff with each change of a text once: a partial that many campaigns include changes all of them in the same way. */
export function withoutRepeats(diff: Diff): Diff {
  const first = new Map<string, string>();
  const once = (campaign: CampaignDiff, change: TemplateChange): TemplateChange => {
    const id = JSON.stringify(change);
    const name = first.get(id);
    if (name === undefined) first.set(id, campaign.name);
    return name === undefined
      ? change
      : { ...change, shape: name === campaign.name ? 'as above' : `as in ${name}, above` };
  };
  const campaigns = diff.campaigns.map((campaign) => {
    const groups = campaign.texts.groups.map((group) => ({
      ...group,
      templates: group.templates.map((change) => once(campaign, change)),
    }));
    return { ...campaign, texts: { ...campaign.texts, groups } };
  });
  return { ...diff, campaigns };
}

/** `campaigns/hello/campaign.yaml:3:1: ... [unknown-key]`. */
export function findingWords({ code, message, file, line, column, count }: Finding): string {
  const place = [file, line, column].filter((part) => part !== null).join(':');
  const more = count === 1 ? '' : ` In ${number(count)} rows, the first one here.`;
  return `${place === '' ? '' : `${place}: `}${message}${more} [${code}]`;
}
