import { CHANNEL_TABLE } from '../content/channels.ts';
import { type Diagnostic, problem, warning } from '../errors.ts';
import type { Campaign, Environment, SourceText, Step, Variables } from '../model.ts';
import { leftOut, placedBy } from '../providers/placed.ts';
import { type RequestFile, requestFor } from '../providers/provider.ts';
import { senderOf } from '../providers/request.ts';
import { compileText, piecesOf } from '../providers/text.ts';
import { createLookup, NO_FACTS } from '../providers/values.ts';
import { isMapping } from '../util/json.ts';
import { iso } from '../util/time.ts';
import { durationText } from '../util/units.ts';
import { addressKindOf, isText, placeOf, stepsIn } from './compile.ts';
import { ruleIn } from './unreachable.ts';

const UNSUBSCRIBE_HEADER = /^list-unsubscribe(?:-post)?$/i;

/**
 * The messages of a campaign that the provider of an environment cannot send, or not whole: what its requests have no place
 * for would be lost. Errors, and a warning about the sender, which some APIs know themselves.
 */
export function checkProvider(campaign: Campaign, environment: Environment, nowMs: number): readonly Diagnostic[] {
  const { provider } = environment;
  const found: Diagnostic[] = [];
  for (const step of stepsIn(campaign)) {
    const kind = step.template?.kind === 'provider' ? 'template' : 'text';
    const request = requestFor(provider, step.channel, kind, addressKindOf(campaign, step));
    if (request === null) found.push(cannotSend(campaign, step, kind, environment));
    else found.push(...missing(campaign, step, environment), ...lost(campaign, step, environment, request));
    if (step.content === null) continue;
    const header = Object.keys(campaign.recipientMetaData ?? {}).find((key) => UNSUBSCRIBE_HEADER.test(key));
    if (header !== undefined && step.content.tree['unsubscribe'] !== undefined) {
      const message = `"recipientMetaData.${header}" and "content.unsubscribe" both say how to unsubscribe.`;
      found.push(
        problem('invalid-value', message, { ...placeIn(campaign, campaign, header), hint: 'Keep one of them.' }),
      );
    }
  }
  const { recipients } = provider.limits;
  // A stand-in takes over in smaller requests: its campaign was written for another provider.
  if (campaign.send.recipientsPerRequest > recipients && environment.name === environment.identity) {
    const message = `"send.recipientsPerRequest" is ${campaign.send.recipientsPerRequest}; ${provider.title}, the provider of ${environment.name}, takes at most ${recipients}.`;
    const hint = `Write ${recipients}, or leave it out.`;
    found.push(problem('invalid-value', message, { ...placeIn(campaign, campaign, 'send'), hint }));
  }
  if (campaign.unreachable !== null && ruleIn(campaign.project, environment, campaign.unreachable) === null) {
    const message = `${provider.title}, the provider of ${environment.name}, names no codes of permanent failures: \`unreachable\` skips no recipient.`;
    const hint = 'List them under `reports: { permanent: [...] }` of the provider file, or remove the rule.';
    found.push(warning('no-permanent-codes', message, { ...campaign.unreachable.place, hint }));
  }
  found.push(...checkValidity(campaign, environment, nowMs));
  // Variants share what the campaign says.
  return [...new Map(found.map((one) => [JSON.stringify([one.message, one.at]), one])).values()];
}

/**
 * For a command that is not about one environment: checks those whose provider has the channel, or else all but the sandbox.
 * Errors are about the usual one: the one that HANDBILL_ENV names, or the only one. Those about others become warnings.
 */
export function checkTargets(campaign: Campaign, named: string | undefined, nowMs: number) {
  const real = [...campaign.project.environments.values()].filter(({ secrets }) => secrets !== null);
  const fitting = real.filter(({ provider }) => provider.channels[campaign.channel] !== undefined);
  const all = fitting.length === 0 ? real : fitting;
  const usual = all.find(({ name }) => name === named) ?? (all.length === 1 ? all[0] : undefined);
  const diagnostics = all.flatMap((one): readonly Diagnostic[] => {
    const found = checkProvider(campaign, one, nowMs);
    return one === usual ? found : found.map((fault) => ({ ...fault, severity: 'warning' }));
  });
  return { usual, diagnostics };
}

type Place = Pick<Diagnostic, 'at' | 'source'>;

/** The place of a key of a step; default: that of its channel. */
function placeIn({ file }: Pick<Campaign, 'file'>, { places }: Step, key: string): Place {
  return places[key] ?? places['channel'] ?? { at: { file } };
}

function cannotSend(
  campaign: Campaign,
  step: Step,
  kind: 'text' | 'template',
  { name, provider: { title, channels, requests } }: Environment,
): Diagnostic {
  const { channel } = step;
  const place = (key: string): Place => placeIn(campaign, step, key);
  const who = `${title}, the provider of ${name},`;
  if (channels[channel] === undefined) {
    const hint = `It has ${Object.keys(channels).join(', ')}.`;
    return problem('invalid-value', `${who} has no channel ${channel}.`, { ...place('channel'), hint });
  }
  const takes = (of: 'text' | 'template'): boolean =>
    requests.some((one) => (one.kind ?? of) === of && (one.channels?.includes(channel) ?? true));
  const isAddress = takes(kind);
  const what = isAddress
    ? `messages to ${KINDS[addressKindOf(campaign, step)]}`
    : kind === 'text'
      ? 'texts'
      : 'templates';
  const other = kind === 'text' ? 'template' : 'text';
  const instead =
    other === 'text' ? 'Write the text in the campaign' : 'Name a template of the provider (`template: { id: ... }`)';
  const hint = isAddress
    ? 'Send to addresses that it takes (`recipients.to`), or in another environment.'
    : takes(other)
      ? `${instead}, or send it in another environment.`
      : 'Send it in another environment.';
  return problem('invalid-value', `${who} takes no ${what} on ${channel}.`, {
    ...place(isAddress ? 'recipients' : step.places['template'] === undefined ? 'content' : 'template'),
    hint,
  });
}

const KINDS = { msisdn: 'phone numbers', email: 'email addresses', contact: 'contacts' } as const;

/** Values without which the API refuses every message, such as the sender. */
function missing(campaign: Campaign, step: Step, { name, provider, vars }: Environment): readonly Diagnostic[] {
  const lookup = createLookup({ ...NO_FACTS, from: step.from, sender: senderOf(provider, step.from), vars }, () => 0);
  return provider.needs.flatMap((text) => {
    const value = compileText(text, lookup);
    if ('of' in value || value.constant !== undefined) return [];
    const names = (piecesOf(text) ?? []).flatMap((piece) =>
      typeof piece === 'string' ? [] : [piece.name, ...(piece.instead === null ? [] : [piece.instead])],
    );
    const [first = '', ...others] = names.map((one) =>
      one === 'from.msisdn' ? '"from" as a phone number' : `"${one.replace(/^var\./, 'vars.')}"`,
    );
    const or = others.map((one) => `, or ${one} of the environment ${name}`).join('');
    const message = `${first} is missing: ${provider.title}, the provider of ${name}, sends no message on ${step.channel} without it.`;
    return [problem('missing-key', message, { ...placeIn(campaign, step, 'from'), hint: `Write ${first}${or}.` })];
  });
}

/** Values of the campaign for which the request has no place. */
function lost(
  campaign: Campaign,
  step: Step,
  { name, provider }: Environment,
  request: RequestFile,
): readonly Diagnostic[] {
  const { title } = provider;
  const placed = placedBy(request);
  const isMapped = senderOf(provider, step.from) !== null;
  const values = valuesOf(campaign, step).filter(([root]) => root !== 'from' || !isMapped);
  return values.flatMap(([root, value, place]) =>
    leftOut(placed, root, value).map((path) => {
      const [head = ''] = root.split('.');
      const own = head === 'content' ? CHANNEL_TABLE[step.channel].keys.map((key) => `content.${key}`) : [`${head}.`];
      const all = [...placed.whole, ...placed.items];
      const known = all.filter((one) => one !== root && own.some((start) => one.startsWith(start)));
      const others = known.length === 0 ? '' : ` It takes ${known.map((one) => `"${one}"`).join(', ')}.`;
      if (root === 'from') {
        return warning('not-supported', `${title} takes no sender of a campaign: "from" is not sent.`, place(path));
      }
      const key = path.replace(/^headers.*/, 'content.unsubscribe');
      const message = `${title}, the provider of ${name}, has no place for "${key}" on ${step.channel}: messages would go out without it.`;
      return problem('not-supported', message, {
        ...place(path),
        hint: `Remove it, or send in another environment.${others}`,
      });
    }),
  );
}

type Valued = readonly [name: string, value: unknown, place: (path: string) => Place];

/** By the names of placeholders. The character set is not among them: it also says how handbill counts parts. */
function valuesOf(campaign: Campaign, step: Step): readonly Valued[] {
  const { template, variables, content, from, channel } = step;
  const at = (key: string) => () => placeIn(campaign, step, key);
  const { metaData, recipientMetaData: own, accountReference, messageType, validity } = campaign;
  const tree = content?.tree ?? {};
  // The preheader becomes a part of the HTML.
  const { preheader: _, unsubscribe, ...shown } = tree;
  const post = isMapping(unsubscribe) && unsubscribe['oneClick'] === true ? { 'List-Unsubscribe-Post': true } : {};
  const headers = unsubscribe === undefined ? null : { 'List-Unsubscribe': true, ...post };
  const inContent = (path: string): Place => {
    const pointer = path
      .replace(/^content/, '')
      .replace(/^headers.*/, '.unsubscribe')
      .replaceAll('.', '/');
    return (content && placeOf(pointer, content)) ?? at('content')();
  };
  const inTexts = (key: 'variables' | 'recipientMetaData', texts: Variables<SourceText>) => (path: string) => {
    const [, name = '', inner = ''] = path.split('.');
    const text = texts[name];
    const found = text === undefined || isText(text) ? text : text[inner];
    return found === undefined ? at(key)() : { at: { file: found.file, line: found.line, column: found.column } };
  };
  const needs = template?.kind === 'provider' ? (template.needs ?? []) : [];
  const values: readonly Valued[] = [
    ['text', template?.kind === 'text' ? true : null, at('template')],
    ['template.id', template?.kind === 'provider' ? true : null, at('template')],
    ['variables', variables && leaves(variables), inTexts('variables', variables ?? {})],
    ...needs.map((need): Valued => [`variables.${need}`, variables === null ? true : null, at('template')]),
    ...Object.entries(channel === 'email' ? shown : tree).map(
      ([key, part]): Valued => [`content.${key}`, part, inContent],
    ),
    ['headers', channel === 'email' ? headers : null, inContent],
    ['from', from, at('from')],
    ['metaData', metaData, at('metaData')],
    ['recipientMetaData', own && leaves(own), inTexts('recipientMetaData', own ?? {})],
    ['accountReference', accountReference, at('accountReference')],
    ['messageType', messageType, at('messageType')],
    ['validity', validity === null ? null : true, at('validity')],
  ];
  return values.filter(([, value]) => value !== null);
}

/** Texts with their places are values, and not groups. */
function leaves(texts: Variables<SourceText>): object {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, isText(text) ? true : leaves(text)]));
}

function checkValidity(campaign: Campaign, { name, provider }: Environment, nowMs: number): readonly Diagnostic[] {
  const { validity } = campaign;
  const { limits, title } = provider;
  if (validity === null || limits.validity === null) return [];
  const [shortest, longest] = limits.validity.map((seconds) => seconds * 1000);
  const ms = validity.kind === 'duration' ? validity.ms : validity.epochMs - nowMs;
  // A start refuses an instant that has passed, unless its run has begun.
  if (shortest === undefined || longest === undefined || ms <= 0 || (ms >= shortest && ms <= longest)) return [];
  const range = `from ${durationText(shortest)} to ${durationText(longest)}`;
  const own = validity.kind === 'duration' ? durationText(ms) : `${durationText(ms)} (until ${iso(validity.epochMs)})`;
  const message = `${title}, the provider of ${name}, takes a validity ${range}, and not ${own}.`;
  const hint = `Write one ${range}, or send it in another environment.`;
  return [problem('invalid-value', message, { ...placeIn(campaign, campaign, 'validity'), hint })];
}

/** A run that begins when its messages have expired would send none. @param startMs - when it begins, in ms since 1970 */
export function pastValidity(campaign: Campaign, startMs: number): readonly Diagnostic[] {
  const { validity } = campaign;
  if (validity?.kind !== 'until' || validity.epochMs > startMs) return [];
  const message = `The message would have expired at ${iso(validity.epochMs)}.`;
  const hint = 'Write an instant in the future, or a duration such as 24h.';
  return [problem('validity-past', message, { ...placeIn(campaign, campaign, 'validity'), hint })];
}
