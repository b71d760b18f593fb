import { campaign, type Explained, PRODUCTION, template } from './docs-example.ts';

const APPROVED = `${PRODUCTION}    approvers:
      - { name: grace@riverside.example, key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAWZGmwWcpfuPE5pyEHG2peOxcXTuTrMILvTySi1Qnxj }
      - { name: henry@riverside.example, key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJpaRLxkYoXVHvGFD1Cmv5hAKQYg1aG2bUU+LERVOTWw }
`;
const KEY = { HANDBILL_API_KEY: 'a-key-for-the-example' };
const LEDGER = '.handbill/ledger.db';

/** Plans, runs and the ledger: why each code is said, an example, and what to do. */
export const RUNS = {
  usage: {
    cause: 'An option or argument is misspelt, missing, or of the wrong kind.',
    fix: 'Take what is proposed, or look at `handbill COMMAND --help` and [commands.md](commands.md).',
    example: { files: {}, run: 'preview hello --limit many' },
  },
  'git-unavailable': {
    cause: '`diff` compares with what git holds, and there is no git, or no repository here.',
    fix: 'Run it inside a clone; in CI, check the repository out with its history.',
    example: { files: {}, run: 'diff main' },
  },
  'unknown-revision': {
    cause:
      'The branch, tag or commit is not in this clone. In CI the clone is often shallow. (The message depends on the repository.)',
    fix: '`git fetch origin main`, or `fetch-depth: 0` in GitHub Actions; see [ci.md](ci.md).',
    example: null,
  },
  'input-changed': {
    cause:
      'Campaign, template or list changed since the run began or the plan was made, so some people would get another message than others.',
    fix: 'Undo the change, or send with `--allow input-changed`: final outcomes stay, all other recipients get the new content. A plan is made again.',
    example: {
      files: {},
      first: ['send hello --limit 1'],
      afterwards: template('Hi {{first_name}}, your order {{order}} is ready.'),
      run: 'send hello',
    },
  },
  'sent-elsewhere': {
    cause:
      'Another environment has sent this occurrence to recipients of the list, or sends it now. Environments do not share their runs, so recipients would get it again. The sandbox, addresses of this machine and fenced environments do not count.',
    fix: 'Send the rest from the environment that began: `handbill send CAMPAIGN --env NAME`. On a terminal, the question before the send says who would get it again, and yes sends it. Without one: `send --allow sent-elsewhere`.',
    example: null,
  },
  'other-provider': {
    cause:
      'An environment and one that stands in for it (`standsInFor`) share their runs. The last start of this run was made in the other one, so two providers would each have sent a part of it. No recipient gets it twice.',
    fix: 'If the other provider cannot go on, take the run over: on a terminal, yes to the question does it; without one, `send --allow other-provider`. Later starts in this environment are not asked about. `due` never takes a run over.',
    example: null,
  },
  'former-name': {
    cause:
      '`name` was changed, or `id` was taken out. Under another id, all recipients would look new and get every occurrence again.',
    fix: 'Write the `id` under which the ledger knows the campaign. If it is another campaign, write a new `id`. See [renaming.md](renaming.md).',
    example: {
      files: {},
      first: ['send hello'],
      afterwards: campaign('name: welcome'),
      run: 'preview hello/campaign.yaml',
    },
  },
  'identity-changed': {
    cause:
      '`key`, `to` or `defaultCountry` says who a row is. With another one, all recipients would look new and be sent to twice.',
    fix: 'Undo it, or begin a new run with `--occurrence`.',
    example: {
      files: {},
      first: ['send hello --limit 1'],
      afterwards: campaign('recipients: { csv: people.csv, key: order }'),
      run: 'send hello --allow input-changed',
    },
  },
  'plan-invalid': {
    cause: 'The file was not written by `handbill plan`, by another version of it, or was changed since.',
    fix: 'Make it again: `handbill plan CAMPAIGN -o FILE`.',
    example: { files: { 'hello.plan.json': '{}\n' }, run: 'send --plan hello.plan.json' },
  },
  'not-approved': {
    cause: 'The environment has `approvers`, and this is not a plan file that enough of them have signed.',
    fix: '`handbill plan --sign`, then an approver `handbill approve --sign`; see [approval.md](approval.md). For cron: see [approvals until a day](standing-approvals.md).',
    example: { files: { 'handbill.yaml': APPROVED }, env: KEY, run: 'send hello --env production --yes' },
  },
  'commit-refused': {
    cause:
      'The environment has `git` in handbill.yaml, and another branch is checked out, files are not as committed, or this is no clone.',
    fix: 'Commit the change and send from the branch that the message names; see [provenance.md](provenance.md).',
    example: {
      files: { 'handbill.yaml': `${PRODUCTION}    git: { clean: true, branch: main }\n` },
      env: KEY,
      run: 'send hello --env production --yes',
    },
  },
  'signing-failed': {
    cause: 'ssh-keygen is missing or too old, the key is not there, or there is no terminal to ask for its passphrase.',
    fix: 'Name a file with a key, or load it into ssh-agent (`ssh-add`) and name its `.pub` file.',
    example: {
      files: {},
      env: { HANDBILL_SIGNING_KEY: '-----BEGIN OPENSSH PRIVATE KEY-----' },
      run: 'plan hello -o hello.plan.json --sign',
    },
  },
  'occurrence-similar': {
    cause:
      'handbill compares names of occurrences by every character, so `Spring` is not `spring`. The new name sends again.',
    fix: 'Use the name that was used before, or choose one that cannot be confused with it.',
    example: {
      files: {},
      first: ['send hello --occurrence spring'],
      run: 'preview hello --occurrence Spring --limit 0',
    },
  },
  'approval-ends': {
    cause:
      'Its last day is less than a week away, or over. After it, nothing is sent until the campaign is approved again.',
    fix: 'Have it approved until a later day, with the command that the message names, and commit the file.',
    example: null,
  },
  'schedule-new': {
    cause:
      'handbill sends nothing for times before it first saw the schedule: recipients who just got the message would get it again.',
    fix: 'Send that instant by hand, as the message says. `missed: catch-up` in the campaign has such instants sent.',
    example: null,
  },
  'not-confirmed': {
    cause: 'Every environment but the sandbox asks before it sends, and the answer was not yes.',
    fix: 'Answer `y`, or give `--yes` where there is no terminal, such as in cron.',
    example: { files: { 'handbill.yaml': PRODUCTION }, env: KEY, run: 'send hello --env production' },
  },
  interrupted: {
    cause: 'Ctrl-C or a signal came before the first request. (After it, the run is recorded as `interrupted`.)',
    fix: 'Give the command again.',
    example: null,
  },
  'too-late': {
    cause: 'The run began more than 24 hours ago: what is left may be stale, and stale is worse than never.',
    fix: '`--allow too-late` sends it however late it is. Without it, `handbill report` shows all recipients.',
    example: { files: {}, first: ['send hello --limit 1'], run: 'send hello', laterHours: 30 },
  },
  paused: {
    cause:
      'A person has stopped this environment, or this campaign in it, with `handbill pause` or in the web UI. Exit status 5.',
    fix: 'Ask who paused it. `handbill resume` ends the pause, and sending again continues; see [pause.md](pause.md).',
    example: {
      files: {},
      first: ['pause --env sandbox --by ann@ops-1 --reason prices'],
      run: 'send hello',
    },
  },
  fence: {
    cause:
      'As a warning: the environment has `only` or `redirect`, and sends to those addresses alone. As an error: the list of them has no address, or a row with a hash or an end; or `redirect` lacks an address for a channel of the campaign.',
    fix: 'Nothing, or add the addresses to the list; see [fences.md](fences.md).',
    example: {
      files: { 'handbill.yaml': `${PRODUCTION}    only: testers.csv\n`, 'testers.csv': 'msisdn\n' },
      env: KEY,
      run: 'send hello --env production --yes',
    },
  },
  'missing-api-key': {
    cause: 'The variable or the file that `apiKey` names is not there.',
    fix: 'Set it for this command: in cron, in a file that is read before (`handbill schedule --environment-file`).',
    example: { files: { 'handbill.yaml': PRODUCTION }, run: 'send hello --env production --yes' },
  },
  'invalid-api-key': {
    cause: 'A space or a line end was copied along with the key.',
    fix: 'Set it again, without them.',
    example: {
      files: { 'handbill.yaml': PRODUCTION },
      env: { HANDBILL_API_KEY: 'two words' },
      run: 'send hello --env production --yes',
    },
  },
  'key-file-permissions': {
    cause: 'The file with the key can be read by others on this machine.',
    fix: '`chmod 600`, and a new key if others may have read it.',
    example: {
      files: {
        'handbill.yaml': PRODUCTION.replace('env: HANDBILL_API_KEY', 'file: key.txt'),
        'key.txt': { bytes: 'a-key-for-the-example\n', shown: '(mode 0644)\n', mode: 0o644 },
      },
      run: 'send hello --env production --yes',
    },
  },
  'env-file': {
    cause:
      'Commands read secrets from `.env`: the variables that handbill.yaml names, and `PGPASSWORD`. A pull request can bring such a file. So it cannot choose the ledger or the environment, and git must not track it.',
    fix: 'Set other variables where handbill is started, and keep `.env` out of git.',
    example: {
      files: {
        'handbill.yaml': PRODUCTION,
        '.env': {
          bytes: 'HANDBILL_API_KEY=a-key-for-the-example\nHANDBILL_LEDGER=other.db\n',
          shown: 'HANDBILL_API_KEY=...\nHANDBILL_LEDGER=other.db\n',
          mode: 0o600,
        },
      },
      run: 'send hello --env production --yes',
    },
  },
  'tls-verification-off': {
    cause: '`NODE_TLS_REJECT_UNAUTHORIZED=0` lets anyone on the network path read the key and the messages.',
    fix: 'Unset it. Put your own certificate authority into `NODE_EXTRA_CA_CERTS`.',
    example: {
      files: { 'handbill.yaml': PRODUCTION },
      env: { ...KEY, NODE_TLS_REJECT_UNAUTHORIZED: '0' },
      run: 'send hello --env production --yes',
    },
  },
  clock: {
    cause:
      'The clock is before the newest entry of the ledger: it was set back, or the ledger comes from another machine.',
    fix: 'Set the clock (`timedatectl`), and give the command again. If the clock is right, it was wrong when that entry was written: no option passes over it, because windows, caps and waits are counted from these times. Reading commands work meanwhile; what sends or records works again from the time of that entry on.',
    example: { files: {}, first: ['send hello --limit 1'], run: 'send hello', laterHours: -2 },
  },
  'run-not-found': {
    cause:
      'No run of this ledger has the name; or nothing was sent from this project yet; or this is the folder of another project.',
    fix: '`handbill runs` lists what there is; `--ledger` names another ledger.',
    example: { files: {}, first: ['send hello'], run: 'report helo' },
  },
  'follow-up-list': {
    cause:
      'The recipients of a follow-up are found by their keys in the campaign before. Another list, or another `recipients.key`, finds few of them.',
    fix: 'Use the same list and the same `recipients.key` in both campaigns, as [follow-ups.md](follow-ups.md) says.',
    example: null,
  },
  'run-ambiguous': {
    cause: 'A campaign has several runs, and the command acts on one of them.',
    fix: 'Name the run by its id, which the message lists.',
    example: {
      files: {},
      first: ['send hello', 'send hello --occurrence second'],
      run: 'doubt resolve hello --line 2 --as accepted',
    },
  },
  'address-changed': {
    cause:
      'The list was corrected after the message had gone out: the same key (`recipients.key`) has another address now. The message went to the old one, and no start sends another by itself.',
    fix: '`handbill send --retry corrected`, after `--allow input-changed` or with it: it shows who gets a second message, at the new address, and asks. See [corrected addresses](renaming.md#an-address-that-was-corrected).',
    example: null,
  },
  'zone-unknown': {
    cause: 'A window goes by the time of each recipient, and for an email address or a toll-free number it is unknown.',
    fix: 'Name a column (`recipients.timeZone`) or a zone for all of them (`send.window.unknown`), and send again with `--allow input-changed`.',
    example: {
      files: {
        ...campaign(
          'channel: email\nfrom: post@riverside.example\ncontent: { subject: Hello }\nsend: { window: { from: "09:00", to: "20:00" } }',
        ),
        'hello/people.csv': 'email,first_name,order\nada@example.com,Ada,0042\n',
      },
      run: 'send hello',
    },
  },
  'run-closed': {
    cause: '`handbill runs close` ended this run: recipients without a message are `skipped` (`closed`).',
    fix: 'Use another `--occurrence` for a new run; `exclude` skips recipients who got the message of the closed one.',
    example: {
      files: {},
      first: ['send hello --limit 1', 'runs close hello --yes'],
      run: 'send hello',
    },
  },
  'run-open': {
    cause:
      'An older run of the campaign is not finished, and could still send (a warning). Or: `handbill person --erase` takes out of a run who the person is. A run that is not finished needs it, or it could send to them a second time; so does a doubt.',
    fix: 'Send the run to its end, or resolve the doubt; `handbill runs close` ends a run. A run that is given up can be purged as a whole: `handbill purge --with-open`.',
    example: {
      files: {},
      first: ['send hello --limit 1'],
      run: 'person +447400123457 --erase --keep-suppressed --yes',
    },
  },
  'run-purged': {
    cause: '`handbill purge` deleted the recipients of this run from the ledger.',
    fix: 'Use another `--occurrence`: the new run cannot skip the recipients of the old one.',
    example: {
      files: {},
      first: ['send hello', '@48 purge --older-than 1d --yes'],
      run: 'send hello',
      laterHours: 49,
    },
  },
  'not-in-doubt': {
    cause: 'The recipient has another outcome, or the doubt has ended meanwhile.',
    fix: '`handbill doubt list` shows who is in doubt now.',
    example: { files: {}, first: ['send hello'], run: 'doubt resolve hello --line 2 --as accepted --yes' },
  },
  'output-exists': {
    cause: 'The output cannot be written there: it is a folder, the folder is missing, or the disk is full.',
    fix: 'Name another file.',
    example: { files: {}, run: 'preview hello -o hello' },
  },
  'runtime-too-old': {
    cause:
      'handbill was started by a Node.js before 24, and the npm package `node` that a clone or a project brings along is not installed. It says so in plain text, before anything else is loaded.',
    fix: 'Run the command that it names: `npm ci` in a clone, `npm install --save-dev --save-exact node@VERSION` in a project.',
    example: null,
  },
  'other-build': {
    cause:
      'The code in dist/ and the schemas beside it are of two versions: after a pull without a build, or after a build that failed. It would take a key that it does not know, and ignore it.',
    fix: '`npm run build` in a clone. For a package, install handbill again.',
    example: null,
  },
  locked: {
    cause: 'Another process is sending this very run; only one may. (It takes two processes.)',
    fix: 'Wait for it. In cron, `--if-locked skip` leaves it to that one and ends with status 0.',
    example: null,
  },
  'unasked-answer': {
    cause:
      'HTTP/1.1 answers have no number: the next answer on a connection belongs to the request that waits for it. The API, or a proxy before it, answered a request twice, so outcomes of the recipients that are named may be those of others. (It takes an API that does so.)',
    fix: 'Compare these recipients with what the provider has before you use `--retry rejected`, and tell the provider.',
    example: null,
  },
  mismatch: {
    cause:
      'The second answer of a start has the message id of the first, or both name another recipient than their request. A mock server with fixed answers does this. So does an API, or a proxy before it, that answers a request twice. An answer that may belong to another request proves nothing: its recipient is `in-doubt(mismatch)`, and the start halts where another connection brings the same answer. (It takes such an API.)',
    fix: 'Let the mock server give each message another id, and repeat `recipients[].metaData` or no recipient at all; `handbill sandbox` does. If the field is not the id of a message, name the right one under `wire.response.messageId`. `handbill send --test-to` shows where the id was found.',
    example: null,
  },
  'connection-limit': {
    cause:
      'This process may open fewer files than its concurrency needs connections, or the API ends connections without saying so, so that each is used for one request.',
    fix: 'Raise the limit (`ulimit -n`) or lower `concurrency`; or let the API keep its connections, or say `Connection: close`.',
    example: null,
  },
  'ledger-unusable': {
    cause: 'The file is not a ledger, is damaged, or another version of handbill made it.',
    fix: 'Name the right file with `--ledger`, restore a backup, or use the handbill that made it. Never delete a ledger: it knows who was sent to.',
    example: {
      files: { [LEDGER]: { bytes: 'not a ledger, but a text of some length\n', shown: 'not a ledger\n', mode: 0o600 } },
      run: 'send hello',
    },
  },
  'ledger-write': {
    cause: 'The disk is full or fails. Nothing more is claimed, so that no message is sent without a record.',
    fix: 'Make room, and give the same command again: it continues.',
    example: null,
  },
  'ledger-missing': {
    cause:
      'A marker beside the ledger says that this project has sent; without the ledger, all recipients would be sent to again.',
    fix: 'Restore it from a backup. Only if you are sure that no recipient is sent to twice: `--allow ledger-missing`.',
    example: {
      files: {},
      first: ['send hello'],
      afterwards: { [LEDGER]: null, [`${LEDGER}-wal`]: null, [`${LEDGER}-shm`]: null },
      run: 'send hello --occurrence second',
    },
  },
  'ledger-taken-over': {
    cause:
      'A replica of PostgreSQL was promoted. It may lack the last messages, and their recipients would get them again.',
    fix: 'Compare the ledger with the reports of the API. Only if nothing is missing: `send --allow ledger-taken-over`.',
    example: null,
  },
  'ledger-replaced': {
    cause:
      'The file of the ledger was removed, or another one was put in its place, while a command was sending: by a restore, a file sync or `git clean`. ' +
      'The command stopped, and saved what it knew beside the ledger, in a file that ends in `.rescued`. The other file lacks the recipients of that command: what sends refuses it, and what reads it warns.',
    fix: 'Put the saved copy in the place of the ledger. Keep the folder of the ledger out of file syncs, and stop what sends before you restore a backup.',
    example: {
      files: {},
      first: ['send hello'],
      afterwards: { [`${LEDGER}.rescued`]: { bytes: '', shown: '', mode: 0o600 } },
      run: 'send hello --occurrence second',
    },
  },
  'second-ledger': {
    cause:
      'There is a ledger already: that of the project where another name was given, one above or below its folder, or one that several machines share. A second one would not know the recipients or the opt-outs of the first. A ledger without a sent run is a second one too, such as an empty PostgreSQL database.',
    fix: 'Use the one that exists: move its folder, or name it with `--ledger`. [Which project and which ledger](project.md#which-project-and-which-ledger) says where handbill looks for it.',
    example: {
      files: {},
      first: ['send hello'],
      afterwards: { 'handbill.yaml': 'ledger: state/ledger.db\n' },
      run: 'send hello',
    },
  },
  'ledger-permissions': {
    cause:
      'Others could change the ledger, it belongs to another user, or it is a link that could be turned to another file.',
    fix: '`chmod go-w`, run handbill as its owner, or name the file itself with `--ledger`.',
    example: {
      files: {},
      first: ['send hello'],
      afterwards: { [LEDGER]: { link: '../other.db' } },
      run: 'send hello --occurrence second',
    },
  },
  'ledger-filesystem': {
    cause: 'Locks cannot be trusted on NFS, SMB and the like: two machines could send to one person.',
    fix: 'Put the ledger on a local disk, with `ledger` in handbill.yaml or `--ledger`.',
    example: null,
  },
  bug: {
    cause: 'The code of handbill has an error. The ledger has everything that was recorded before.',
    fix: 'Report it with the command and what `HANDBILL_DEBUG=1` adds, without addresses and keys. Running again continues.',
    example: null,
  },
} as const satisfies Readonly<Record<string, Explained>>;
