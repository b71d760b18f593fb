import { type Caller, type CallerFile, CONTROL, refuseUnquotable } from './caller.ts';

/**
 * Lines for `crontab -e`. cron gives its commands hardly any environment and another folder, takes `%` for a line break,
 * and mails whatever is printed.
 *
 * @param quote - makes one word for a POSIX shell
 */
export function crontab(caller: Caller, quote: (word: string) => string): readonly CallerFile[] {
  const { program, args, root, envFile, secrets, everyMinutes } = caller;
  const [node = '', ...script] = program;
  const words = [node, ...(envFile === null ? [] : [`--env-file=${envFile}`]), ...script, ...args];
  refuseUnquotable([root, ...words], 'A crontab', CONTROL);
  const command = `cd ${quote(root)} && exec ${words.map(quote).join(' ')}`;
  const missing = envFile === null ? secrets : [];
  const lines = [
    '# handbill sends what is due, each occurrence once. Two calls at once do no harm: a run that one of them holds is',
    '# left to it. cron mails what is printed, which is nothing while all is well: MAILTO=... sets the recipient.',
    ...missing.map(
      (name) =>
        `# cron does not know ${name}: name a file that sets it with --environment-file, or keep the key in a file.`,
    ),
    'SHELL=/bin/sh',
    'PATH=/usr/local/bin:/usr/bin:/bin',
    `${everyMinutes === 1 ? '*' : `*/${everyMinutes}`} * * * * ${command.replaceAll('%', '\\%')}`,
  ];
  return [{ name: 'handbill.crontab', text: `${lines.join('\n')}\n` }];
}
