import type { Channel, Content, Fallback, SourceText, Split, Step, Variant, Where } from '../model.ts';
import { pointerTo } from '../util/json.ts';
import { share } from '../util/units.ts';
import { checked, checkLocale, checkSender, type Report } from './check-values.ts';
import { DEFAULTS } from './defaults.ts';
import type { Merged } from './merge.ts';
import { fallbackFiles, type Sources, type StepSources } from './sources.ts';
import type { MessageFile, RecipientsFile, StepFile } from './written.ts';

/** The limit of the API's document (section 8). */
const MOST_VARIANTS = 10;

export function mainStep(merged: Merged, sources: Sources, report: Report): Step {
  return readStepOf(merged.file, '', merged.file.channel ?? 'sms', sources.main, null, merged, report);
}

/** @param fallbacks - those of the campaign */
export function readVariants(
  main: Step,
  fallbacks: readonly Fallback[],
  merged: Merged,
  sources: Sources,
  report: Report,
): readonly Variant[] {
  const written = merged.file.variants ?? [];
  if (written.length > MOST_VARIANTS) {
    const message = `There are ${written.length} variants; a campaign has at most ${MOST_VARIANTS}.`;
    report(`/variants/${MOST_VARIANTS}`, 'invalid-value', message, 'Leave some out, or make two campaigns of it.');
  }
  const drawn = written.filter(({ where }) => where === undefined);
  if (written.length === 1 && drawn.length === 1) {
    report('/variants', 'invalid-value', 'One variant alone is no comparison.', 'Add a second one, or leave it out.');
  }
  if (written.length > 0 && drawn.length === 0 && main.template === null && main.content === null) {
    const hint = 'Give the campaign a `template`, or add a variant without `where`.';
    report('/variants', 'missing-key', 'Recipients who meet no `where` of a variant have no message.', hint);
  }
  const names = new Map<string, number>();
  return written.map((variant, i) => {
    const at = `/variants/${i}`;
    const name = variant.name ?? '';
    if (name === '') report(at, 'missing-key', `"variants[${i}]" has no name.`, 'For example: name: A');
    const first = names.get(name);
    if (first !== undefined) report(`${at}/name`, 'invalid-value', `Two variants are named "${name}".`);
    names.set(name, i);
    const own = sources.variants[i] ?? { ...NOTHING, fallbacks: [] };
    const step = readStepOf(variant, at, main.channel, own, main, merged, report);
    if (step.template === null && step.content === null && own.paths.length === 0) {
      report(at, 'missing-key', `"variants[${i}]" has neither "template" nor "content".`);
    }
    if (variant.where !== undefined && variant.weight !== undefined) {
      const message = `"variants[${i}].weight" says nothing beside "where".`;
      report(`${at}/weight`, 'invalid-value', message, 'Leave it out: all recipients who meet the condition get it.');
    }
    const where = whereAt(merged, `${at}/where`, variant.where);
    const left = new Set(fallbacks.map(({ channel }) => channel));
    const replaced = fallbackFiles(variant, at).map((one, n) => ({ ...one, sources: own.fallbacks[n] ?? NOTHING }));
    for (const { written, pointer } of replaced) {
      const { channel } = written;
      if (channel !== undefined && left.delete(channel)) continue;
      const known = fallbacks.map((one) => one.channel);
      const what = known.some((one) => one === channel)
        ? `The variant has two fallbacks to "${channel}".`
        : `The variant has a fallback to "${channel}", and the campaign has none.`;
      const hint = `The campaign's \`fallback\` names the channels (${known.join(', ') || 'none'}); a variant may have another text for each.`;
      if (channel === undefined) report(pointer, 'missing-key', 'The fallback names no channel.', hint);
      else report(`${pointer}/channel`, 'invalid-value', what, hint);
    }
    const ofVariant = (fallback: Fallback): Fallback => {
      const base = step.locale === fallback.locale ? fallback : { ...fallback, locale: step.locale };
      const found = replaced.find(({ written }) => written.channel === fallback.channel);
      if (found === undefined) return base;
      const { written, pointer, sources } = found;
      return { ...readStepOf(written, pointer, fallback.channel, sources, base, merged, report), to: fallback.to };
    };
    return { name, weight: variant.weight ?? 1, where, step, fallbacks: fallbacks.map(ofVariant) };
  });
}

export function whereAt(merged: Merged, pointer: string, where: RecipientsFile['where']): Where | null {
  if (where === undefined) return null;
  const place = merged.where(pointer);
  if (place === null) return null;
  return { query: where, at: place.at, timeZone: zoneOfDays(merged) };
}

/** IANA zone of times and days in the list: the campaign's, else that of its schedule. */
export function zoneOfDays({ file }: Pick<Merged, 'file'>): string {
  return file.timeZone ?? file.schedule?.timeZone ?? DEFAULTS.timeZone;
}

export function readSplit(merged: Merged, report: Report): Omit<Split, 'decides'> {
  const { file } = merged;
  const { variants = [], holdout, test, winner } = file;
  const isMapping = typeof test === 'object';
  const written = isMapping ? test.share : test;
  const shareAt = (pointer: string, text: string | undefined): number | null => {
    if (text === undefined) return null;
    const value = share(text);
    if (value !== null && value > 0 && value < 1) return value;
    report(pointer, 'invalid-value', `"${text}" is not a share above 0% and below 100%.`, 'For example: 10%');
    return null;
  };
  const drawn = variants.filter(({ where }) => where === undefined);
  if (test !== undefined && drawn.length === 0) {
    report('/test', 'invalid-value', '"test" compares variants, and there are none.', 'Add "variants", or remove it.');
  }
  const chosen = typeof winner === 'string' ? winner : (winner?.variant ?? null);
  if (chosen !== null && !drawn.some(({ name }) => name === chosen)) {
    const known = drawn.map(({ name }) => name).join(', ');
    const hint = known === '' ? 'There are no variants.' : `Variants: ${known}.`;
    report('/winner', 'invalid-value', `There is no variant "${chosen}".`, hint);
  }
  if (chosen !== null && test === undefined) {
    const hint = 'Add "test" with the share that gets the variants first, or remove "winner".';
    report('/winner', 'invalid-value', 'No recipients are outside the test, so none would get the winner.', hint);
  }
  return {
    // Not the name: with another one, recipients would move to another variant, or out of a holdout.
    seed: file.seed ?? file.id ?? file.name ?? '',
    holdout: shareAt('/holdout', holdout) ?? 0,
    test: shareAt(isMapping ? '/test/share' : '/test', written),
    winner: chosen,
  };
}

/** In order; each channel at most once. */
export function readFallbacks(main: Step, merged: Merged, sources: Sources, report: Report): readonly Fallback[] {
  const used = new Set<Channel>([main.channel]);
  return fallbackFiles(merged.file, '').map(({ written, pointer }, i) => {
    const { channel } = written;
    const own = sources.main.fallbacks[i] ?? NOTHING;
    if (channel === undefined) {
      report(pointer, 'missing-key', 'The fallback names no channel.', 'For example: channel: sms');
    } else if (used.has(channel)) {
      const hint = 'A fallback is for those who cannot receive the channels before it.';
      report(`${pointer}/channel`, 'invalid-value', `The channel "${channel}" is tried before.`, hint);
    }
    used.add(channel ?? 'sms');
    if (written.template === undefined && written.content === undefined) {
      report(pointer, 'missing-key', 'The fallback has no message.', 'For example: template: short.hbs');
    }
    const base = { ...main, template: null, content: null, variables: null };
    const step = readStepOf(written, pointer, channel ?? 'sms', own, base, merged, report);
    return { ...step, to: written.to ?? null };
  });
}

const NOTHING: StepSources = { template: null, content: null, paths: [], inputs: [] };

function readStepOf(
  written: StepFile & Pick<MessageFile, 'locale'>,
  pointer: string,
  channel: Channel,
  sources: StepSources,
  base: Step | null,
  merged: Merged,
  report: Report,
): Step {
  const template = sources.template ?? base?.template ?? null;
  const inherited = sources.template === null ? (base?.variables ?? null) : null;
  const variables =
    written.variables === undefined ? inherited : textsAt(merged, `${pointer}/variables`, written.variables);
  const isText = template?.kind === 'text' || (template === null && sources.content !== null);
  if (written.variables !== undefined && isText) {
    const message = '"variables" are for a template of the provider.';
    report(`${pointer}/variables`, 'invalid-value', message, VARIABLES_HINT);
  }
  const from = written.from ?? base?.from ?? null;
  const placed = [...Object.keys(written), 'recipients'].flatMap((key) => {
    const where = merged.where(`${pointer}/${key}`);
    return where === null ? [] : [[key, where] as const];
  });
  return {
    channel,
    from:
      channel === 'sms'
        ? checked(from ?? undefined, written.from === undefined ? pointer : `${pointer}/from`, checkSender, report)
        : from,
    locale: checked(written.locale, `${pointer}/locale`, checkLocale, report) ?? base?.locale ?? DEFAULTS.locale,
    characterSet: written.characterSet ?? base?.characterSet ?? DEFAULTS.characterSet,
    characterSetWritten: written.characterSet !== undefined || base?.characterSetWritten === true,
    transliterate: written.transliterate ?? base?.transliterate ?? DEFAULTS.transliterate,
    template,
    variables,
    content: mergeContent(base?.content ?? null, sources.content),
    places: { ...base?.places, ...Object.fromEntries(placed) },
  };
}

/** Each part of a variant's content replaces that of the campaign. */
function mergeContent(base: Content | null, own: Content | null): Content | null {
  if (base === null || own === null) return own ?? base;
  const keys = Object.keys(own.tree);
  const isReplaced = (pointer: string) => keys.some((key) => pointer === `/${key}` || pointer.startsWith(`/${key}/`));
  const kept = <T>(of: ReadonlyMap<string, T>) => [...of].filter(([pointer]) => !isReplaced(pointer));
  return {
    tree: { ...base.tree, ...own.tree },
    texts: new Map([...kept(base.texts), ...own.texts]),
    places: new Map([...kept(base.places), ...own.places]),
  };
}

const VARIABLES_HINT =
  'A text that is rendered here takes its values from the columns. Remove them, or use template.id.';

export function textsAt<T extends string | Readonly<Record<string, string>>>(
  merged: Merged,
  pointer: string,
  written: Readonly<Record<string, T>>,
): Readonly<Record<string, T extends string ? SourceText : SourceText | Readonly<Record<string, SourceText>>>> {
  const found = Object.create(null);
  for (const [name, value] of Object.entries(written)) {
    const at = pointer + pointerTo([name]);
    const read = typeof value === 'string' ? merged.text(at) : textsAt(merged, at, value);
    if (read !== null) found[name] = read;
  }
  return found;
}
