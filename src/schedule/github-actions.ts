import { stringify } from 'yaml';
import { type Caller, type CallerFile, CONTROL, jobName, refuseUnquotable, stopSeconds } from './caller.ts';

export interface GitHubOptions {
  /** Labels of a runner of one's own, which keeps the ledger; null: a runner of GitHub's, which forgets its disk. */
  readonly runner: string | null;
  /** The project's root below that of the repository, with `/`; null: it is that. */
  readonly folder: string | null;
  /** A ledger on a database server, whose address is a secret. */
  readonly onServer: boolean;
}

/** GitHub starts nothing more often. */
const SHORTEST_MINUTES = 5;

/**
 * A workflow. GitHub's schedule is in UTC, comes late at busy times and sometimes not at all: it only says how often it is
 * looked for what is due.
 *
 * @param quote - makes one word for a POSIX shell
 */
export function gitHubActions(
  caller: Caller,
  options: GitHubOptions,
  quote: (word: string) => string,
): readonly CallerFile[] {
  const { environment, args, secrets, timeoutMs } = caller;
  const { runner, folder, onServer } = options;
  // ${{ }} is evaluated in any place.
  refuseUnquotable([...args, folder ?? '', runner ?? ''], 'A workflow', new RegExp(`${CONTROL.source}|\\$\\{\\{`, 'u'));
  const name = jobName(environment);
  const keys = [...secrets, ...(onServer ? ['HANDBILL_LEDGER'] : [])];
  const workflow = {
    name: `handbill due (${environment})`,
    on: { schedule: [{ cron: `*/${SHORTEST_MINUTES} * * * *` }], workflow_dispatch: {} },
    permissions: { contents: 'read' },
    concurrency: { group: name, 'cancel-in-progress': false },
    jobs: {
      due: {
        'runs-on': runner ?? 'ubuntu-latest',
        ...(folder === null ? {} : { defaults: { run: { 'working-directory': folder } } }),
        steps: [
          { uses: 'actions/checkout@v5', with: { 'persist-credentials': false } },
          { uses: 'actions/setup-node@v5', with: { 'node-version': 24 } },
          { run: 'npm ci' },
          {
            run: `npx handbill ${args.map(quote).join(' ')}`,
            ...(keys.length === 0
              ? {}
              : { env: Object.fromEntries(keys.map((key) => [key, `\${{ secrets.${key} }}`])) }),
          },
        ],
      },
    },
  };
  const comment = [
    '# handbill sends what is due, each occurrence once. The zone of each campaign is its own: this schedule is in UTC, and',
    '# GitHub may be late or leave one out, so that `missed: catch-up` is what a campaign wants here. Each call takes a',
    `# minute of a runner; make them rarer where late is good enough. A stop takes up to ${stopSeconds(timeoutMs)} seconds.`,
    ...(onServer ? [] : ['# The runner is one that keeps its disk: the ledger on it knows who has been sent to.']),
  ];
  const text = stringify(workflow, { lineWidth: 0 });
  return [{ name: `${name}.yml`, text: `${comment.join('\n')}\n${text}` }];
}
