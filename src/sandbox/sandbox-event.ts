import type { Beat, ReportWord } from './story.ts';

/** One recipient's message, as far as events speak of it. */
export interface Subject {
  /** The API's own. */
  readonly messageId: string;
  /** As the message had it. */
  readonly to: string;
  /** Our sender; empty where the message has none. */
  readonly sender: string;
  readonly channel: string;
  /** What a report gives back of the message, under the names that it has in every dialect. */
  readonly echo: Readonly<Record<string, unknown>>;
}

/** Something that happened to a message, ready to be posted in the form of a dialect. */
export interface SandboxEvent {
  readonly subject: Subject;
  readonly beat: Beat;
  /** When it happened, in ms since 1970. */
  readonly atMs: number;
}

/** The words of a dialect, with one of its own for an undocumented state. */
export type Words = Readonly<Record<ReportWord, string>>;

/** `2026-11-21T09:00:00.412Z` */
export function isoOf(atMs: number): string {
  return new Date(atMs).toISOString();
}
