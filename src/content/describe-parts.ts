import type { Json, JsonObject } from '../model.ts';
import { type ButtonKind, kindOf } from './buttons.ts';
import { mappingOf } from './check-values.ts';

export function linesOf(text: string): readonly string[] {
  return text.split('\n');
}

/** A value as it is shown; nothing for what is not known. */
export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

/** A button, on one line. */
export function labelOf(text: Json | undefined): string {
  return `[ ${textOf(text).replaceAll('\n', ' ')} ]`;
}

/** Replies stand side by side, as long as a line has room; every other button on a line of its own, with its target. */
export function buttonLines(buttons: readonly JsonObject[]): readonly string[] {
  const lines: string[] = [];
  let row: string | null = null;
  for (const button of buttons) {
    const kind = kindOf(button);
    const label = labelOf(button['text']);
    if (kind === null || kind === 'reply') {
      const longer: string = row === null ? label : `${row}  ${label}`;
      if (row !== null && longer.length > ROW_WIDTH) lines.push(row);
      row = row !== null && longer.length > ROW_WIDTH ? label : longer;
    } else {
      if (row !== null) lines.push(row);
      row = null;
      lines.push(...linesOf(`${label} -> ${TARGETS[kind](button[kind])}`));
    }
  }
  if (row !== null) lines.push(row);
  return lines;
}

const ROW_WIDTH = 72;

const TARGETS: Readonly<Record<Exclude<ButtonKind, 'reply'>, (value: Json | undefined) => string>> = {
  url: textOf,
  dial: textOf,
  location(value) {
    const { latitude, longitude, label } = mappingOf(value);
    const place = `${textOf(latitude)}, ${textOf(longitude)}`;
    return label === undefined ? place : `${textOf(label)} (${place})`;
  },
  shareLocation: () => 'shares the location',
  event(value) {
    const { title, start, end, description } = mappingOf(value);
    const what = description === undefined ? textOf(title) : `${textOf(title)} (${textOf(description)})`;
    return `calendar: ${what}, ${textOf(start)} to ${textOf(end)}`;
  },
};
