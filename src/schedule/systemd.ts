import { type Caller, type CallerFile, CONTROL, jobName, refuseUnquotable, stopSeconds } from './caller.ts';

/**
 * A service and its timer. One unit never overlaps itself; what was missed while the machine was off is looked for when
 * it is on again.
 *
 * @param user - the user that runs it: the ledger belongs to one user
 */
export function systemd(caller: Caller, user: string): readonly CallerFile[] {
  const { program, args, root, environment, everyMinutes, timeoutMs, envFile, secrets } = caller;
  const words = [...program, ...args];
  refuseUnquotable([...words, user], 'A systemd unit', CONTROL);
  // These values are read to the end of the line, and nothing quotes them.
  refuseUnquotable([root, envFile ?? ''], 'A systemd unit', BARE_UNSAFE);
  const name = jobName(environment);
  const missing = envFile === null ? secrets : [];
  const service = [
    '[Unit]',
    `Description=handbill: send what is due (${environment})`,
    'Wants=network-online.target',
    'After=network-online.target',
    '',
    '[Service]',
    'Type=oneshot',
    `User=${specifiers(user)}`,
    `WorkingDirectory=${specifiers(root)}`,
    ...(envFile === null ? [] : [`EnvironmentFile=${specifiers(envFile)}`]),
    ...missing.map((secret) => `# ${secret} is not known here: name a file that sets it with --environment-file.`),
    `ExecStart=${words.map(quoted).join(' ')}`,
    '# A stop by systemd (143) is none of its failures. Every other status is one and shows as such: 2 refused, 3 some',
    '# refused or not reached, 4 in doubt, 5 halted, 7 ledger. OnFailure= is the place to be told of it.',
    'SuccessExitStatus=143',
    'TimeoutStartSec=infinity',
    `TimeoutStopSec=${stopSeconds(timeoutMs)}s`,
    'UMask=0077',
    'NoNewPrivileges=true',
  ];
  const timer = [
    '[Unit]',
    `Description=handbill: look for what is due (${environment})`,
    '',
    '[Timer]',
    `OnCalendar=${calendar(everyMinutes)}`,
    'AccuracySec=1s',
    'Persistent=true',
    '',
    '[Install]',
    'WantedBy=timers.target',
  ];
  return [
    { name: `${name}.service`, text: `${service.join('\n')}\n` },
    { name: `${name}.timer`, text: `${timer.join('\n')}\n` },
  ];
}

/** Campaigns have zones of their own; how often it is looked needs none, and UTC has no night of its own. */
function calendar(everyMinutes: number): string {
  return everyMinutes === 1 ? '*-*-* *:*:00 UTC' : `*-*-* *:00/${everyMinutes}:00 UTC`;
}

/** One word of ExecStart: quoted, and without specifiers or variables. */
function quoted(word: string): string {
  const plain = specifiers(word).replaceAll('$', '$$$$');
  return /^[\w@%+=:,./-]+$/.test(plain) ? plain : `"${plain.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

function specifiers(value: string): string {
  return value.replaceAll('%', '%%');
}

const BARE_UNSAFE = /\p{Cc}|^\s|\s$|\\$/u;
