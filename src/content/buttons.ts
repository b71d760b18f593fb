import type { Json, JsonObject } from '../util/json.ts';
import { instantMs } from '../util/time.ts';
import { listWithOr } from '../util/words.ts';
import {
  advise,
  checkFilled,
  checkLabel,
  checkLength,
  checkUnique,
  type Findings,
  invalid,
  mappingOf,
  nameOf,
} from './check-values.ts';

/** Characters of an address; a few providers take only 2,000. */
const MAX_URL = 2048;

/** The address of an image, video or document: https, because the provider fetches it from a public server. */
export function checkMediaUrl(found: Findings, pointer: string, value: Json | undefined): void {
  checkUrl(found, pointer, value, /^https:\/\//i, 'an https address', 'Media must be publicly readable.');
}

function checkUrl(
  found: Findings,
  pointer: string,
  value: Json | undefined,
  scheme: RegExp,
  wanted: string,
  hint: string,
): void {
  if (typeof value !== 'string') return;
  checkLength(found, pointer, value, MAX_URL);
  // URL parsers remove tabs and line breaks, but what is sent still has them.
  const isOdd = SPACE.test(value) ? 'has a space or a control character' : null;
  const isOther = scheme.test(value) && URL.canParse(value) ? null : `is not ${wanted}`;
  const fault = /\S/.test(value) ? (isOdd ?? isOther) : 'is empty';
  if (fault !== null) invalid(found, pointer, `${nameOf(pointer)} ${fault}.`, hint);
}

/** Only by its ending: the size of a file is unknown here. */
export function adviseMediaType(
  found: Findings,
  pointer: string,
  value: Json | undefined,
  kind: 'image' | 'video',
): void {
  if (typeof value !== 'string') return;
  const ending = NOT_SHOWN[kind].exec(value)?.[1];
  if (ending === undefined) return;
  const message = `${nameOf(pointer)} is a .${ending.toLowerCase()} file, which messaging apps do not take as ${kind}.`;
  advise(found, pointer, message, kind === 'image' ? 'Use a JPEG or PNG file.' : 'Use an MP4 or 3GP file.');
}

const SPACE = /[\s\p{Cc}]/u;
// An ending counts only in the path: there are domains named .mov.
const NOT_SHOWN = {
  image: /^https:\/\/[^/?#]+\/[^?#]*\.(gif|webp|svg|bmp|tiff?|heic|avif|mp4|pdf)(?:[?#]|$)/i,
  video: /^https:\/\/[^/?#]+\/[^?#]*\.(mov|avi|webm|mkv|wmv|gif|jpe?g|png|pdf)(?:[?#]|$)/i,
} as const;

/** Each button does exactly one of these. */
const BUTTON_KINDS = ['reply', 'url', 'dial', 'location', 'shareLocation', 'event'] as const;
export type ButtonKind = (typeof BUTTON_KINDS)[number];

export interface ButtonLimits {
  readonly kinds: readonly ButtonKind[];
  readonly label: number;
  /** The id in reports and replies: `reply`, or the `id` of another button. */
  readonly id: number;
  /** Whether buttons that are not replies send an event when they are tapped. */
  readonly ids: boolean;
}

/** Null: it does nothing, or several things. */
export function kindOf(button: JsonObject): ButtonKind | null {
  let kind: ButtonKind | null = null;
  for (const one of BUTTON_KINDS) {
    if (button[one] === undefined) continue;
    if (kind !== null) return null;
    kind = one;
  }
  return kind;
}

/** The caller checks how many there are, and which kinds may be combined. */
export function checkButtons(found: Findings, at: string, buttons: readonly JsonObject[], limits: ButtonLimits): void {
  for (const [i, button] of buttons.entries()) checkButton(found, `${at}/${i}`, button, limits);
  if (buttons.length < 2) return;
  const replies = buttons.map(({ reply }) => reply);
  const labels = buttons.map((button) => (button['reply'] === undefined ? undefined : button['text']));
  checkUnique(found, replies, (i) => `${at}/${i}/reply`);
  checkUnique(found, labels, (i) => `${at}/${i}/text`);
}

function checkButton(found: Findings, at: string, button: JsonObject, limits: ButtonLimits): void {
  checkLabel(found, `${at}/text`, button['text'], limits.label);
  const kind = kindOf(button);
  if (kind === null) wrongNumber(found, at, button, limits.kinds);
  else if (!limits.kinds.includes(kind)) {
    const hint = `Give it ${eitherOf(limits.kinds)} instead.`;
    invalid(found, `${at}/${kind}`, `On ${found.channel}, buttons have no "${kind}".`, hint);
  } else {
    checkId(found, at, button, kind, limits);
    CHECKS[kind](found, `${at}/${kind}`, button[kind], limits);
  }
}

function wrongNumber(found: Findings, at: string, button: JsonObject, kinds: readonly ButtonKind[]): void {
  const several = BUTTON_KINDS.filter((kind) => button[kind] !== undefined);
  const message =
    several.length === 0
      ? `${nameOf(at)} does nothing.`
      : `${nameOf(at)} does several things: ${several.map((kind) => `"${kind}"`).join(', ')}.`;
  invalid(found, at, message, `Give it exactly one of ${eitherOf(kinds)}.`);
}

function checkId(found: Findings, at: string, button: JsonObject, kind: ButtonKind, limits: ButtonLimits): void {
  if (button['id'] === undefined) return;
  const pointer = `${at}/id`;
  if (kind === 'reply') {
    invalid(found, pointer, `${nameOf(at)} has both "reply" and "id".`, '"reply" already names the payload.');
  } else if (!limits.ids) {
    const message = `On ${found.channel}, a button with "${kind}" has no "id".`;
    invalid(found, pointer, message, 'Nothing comes back when it is tapped. Remove it.');
  } else {
    checkFilled(found, pointer, button['id']);
    checkLength(found, pointer, button['id'], limits.id);
  }
}

const CHECKS: Readonly<
  Record<ButtonKind, (found: Findings, pointer: string, value: Json | undefined, limits: ButtonLimits) => void>
> = {
  reply(found, pointer, value, { id }) {
    checkFilled(found, pointer, value);
    checkLength(found, pointer, value, id);
  },
  url(found, pointer, value) {
    checkUrl(found, pointer, value, /^https?:\/\//i, 'a web address', 'Write an address that begins with https://');
  },
  dial(found, pointer, value) {
    if (typeof value !== 'string' || /^\+[1-9]\d{6,14}$/.test(value)) return;
    const hint = 'Write it with + and the country code, without spaces, in quotes: "+442079460000"';
    invalid(found, pointer, `${nameOf(pointer)} is not a phone number in international form.`, hint);
  },
  location(found, pointer, value) {
    const { latitude, longitude, label } = mappingOf(value);
    checkDegrees(found, `${pointer}/latitude`, latitude, 90);
    checkDegrees(found, `${pointer}/longitude`, longitude, 180);
    checkLength(found, `${pointer}/label`, label, MAX_PLACE);
  },
  shareLocation() {
    // The schema lets only `true` through.
  },
  event(found, pointer, value) {
    const { title, start, end, description } = mappingOf(value);
    checkFilled(found, `${pointer}/title`, title);
    checkLength(found, `${pointer}/title`, title, MAX_EVENT_TITLE);
    checkLength(found, `${pointer}/description`, description, MAX_EVENT_DESCRIPTION);
    const from = checkInstant(found, `${pointer}/start`, start);
    const to = checkInstant(found, `${pointer}/end`, end);
    if (from !== null && to !== null && to <= from) {
      invalid(found, `${pointer}/end`, `${nameOf(pointer)} ends before it begins.`);
    }
  },
};

function checkDegrees(found: Findings, pointer: string, value: Json | undefined, most: number): void {
  if (typeof value !== 'string' && typeof value !== 'number') return;
  const degrees = typeof value === 'number' || /^-?\d{1,3}(?:\.\d{1,20})?$/.test(value) ? Number(value) : Number.NaN;
  if (Math.abs(degrees) <= most) return;
  const hint = 'Write degrees with a decimal point, such as 51.5072.';
  invalid(found, pointer, `${nameOf(pointer)} is not a number of degrees from -${most} to ${most}.`, hint);
}

function checkInstant(found: Findings, pointer: string, value: Json | undefined): number | null {
  if (typeof value !== 'string') return null;
  const ms = instantMs(value);
  const hint = 'Write it with its offset, such as 2026-11-21T09:00:00+00:00.';
  if (ms === null) invalid(found, pointer, `${nameOf(pointer)} is not a date and time.`, hint);
  return ms;
}

function eitherOf(kinds: readonly ButtonKind[]): string {
  return listWithOr(kinds.map((kind) => `"${kind}"`));
}

// Figures of a provider's reference for RCS (label of a place: 100, as the title of an event).
const MAX_PLACE = 100;
const MAX_EVENT_TITLE = 100;
const MAX_EVENT_DESCRIPTION = 500;
