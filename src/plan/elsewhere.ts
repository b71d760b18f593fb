import { type Diagnostic, problem } from '../errors.ts';
import type { Ledger, Reach } from '../ledger/ledger.ts';
import type { RunRecord } from '../ledger/records.ts';
import { ALLOWABLE, type Decision, type Environment, type Recipient } from '../model.ts';
import { countOf } from '../report/words.ts';
import { isLoopback } from '../util/base-url.ts';
import { isTest } from '../util/occurrence-name.ts';
import { listWithAnd } from '../util/words.ts';
import type { Plan } from './plan.ts';

export type Elsewhere = NonNullable<ReturnType<typeof openElsewhere>>;

interface Source {
  readonly run: RunRecord;
  readonly reach: Reach;
  readonly isHeld: boolean;
  count: number;
}

/** Null: no other run matters, as from a sandbox or fenced environment, or the ledger is null (nothing was sent). */
export function openElsewhere(plan: Plan, ledger: Ledger | null) {
  const { campaign, environment, occurrence } = plan;
  const { secrets, only, redirect, url } = environment;
  const isForPeople = secrets !== null && only === null && redirect === null && !isLoopback(new URL(url).hostname);
  if (ledger === null || !isForPeople || isTest(occurrence)) return null;
  const { environments } = campaign.project;
  const runsElsewhere = (): readonly RunRecord[] =>
    ledger.runs().filter((run) => {
      const isOther = run.environment !== environment.identity && run.campaign === campaign.id;
      return isOther && run.occurrence === occurrence && wentToPeople(run, environments.get(run.environment));
    });
  const reachOf = ({ campaign: id, environment: name, occurrence: of }: RunRecord): Reach => {
    const asking = { environment: name, campaign: '', occurrence: '' };
    return ledger.reach(asking, { exclude: [{ campaign: id, occurrence: of }], sinceMs: null });
  };
  const sources = runsElsewhere().map(
    (run): Source => ({ run, reach: reachOf(run), isHeld: ledger.isHeld(run), count: 0 }),
  );
  // This run does not send again to its own recipients.
  const own =
    sources.length === 0 ? null : ledger.findRun({ ...plan, environment: environment.identity, campaign: campaign.id });
  const ownReach = own === null ? null : reachOf(own);
  return {
    /** Counts a recipient who would be sent to, if they have it, or may have it. */
    add({ decision, to, key }: Pick<Decision, 'decision' | 'to' | 'key'>): void {
      if (sources.length === 0 || (decision !== 'send' && decision !== 'defer') || to === null || key === null) return;
      const source = sources.find(({ reach }) => isReached(reach, { to, key }));
      if (source !== undefined && (ownReach === null || !isReached(ownReach, { to, key }))) source.count += 1;
    },
    /** After all recipients were added: why the run is not sent without a question; null: none has it. */
    found(): Diagnostic | null {
      const sent = sources.flatMap((source) => sentBy(source, ledger));
      if (sent.length > 0) return elsewhere(plan, `was sent already to ${listWithAnd(sent)}`);
      const held = sources.find(({ isHeld }) => isHeld);
      return held === undefined ? null : beingSent(plan, held.run);
    },
    /** The same once this run can be seen in the ledger: another environment may have begun meanwhile. */
    begunMeanwhile(): Diagnostic | null {
      const known = new Map(sources.map(({ run }) => [run.number, run.starts]));
      const begun = runsElsewhere().find((run) => ledger.isHeld(run) || (known.get(run.number) ?? 0) < run.starts);
      return begun === undefined ? null : beingSent(plan, begun);
    },
  };
}

/** The question before a start takes a run over, from the original or from a stand-in. Null: the last start was from here. */
export function otherProvider(
  run: RunRecord,
  { campaign, environment }: Pick<Plan, 'campaign' | 'environment'>,
): Diagnostic | null {
  if (run.starts === 0 || run.postedFrom === standInOf(environment)) return null;
  const before = run.postedFrom ?? run.environment;
  const message = `The run ${run.id} was last sent from ${before}. ${environment.name} (${environment.url}) would go on with it.`;
  return problem('other-provider', message, { at: { file: campaign.file }, hint: ALLOWABLE['other-provider'] });
}

export function standInOf({ name, identity }: Pick<Environment, 'name' | 'identity'>): string | null {
  return name === identity ? null : name;
}

function isReached(reach: Reach, { to, key }: Pick<Recipient, 'to' | 'key'>): boolean {
  return reach.excludedBy(to, key) !== null;
}

function sentBy({ run, reach, count }: Source, ledger: Ledger): readonly string[] {
  // A purged run no longer names its recipients.
  const isPurged = reach.purged.length > 0;
  const people = isPurged
    ? ledger
        .counts(run)
        .reduce((sum, { outcome, count }) => (outcome === 'accepted' || outcome === 'in-doubt' ? sum + count : sum), 0)
    : count;
  if (people === 0) return [];
  return [`${countOf(people, 'recipient')}${isPurged ? ' (purged)' : ''} from ${run.environment} (run ${run.id})`];
}

function beingSent(plan: Plan, { environment, id }: RunRecord): Diagnostic {
  return elsewhere(plan, `is being sent from ${environment} at this moment (run ${id})`);
}

function elsewhere({ campaign, environment, occurrence }: Plan, what: string): Diagnostic {
  const message = `This occurrence (${occurrence}) ${what}. Recipients would get it from ${environment.name} as well.`;
  const hint = ALLOWABLE['sent-elsewhere'];
  return problem('sent-elsewhere', message, { at: { file: campaign.file }, hint });
}

/** The run knows whether it was fenced, whatever handbill.yaml says by now. */
function wentToPeople({ environment, inputs }: RunRecord, known: Environment | undefined): boolean {
  if (inputs.some(({ role }) => role === 'fence' || role === 'redirect')) return false;
  if (known === undefined) return environment !== 'sandbox';
  return known.secrets !== null && !isLoopback(new URL(known.url).hostname);
}
