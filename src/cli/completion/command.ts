import type { Command } from 'commander';
import type { CommandContext } from '../../operations/context.ts';
import { quoted } from '../../util/escape.ts';

/** The words that can follow a command: its options, the values of those with a closed list, and its subcommands. */
interface Completed {
  /** The command line so far, such as `suppress add`; empty for handbill itself. */
  readonly path: string;
  readonly words: readonly string[];
  readonly choices: Readonly<Record<string, readonly string[]>>;
}

export async function run(
  context: CommandContext,
  _flags: object,
  shell: keyof typeof SCRIPTS,
  command: Command,
): Promise<void> {
  await context.out(SCRIPTS[shell](completedOf(command.parent ?? command, '')));
}

function completedOf(command: Command, path: string): readonly Completed[] {
  const options = command.options.filter((option) => !option.hidden);
  const names = command.commands.map((one) => one.name());
  const flags = [...options.flatMap(({ long, short }) => long ?? short ?? []), '--help'];
  const chosen = options.flatMap((option) =>
    option.argChoices === undefined ? [] : [[option.long ?? option.short ?? '', option.argChoices] as const],
  );
  const own: Completed = {
    path,
    words: [...names, ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices), ...flags],
    choices: Object.fromEntries(chosen),
  };
  const below = command.commands.flatMap((one) => completedOf(one, path === '' ? one.name() : `${path} ${one.name()}`));
  return [own, ...below];
}

/** Bash 3 or newer: no associative arrays. Files are completed where nothing else fits. */
function bash(all: readonly Completed[]): string {
  return `${shared(all)}
_handbill() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=($(compgen -W "$(_handbill_words "$before" "\${COMP_WORDS[@]:1:COMP_CWORD-1}")" -- "$word"))
}
complete -o default -F _handbill handbill
`;
}

function zsh(all: readonly Completed[]): string {
  return `${shared(all)}
_handbill() {
  local -a words_here
  words_here=(\${=$(_handbill_words "\${words[CURRENT-1]}" "\${(@)words[2,CURRENT-1]}")})
  compadd -- $words_here
  _files
}
compdef _handbill handbill
`;
}

/** A function for POSIX-like shells: the word before and the words so far, to the words that fit. */
function shared(all: readonly Completed[]): string {
  const paths = all.filter(({ path }) => path !== '').map(({ path }) => `      ${quoted(path)}) at=$next ;;`);
  const values = all.flatMap(({ path, choices }) =>
    Object.entries(choices).map(
      ([flag, of]) => `    ${quoted(`${path} ${flag}`)}) echo ${quoted(of.join(' '))}; return ;;`,
    ),
  );
  const words = all.map(({ path, words: of }) => `    ${quoted(path)}) echo ${quoted(of.join(' '))} ;;`);
  return `_handbill_words() {
  local before=$1 at='' next='' word=''
  shift
  for word in "$@"; do
    next="\${at:+$at }$word"
    case "$next" in
${paths.join('\n')}
    esac
  done
  case "$at $before" in
${values.join('\n')}
  esac
  case "$at" in
${words.join('\n')}
  esac
}`;
}

function fish(all: readonly Completed[]): string {
  const lines = all.flatMap(({ path, words, choices }) => {
    const names = path.split(' ').filter((name) => name !== '');
    const seen = names.map((name) => `__fish_seen_subcommand_from ${name}`);
    const when = path === '' ? '__fish_use_subcommand' : seen.join('; and ');
    const head = `complete -c handbill -n ${quoted(when)}`;
    const plain = words.filter((word) => !word.startsWith('-'));
    return [
      ...(plain.length === 0 ? [] : [`${head} -a ${quoted(plain.join(' '))}`]),
      ...words
        .filter((word) => word.startsWith('--'))
        .map((flag) => {
          const of = choices[flag];
          return `${head} -l ${flag.slice(2)}${of === undefined ? '' : ` -x -a ${quoted(of.join(' '))}`}`;
        }),
    ];
  });
  return `${lines.join('\n')}\n`;
}

const SCRIPTS = { bash, zsh, fish } as const;
