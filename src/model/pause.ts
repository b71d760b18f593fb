/** A stop that a person ordered: nothing is claimed until a person ends it. */
export interface Pause {
  readonly environment: string;
  /** The id of the campaign; null: every campaign of the environment. */
  readonly id: string | null;
  /** The name by which it was last sent, else the id; null as the id is. */
  readonly campaign: string | null;
  readonly reason: string;
  /** `user@host` */
  readonly who: string;
  /** Ms since 1970. */
  readonly pausedAtMs: number;
}
