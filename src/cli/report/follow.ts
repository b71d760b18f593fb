import { setTimeout as sleep } from 'node:timers/promises';
import type { Ledger } from '../../ledger/ledger.ts';
import { LedgerError } from '../../ledger/ledger-error.ts';
import type { RunRecord } from '../../ledger/records.ts';
import { DELIVERIES, type Outcome, type Project, type Report } from '../../model.ts';
import type { CommandContext } from '../../operations/context.ts';
import { countedRows, isChosen, openSummary, type Summary } from '../../operations/report.ts';
import { formatReport } from '../../report/formats.ts';
import { recordOf } from '../../report/record.ts';
import { verdictOf } from '../../report/verdict.ts';
import { number } from '../../report/words.ts';
import { isFinal } from '../../send/deliveries.ts';
import { stateOf } from '../../send/summary.ts';
import { jsonText, safeLine } from '../../util/escape.ts';
import { isoSeconds } from '../../util/time.ts';
import { watchInterrupts } from '../shared/signals.ts';
import type { PrintOptions } from './print.ts';

/** The ledger is asked once a second whether anything was written, and looked through when there was. */
const EVERY_MS = 1_000;
/** To read a million rows takes seconds: reading may take a tenth of the time at most. */
const SHARE_OF_TIME = 10;

type Look = ReturnType<typeof lookAt>;

/**
 * `report --follow`: shows a run until no process sends and every accepted message has its final status, or until a
 * signal. A terminal redraws some lines and ends with the whole report; elsewhere each change is a line, with `jsonl`
 * each recipient with a new report or reply.
 */
export async function followReport(
  ledger: Ledger,
  run: RunRecord,
  options: PrintOptions,
  context: CommandContext,
  project: Project,
): Promise<void> {
  const summary = await openSummary(ledger, run, context, project);
  using interrupts = watchInterrupts();
  // Where colours are, lines can be drawn again.
  const shown = context.colour.out ? drawn(context) : listed(context);
  const view: View = options.format === 'jsonl' ? { show: () => undefined, end: () => [] } : shown;
  const changes = options.format === 'jsonl' ? createChanges() : null;
  for (let seen = ''; ; ) {
    const began = performance.now();
    // Changes when there may be something new: a process wrote, or the sending process has ended.
    const mark = `${ledger.events.version()} ${stateOf(ledger, ledger.findRun(run) ?? run)}`;
    if (mark !== seen) {
      const lines: string[] = [];
      const look = tried(() =>
        lookAt(ledger, run, options, summary, (outcome, current) => {
          if (changes?.isNew(current, outcome)) lines.push(jsonText(recordOf(outcome, summary.options.referenceOf)));
        }),
      );
      if (look !== null) {
        seen = mark;
        if (changes === null) await view.show(look);
        else if (lines.length > 0) await context.out(`${lines.join('\n')}\n`);
        const { report, open } = look;
        if (report.purgedAt !== undefined || (report.state !== 'running' && open === 0)) {
          for await (const piece of view.end(look, summary.options)) await context.out(piece);
          return;
        }
      }
    }
    const pauseMs = Math.max(EVERY_MS, SHARE_OF_TIME * (performance.now() - began));
    await sleep(pauseMs, undefined, { signal: interrupts.signal }).catch(() => undefined);
    const status = interrupts.status();
    if (status !== null) return context.exit(status);
  }
}

function lookAt(
  ledger: Ledger,
  run: RunRecord,
  filter: PrintOptions,
  { reportOf, options: { referenceOf } }: Pick<Summary, 'reportOf' | 'options'>,
  each: (outcome: Outcome, run: RunRecord) => void,
) {
  using _ = ledger.hold();
  const current = ledger.findRun(run) ?? run;
  const { rows, counts } = countedRows(ledger, current, referenceOf);
  /** Accepted messages about which something more is to come. */
  let open = 0;
  for (const batch of rows) {
    for (const outcome of batch) {
      const { delivery = null } = outcome;
      if (outcome.outcome === 'accepted' && !isFinal(delivery)) open += 1;
      if (isChosen(outcome, filter)) each(outcome, current);
    }
  }
  return { report: reportOf(counts()), open };
}

/** Null where the list was replaced while it was read: the next look sees the new one. */
function tried<T>(look: () => T): T | null {
  try {
    return look();
  } catch (error) {
    if (error instanceof LedgerError && error.kind === 'busy') return null;
    throw error;
  }
}

/** Remembers the delivery result of each row, in a byte: a million rows are a megabyte. */
function createChanges(): { isNew(run: RunRecord, outcome: Outcome): boolean } {
  let list = -1;
  let known = new Uint8Array();
  return {
    isNew(run, { row, delivery = null }) {
      // An amended run has another list, whose rows are other people.
      if (run.list !== list || row >= known.length) {
        known = new Uint8Array(Math.max(run.rows, row + 1));
        list = run.list;
      }
      const code = delivery === null ? 0 : DELIVERIES.indexOf(delivery) + 1;
      if (known[row] === code) return false;
      known[row] = code;
      return true;
    },
  };
}

interface View {
  show(look: Look): Promise<void> | void;
  end(look: Look, options: Parameters<typeof formatReport>[3]): AsyncIterable<string> | Iterable<string>;
}

function drawn({ out, width }: CommandContext): View {
  let lines = 0;
  const clear = (): string => (lines === 0 ? '' : `\u001b[${lines}F\u001b[J`);
  return {
    show({ report }) {
      const { campaign, environment, occurrence } = report;
      const { headline, counts } = verdictOf(report);
      const shown = [`${campaign} · ${environment} · ${occurrence}`, headline, counts, ...latestOf(report)].map(
        (line) => safeLine(line).slice(0, width - 1),
      );
      const text = `${clear()}${shown.join('\n')}\n`;
      lines = shown.length;
      return out(text);
    },
    async *end({ report }, options) {
      yield clear();
      yield* formatReport('text', report, [], options);
    },
  };
}

function listed({ out, now }: CommandContext): View {
  let last = '';
  return {
    show({ report }) {
      const line = [`${report.state}: ${verdictOf(report).counts}`, ...latestOf(report)].join(' ');
      if (line === last) return;
      last = line;
      return out(`${isoSeconds(now())} ${safeLine(line)}\n`);
    },
    end: () => [],
  };
}

/** `Latest reports: 900 delivered, 3 failed.`; nothing before the first. */
function latestOf({ deliveries }: Report): readonly string[] {
  const states = Object.entries(deliveries).map(([state, count]) => `${number(count)} ${state}`);
  return states.length === 0 ? [] : [`Latest reports: ${states.join(', ')}.`];
}
