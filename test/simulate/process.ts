import type { DatabaseSync } from 'node:sqlite';
import type { PriceList } from '../../src/content/price.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { Commit } from '../../src/model.ts';
import type { Suppressions } from '../../src/plan/suppression.ts';
import type { Asked } from '../oracle/forms.ts';
import type { StartPlan } from './plan.ts';
import type { Random } from './random.ts';
import type { Rules } from './rules.ts';
import type { Edition } from './scene.ts';
import type { Server, SimulatedEndpoint } from './server.ts';
import type { LedgerView, Operation, RowView } from './watch.ts';
import type { World } from './world.ts';

/** How a start ended, as its process would say it. */
export type Ending =
  | { readonly kind: 'killed' }
  | { readonly kind: 'nothing-to-do' }
  | {
      readonly kind: 'sent';
      readonly state: string;
      readonly halt: string | null;
      readonly ledgerFailed: boolean;
      /** When the first window opens of those who wait for one. */
      readonly opensAtMs: number | null;
    }
  /** By a refusal with exit status 2, or because the ledger could not be used: 7. */
  | { readonly kind: 'refused'; readonly exit: number; readonly code: string }
  /** By something that is no HandbillError: exit status 1. */
  | { readonly kind: 'bug'; readonly message: string };

/** One process of handbill, from its beginning to its end. */
export interface Start {
  readonly name: string;
  readonly plan: StartPlan;
  readonly rules: Rules;
  readonly endpoint: SimulatedEndpoint;
  /** Null while it lives. */
  readonly ending: Ending | null;
  readonly killed: boolean;
  /** Rows may be claimed that it will never record. */
  readonly mayHaveLeft: boolean;
  kill(site: string): void;
  interrupt(): void;
  abort(): void;
  suppress(address: string): void;
  /** Another process pauses everything, or ends that. */
  pause(isPaused: boolean): void;
  /** The end of a killed process: what it still does means nothing. */
  readonly gone: Promise<void>;
  /** It has ended, but its ledger was not closed: only the end of the process lets go of it. */
  readonly holdsOn: boolean;
  bury(): void;
}

/** Parts that are broken on purpose, to see that the simulation objects. */
export interface Sabotage {
  readonly ledger?: (ledger: Ledger, db: DatabaseSync) => Ledger;
  readonly endpoint?: (endpoint: SimulatedEndpoint) => SimulatedEndpoint;
}

/** Who looks at what one start does beyond the rules of every start. */
export interface Guard {
  /** The list is looked at from here on. */
  begins(): void;
  /** The claim of this row is on the disk, and those of its commit that come after it. */
  claimed(row: RowView): void;
  posting(asked: Asked): void;
  answered(asked: Asked): void;
  /** After each transaction. */
  committed(operation: Operation): void;
}

export interface StartOptions {
  readonly name: string;
  readonly plan: StartPlan;
  readonly edition: Edition;
  readonly folder: string;
  readonly world: World;
  readonly random: Random;
  readonly server: Server;
  readonly view: LedgerView;
  readonly sabotage: Sabotage;
  /** Most rows that all processes together may hold claimed. */
  readonly mostClaimed: () => number;
  /** Called at the very instant of a kill, before anything else. */
  readonly onKill: () => void;
  /** The commit that it is made from; default: git does not know. */
  readonly commit?: Commit | null;
  readonly onStarted: () => void;
  readonly onLoaded: () => void;
  /** Doubts were settled, of whatever run. */
  readonly onSettled?: (db: DatabaseSync) => void;
  /** The run is there, and may have taken over rows of earlier ones. */
  readonly onTakenOver?: (db: DatabaseSync) => void;
  /** The lists of addresses and hashes as they are now; default: all are empty. */
  readonly suppressions?: () => Suppressions;
  /** What messages cost; default: that is not known. */
  readonly prices?: PriceList | null;
  /** Others spend what is left of the budget after the check: only the claims ask. Default: the check asks too. */
  readonly uncheckedBudget?: boolean;
  /** How long a person thinks between the check of the list and the first request; default: not at all. */
  readonly confirmMs?: number;
  /** `send --wait`; default: without. */
  readonly wait?: boolean;
  readonly guard?: Guard;
}
