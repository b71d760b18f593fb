/** A stop that a person ordered: nothing is claimed until a person ends it. */
export interface Pause {
  readonly environment: string;
  /** Null: every campaign of the environment. */
  readonly campaign: string | null;
  readonly reason: string;
  /** Who ordered it: `user@host`. */
  readonly who: string;
  /** Ms since 1970. */
  readonly pausedAtMs: number;
}
