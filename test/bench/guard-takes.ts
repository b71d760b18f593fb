import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { API_KEY, forgetRuns } from './bench.ts';
import type { Guarded, Kind } from './guard-rounds.ts';
import { instructionsOf } from './instructions.ts';
import { type Call, CLI, measure } from './measure.ts';
import { writeCampaign, writeProject } from './project.ts';

const MESSAGES = 30_000;
const ROWS = 200_000;
/** Rows of which instructions are counted, which takes 20 to 50 times as long. */
const COUNTED_ROWS = 10_000;
/** A start is short, so that it is repeated more often. */
const STARTS = 3;

/** What CPU time is taken of: yardsticks, and what is guarded. */
export type Timed = 'bare' | 'send' | 'csv' | 'validate' | 'preview' | 'empty' | 'help' | 'small';

/** What instructions are counted of. */
export type Counted = 'preview' | 'few' | 'validate' | 'small' | 'help' | 'empty';

export const SEND = 'send, CPU time against a bare undici loop';

/** CPU time against a yardstick that is taken beside it. What is done for each row is what is left without the start. */
export const TIMED: Readonly<Record<string, Guarded<Timed>>> = {
  [SEND]: { takes: ['bare', 'send'], figure: ({ send, bare }) => send / bare },
  'validate, CPU time of each row against a csv-parse loop': {
    takes: ['csv', 'validate', 'empty', 'small'],
    figure: ({ validate, small, csv, empty }) => (validate - small) / (csv - empty),
  },
  'preview, CPU time of each row against a csv-parse loop': {
    takes: ['csv', 'preview', 'empty', 'small'],
    figure: ({ preview, small, csv, empty }) => (preview - small) / (csv - empty),
  },
  '--help, CPU time against an empty script': {
    takes: ['empty', 'help'],
    figure: ({ help, empty }) => help / empty,
  },
  'validate of 3 rows, CPU time against an empty script': {
    takes: ['empty', 'small'],
    figure: ({ small, empty }) => small / empty,
  },
};

/** Instructions. What is done for each row is what is left without the start, with what V8 compiles meanwhile. */
export const COUNTED: Readonly<Record<string, Guarded<Counted>>> = {
  'preview, thousand instructions for each row': {
    takes: ['preview', 'few'],
    figure: ({ preview, few }) => (preview - few) / COUNTED_ROWS / 1000,
  },
  'validate, thousand instructions for each row': {
    takes: ['validate', 'small'],
    figure: ({ validate, small }) => (validate - small) / COUNTED_ROWS / 1000,
  },
  'validate of 3 rows, instructions against an empty script': {
    takes: ['small', 'empty'],
    figure: ({ small, empty }) => small / empty,
  },
  '--help, instructions against an empty script': {
    takes: ['help', 'empty'],
    figure: ({ help, empty }) => help / empty,
  },
};

/** Writes what is needed, and says how everything is taken. */
export async function prepare(
  folder: string,
  url: string,
): Promise<{ readonly timed: Kind<Timed>; readonly counted: Kind<Counted> }> {
  await writeProject(folder, url);
  const campaigns = {
    large: await writeCampaign(folder, ROWS),
    sent: await writeCampaign(folder, MESSAGES),
    middling: await writeCampaign(folder, COUNTED_ROWS),
    small: await writeCampaign(folder, 3),
  };
  const empty = join(folder, 'empty.mjs');
  writeFileSync(empty, '');
  const call: Call = { cwd: folder, env: { HANDBILL_API_KEY: API_KEY } };
  return { timed: timedWith(call, url, campaigns, empty), counted: countedWith(call, campaigns, empty) };
}

/** Names of campaigns, by their size. */
type Campaigns = Readonly<Record<'large' | 'sent' | 'middling' | 'small', string>>;

function timedWith(call: Call, url: string, { large, sent, small }: Campaigns, empty: string): Kind<Timed> {
  const { cwd } = call;
  const timed = async (script: string, args: readonly string[], env = call.env): Promise<number> =>
    (await measure(script, args, { cwd, ...(env === undefined ? {} : { env }) })).cpuUs;
  const cached = { ...call.env, NODE_COMPILE_CACHE: join(cwd, 'compiled') };
  const warm = new Set<string>();
  const yardstick = async (file: string, ...args: readonly string[]): Promise<number> => {
    const loop = (): Promise<number> => timed(join(import.meta.dirname, file), args, cached);
    // The first strips its types, and is not counted.
    if (!warm.has(file)) await loop();
    warm.add(file);
    return loop();
  };
  const handbill = (...args: readonly string[]): Promise<number> => timed(CLI, args);
  const send = (): Promise<number> => {
    forgetRuns(cwd);
    return handbill('send', sent, '--env', 'local', '--yes');
  };
  return {
    takes: {
      bare: { times: 1, cost: () => yardstick('bare-loop.ts', url, String(MESSAGES)) },
      send: { times: 1, cost: send },
      csv: { times: 1, cost: () => yardstick('csv-loop.ts', join(cwd, large, 'people.csv')) },
      validate: { times: 1, cost: () => handbill('validate', large) },
      preview: { times: 1, cost: () => handbill('preview', large, '--format', 'jsonl') },
      empty: { times: STARTS, cost: () => timed(empty, []) },
      help: { times: STARTS, cost: () => handbill('--help') },
      small: { times: STARTS, cost: () => handbill('validate', small) },
    },
    guarded: TIMED,
    // What runs beside would be in the figures: two threads of one core share its caches.
    together: 1,
  };
}

/** The longest first, so that two cores end at the same time. */
function countedWith(call: Call, { middling, small }: Campaigns, empty: string): Kind<Counted> {
  const once = (script: string, ...args: readonly string[]) => ({
    times: 1,
    cost: () => instructionsOf(script, args, call),
  });
  return {
    takes: {
      preview: once(CLI, 'preview', middling, '--format', 'jsonl'),
      few: once(CLI, 'preview', small, '--format', 'jsonl'),
      validate: once(CLI, 'validate', middling),
      small: once(CLI, 'validate', small),
      help: once(CLI, '--help'),
      empty: once(empty),
    },
    guarded: COUNTED,
    together: Math.min(2, availableParallelism()),
  };
}
