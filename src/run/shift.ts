import type { Endpoint } from '../http/connect.ts';
import type { AnswerCheck } from '../http/connection-answers.ts';
import type { CompiledWire } from '../http/pointers.ts';
import type { Cap, LegFacts, SentMessage } from '../ledger/records.ts';
import type { LegMessage, Recipient } from '../model.ts';
import type { Closed } from '../plan/decide.ts';
import type { Expander } from '../plan/expand.ts';
import type { WindowGate } from '../plan/window.ts';
import type { GroupCommit } from './group-commit.ts';
import type { Pace } from './pace.ts';
import type { Due } from './parcel.ts';
import type { Progress } from './progress.ts';
import type { Ramp } from './ramp.ts';
import type { Stop } from './stop.ts';

/** What one delivery works with; the same for all deliveries of a start. */
export interface Shift {
  readonly groupCommit: GroupCommit;
  readonly endpoint: Pick<Endpoint, 'ready' | 'post' | 'release'>;
  readonly pace: Pace;
  readonly ramp: Ramp;
  readonly stop: Stop;
  readonly progress: Progress;
  readonly wire: CompiledWire;
  /** Finds answers that belong to another request. */
  readonly answers: AnswerCheck;
  readonly attempts: number;
  readonly expand: Expander;
  /** What the ledger is to know of a leg that it did not know when the list was loaded; null: it knows. */
  readonly factsOf: (due: Due) => LegFacts | null;
  readonly costOf: (message: LegMessage) => number | null;
  /** What somebody may get at most at this moment; null: as many as they are sent. */
  readonly capsOf: ((recipient: Recipient) => readonly Cap[]) | null;
  /** Whether reports still say of an accepted message that it reached nobody. */
  readonly isUnreached: (message: SentMessage) => boolean;
  /** `send.notAfter` has passed: who was not sent to by now is not sent to any more. */
  readonly isLate: () => boolean;
  readonly expire: (row: number, leg: number) => void;
  /** Whether somebody may be sent to at this moment; null without a window. */
  readonly window: WindowGate | null;
  /** Whoever's window is closed waits until it opens again, or gets nothing any more. The row must be pending. */
  readonly aside: (row: number, leg: number, closed: Closed) => void;
  readonly now: () => number;
  readonly random: () => number;
  /** No new request is to be made: halted, interrupted, or the ledger failed. */
  readonly stopped: AbortSignal;
}
