import type { Channel } from '../model.ts';

/** What a new project is made from; everything in it has been checked. */
export interface NewProject {
  /** Name of its first campaign: `[a-z0-9][a-z0-9-]{0,63}`. */
  readonly campaign: string;
  readonly channel: Channel;
  /** The sender that the channel takes. */
  readonly from: string;
  /** ISO 3166-1 alpha-2, for numbers without a country code. */
  readonly country: string;
  /** IANA zone of the country; null where it has several. */
  readonly timeZone: string | null;
  /** How package.json names the dependency on handbill: a version, or `file:` and a folder. */
  readonly dependency: string;
  /** Version of the Node.js that the project brings along, as an npm package. */
  readonly node: string;
  /** Texts of the schemas that editors read, by file name. */
  readonly schemas: ReadonlyMap<string, string>;
}
