import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { API_KEY, forgetRuns } from './bench.ts';
import { instructionsOf } from './instructions.ts';
import { type Call, CLI, measure } from './measure.ts';
import { writeCampaign, writeProject } from './project.ts';

const MESSAGES = 30_000;
const ROWS = 200_000;
/** Rows of which instructions are counted: it takes so long. */
const COUNTED_ROWS = 20_000;
/** A start is short, so that it is repeated more often. */
const STARTS = 3;

/** What is measured again and again: yardsticks, and what is guarded. */
export type TakeName = 'bare' | 'send' | 'csv' | 'validate' | 'preview' | 'empty' | 'help' | 'small';

/** The least microseconds of CPU time of each. */
export type Least = Readonly<Record<TakeName, number>>;

export interface Take {
  readonly times: number;
  readonly cpuUs: () => Promise<number>;
}

/** Of what instructions are counted. */
export interface Counted {
  readonly call: Call;
  readonly empty: string;
  /** Names of campaigns. */
  readonly small: string;
  readonly middling: string;
}

/** A ratio that is guarded, and what has to be taken for it. */
export interface Guarded {
  readonly takes: readonly TakeName[];
  readonly ratio: (least: Least) => number;
}

const HELP = '--help against an empty script';
const SMALL = 'validate of a small campaign against an empty script';

export const SEND = 'send against a bare undici loop';

/** CPU time. What is done for each row is what is left without the start. */
export const GUARDED: Readonly<Record<string, Guarded>> = {
  [SEND]: { takes: ['bare', 'send'], ratio: ({ send, bare }) => send / bare },
  'validate against a csv-parse loop, each row': {
    takes: ['csv', 'validate', 'empty', 'small'],
    ratio: ({ validate, small, csv, empty }) => (validate - small) / (csv - empty),
  },
  'preview against a csv-parse loop, each row': {
    takes: ['csv', 'preview', 'empty', 'small'],
    ratio: ({ preview, small, csv, empty }) => (preview - small) / (csv - empty),
  },
  [HELP]: { takes: ['empty', 'help'], ratio: ({ help, empty }) => help / empty },
  [SMALL]: { takes: ['empty', 'small'], ratio: ({ small, empty }) => small / empty },
};

/** Writes what is needed, and says how everything is taken, in the order of the turns. */
export async function prepare(
  folder: string,
  url: string,
): Promise<{ readonly takes: Readonly<Record<TakeName, Take>>; readonly counted: Counted }> {
  await writeProject(folder, url);
  const large = await writeCampaign(folder, ROWS);
  const sent = await writeCampaign(folder, MESSAGES);
  const small = await writeCampaign(folder, 3);
  const middling = await writeCampaign(folder, COUNTED_ROWS);
  const call: Call = { cwd: folder, env: { HANDBILL_API_KEY: API_KEY } };
  const empty = join(folder, 'empty.mjs');
  writeFileSync(empty, '');
  const handbill = (...args: readonly string[]): Promise<number> => cpuOf(CLI, args, call);
  const bare = (): Promise<number> => yardstickOf('bare-loop.ts', [url, String(MESSAGES)], call);
  const csv = (): Promise<number> => yardstickOf('csv-loop.ts', [join(folder, large, 'people.csv')], call);
  const send = (): Promise<number> => {
    forgetRuns(folder);
    return handbill('send', sent, '--env', 'local', '--yes');
  };
  // The first of each strips its types, and is not counted.
  await bare();
  await csv();
  const takes: Record<TakeName, Take> = {
    bare: { times: 1, cpuUs: bare },
    send: { times: 1, cpuUs: send },
    csv: { times: 1, cpuUs: csv },
    validate: { times: 1, cpuUs: () => handbill('validate', large) },
    preview: { times: 1, cpuUs: () => handbill('preview', large, '--format', 'jsonl') },
    empty: { times: STARTS, cpuUs: () => cpuOf(empty, [], call) },
    help: { times: STARTS, cpuUs: () => handbill('--help') },
    small: { times: STARTS, cpuUs: () => handbill('validate', small) },
  };
  return { takes, counted: { call, empty, small, middling } };
}

/** Instructions, as ratios to those of an empty script, which is taken twice because it varies more. */
export async function countInstructions(of: Counted): Promise<Readonly<Record<string, number>>> {
  const { call, empty, small, middling } = of;
  const ours = (...args: readonly string[]): Promise<number> => instructionsOf(CLI, args, call);
  const nothing = Math.min(await instructionsOf(empty, [], call), await instructionsOf(empty, [], call));
  const start = await ours('validate', small);
  const rows = `${COUNTED_ROWS.toLocaleString('en-GB')} rows without the start against an empty script`;
  return {
    [`${HELP}, instructions`]: (await ours('--help')) / nothing,
    [`${SMALL}, instructions`]: start / nothing,
    [`validate, ${rows}, instructions`]: ((await ours('validate', middling)) - start) / nothing,
    [`preview, ${rows}, instructions`]: ((await ours('preview', middling, '--format', 'jsonl')) - start) / nothing,
  };
}

function yardstickOf(file: string, args: readonly string[], call: Call): Promise<number> {
  const env = { ...call.env, NODE_COMPILE_CACHE: join(call.cwd, 'compiled') };
  return cpuOf(join(import.meta.dirname, file), args, { ...call, env });
}

async function cpuOf(script: string, args: readonly string[], call: Call): Promise<number> {
  return (await measure(script, args, call)).cpuUs;
}
