import type { Ledger } from '../../src/ledger/ledger.ts';
import { openExistingLedger } from '../../src/ledger/open.ts';
import type { RunIdentity, RunRecord } from '../../src/ledger/records.ts';
import { createReferences } from '../../src/plan/expand.ts';
import { type CliOptions, type CliResult, type RunningCli, runCli, startCli } from '../helpers/cli.ts';
import { commandRunner } from '../helpers/here.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { misbooked } from './accounts.ts';
import { endingsOf } from './endings.ts';
import { FORMS, type FormName } from './forms.ts';
import { type Ending, type Evidence, violations } from './oracle.ts';
import { readReceipts } from './receipts.ts';

/** Looked for in everything that was printed or written: it may be nowhere. */
export const CANARY_KEY = 'SEKRET-5f0e9a1c7b3d+/=x';

export interface SceneOptions {
  /** How many recipients the list has. */
  readonly rows: number;
  /** Origin of the server that plays the API. */
  readonly baseUrl: string;
  /** How it is spoken to; default: `messages-v2`. */
  readonly form?: FormName;
  /** File to which that server writes its receipts. */
  readonly receipts: string;
  /** What the message is, in lines of campaign.yaml; default: an SMS for each by name. */
  readonly message?: readonly string[];
  /** More lines of campaign.yaml. */
  readonly campaign?: string;
  /** More lines of the environment `test` in handbill.yaml, indented by four spaces. */
  readonly environment?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The address of a shared ledger; default: the file of the project. */
  readonly ledger?: string;
}

/** One campaign, one list and one server to send it to: what a proof needs. */
export interface Scene extends TestProject {
  readonly form: FormName;
  readonly ledger: string;
  /** Starts `handbill send`; each call is a start for the oracle. */
  start(args?: readonly string[], more?: Partial<CliOptions>): RunningCli;
  send(args?: readonly string[], more?: Partial<CliOptions>): Promise<CliResult>;
  /** A start that is not what is proven: in the quick set it has no process of its own. */
  goOn(args?: readonly string[]): Promise<CliResult>;
  /** Any other command that is not what is proven. */
  look(args: readonly string[]): Promise<CliResult>;
  /** Any other command. */
  run(args: readonly string[], more?: Partial<CliOptions>): Promise<CliResult>;
  /** Of the run `proof`, `once`, or of another one in the same project. */
  endings(of?: Partial<RunIdentity>): Ending[];
  evidence(more?: Partial<Evidence>): Evidence;
  /** What speaks against the promise; see oracle.ts. */
  violations(more?: Partial<Evidence>): string[];
}

/** Numbers that are in no scenario in the sandbox and valid in Britain. */
export function numberOf(row: number): string {
  return `+447400${String(100_000 + row)}`;
}

const IDENTITY: RunIdentity = { environment: 'test', campaign: 'proof', occurrence: 'once' };

/** Makes the project; the environment is called `test`, the campaign `proof`. */
export function createScene(options: SceneOptions): Scene {
  const { form = 'messages-v2' } = options;
  const list = Array.from({ length: options.rows }, (_, row) => `${numberOf(row)},Name ${row}\n`);
  const project = createProject({
    'handbill.yaml': [
      'environments:',
      '  test:',
      `    baseUrl: ${options.baseUrl}`,
      ...FORMS[form].environment,
      options.environment ?? '',
      '',
    ].join('\n'),
    'campaign.yaml': [
      'name: proof',
      ...(options.message ?? ['channel: sms', 'from: Riverside', 'template: { text: "Hi {{name}}" }']),
      'recipients: people.csv',
      options.campaign ?? '',
      '',
    ].join('\n'),
    'people.csv': `msisdn,name\n${list.join('')}`,
  });
  const ledger = options.ledger ?? project.path('.handbill/ledger.db');
  const shared = options.ledger === undefined ? {} : { HANDBILL_LEDGER: options.ledger };
  const cli = { cwd: project.root, env: { HANDBILL_API_KEY: CANARY_KEY, ...shared, ...options.env } };
  const starts: number[] = [];

  const given = (more: Partial<CliOptions>): CliOptions => ({ ...cli, ...more, env: { ...cli.env, ...more.env } });
  const begun = (args: readonly string[]): readonly string[] => {
    starts.push(readReceipts(options.receipts).length);
    return ['send', 'campaign.yaml', '--env', 'test', '--yes', ...args];
  };
  const start = (args: readonly string[] = [], more: Partial<CliOptions> = {}): RunningCli =>
    startCli(begun(args), given(more));
  const read = <T>(of: Partial<RunIdentity>, what: (opened: Ledger, run: RunRecord) => T): T | null => {
    const opened = openExistingLedger(ledger, { nowMs: Date.now() });
    try {
      const run = opened?.findRun({ ...IDENTITY, ...of }) ?? null;
      return opened === null || run === null ? null : what(opened, run);
    } finally {
      opened?.close();
    }
  };
  const endings = (of: Partial<RunIdentity> = {}): Ending[] => {
    const outcomes = read(of, (opened, run) => [...opened.outcomes(run)].flat()) ?? [];
    return endingsOf(outcomes, createReferences({ ...IDENTITY, ...of }));
  };
  const books = (): string[] =>
    read({}, (opened, run) =>
      misbooked({
        outcomes: [...opened.outcomes(run)].flat(),
        steps: opened.steps(run),
        counts: opened.counts(run),
        rows: run.rows,
      }),
    ) ?? [];
  const evidence = (more: Partial<Evidence> = {}): Evidence => ({
    lines: Array.from({ length: options.rows }, (_, row) => row + 2),
    endings: endings(),
    receipts: readReceipts(options.receipts),
    starts,
    ...more,
  });
  return {
    ...project,
    form,
    ledger,
    start,
    send: async (args, more) => await start(args, more).done,
    goOn: async (args = []) => await commandRunner()(begun(args), cli),
    look: async (args) => await commandRunner()(args, cli),
    run: async (args, more = {}) => await runCli(args, given(more)),
    endings,
    evidence,
    violations: (more) => [...violations(evidence(more)), ...books()],
  };
}
