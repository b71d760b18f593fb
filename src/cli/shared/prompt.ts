import { once } from 'node:events';
import process from 'node:process';
import { createInterface } from 'node:readline/promises';
import type { Readable } from 'node:stream';
import type { CommandContext, Terminal } from '../../operations/context.ts';
import type { Confirm } from '../../operations/options.ts';
import { safe, safeLine } from '../../util/escape.ts';
import { createScreen, type Screen } from './screen.ts';

/** The context of a question; without a terminal, or if stdin is not one, nothing is asked and the answer is null. */
type PromptContext = Pick<CommandContext, 'env' | 'err' | 'colour' | 'interactive' | 'terminal'>;

interface TextQuestion {
  readonly question: string;
  /** The answer of a bare Enter, shown until something is typed. */
  readonly initial?: string;
  /** The fault of an answer, which makes the question appear again, or null. */
  readonly check?: (answer: string) => string | null;
  readonly stopped?: AbortSignal;
}

interface SelectQuestion<Value extends string> {
  readonly question: string;
  readonly options: readonly { readonly value: Value; readonly label: string }[];
  readonly initial?: Value;
  readonly stopped?: AbortSignal;
}

/**
 * Asks for a line, without the blanks around it. Null when cancelled (Ctrl-C, Ctrl-D, Escape, a terminal that is gone,
 * `stopped`). After Ctrl-C the process has its interrupt, as if it had not asked.
 */
export async function askText(context: PromptContext, asked: TextQuestion): Promise<string | null> {
  const { question, initial, check = () => null, stopped } = asked;
  const offered = initial === undefined ? '' : ` [${safeLine(initial)}]`;
  // Without colour, a placeholder would look like an answer.
  const beside = context.colour.err ? '' : offered;
  return await onTerminal<string>(context, stopped, {
    plain: async (line) => {
      for (;;) {
        const typed = await line(`${safe(question)}${offered}: `);
        if (typed === null) return null;
        const answer = typed === '' ? (initial ?? '') : typed;
        const wrong = check(answer);
        if (wrong === null) return answer;
        context.err(`${safe(wrong)}\n`);
      }
    },
    drawn: async (clack, streams) => {
      const answer = await clack.text({
        ...streams,
        message: `${safe(question)}${beside}`,
        ...(initial === undefined || beside !== '' ? {} : { placeholder: safeLine(initial) }),
        // A default, not text to begin with: what is typed over GB would be added to it.
        ...(initial === undefined ? {} : { defaultValue: initial }),
        validate: (value) => check((value ?? '').trim() || (initial ?? '')) ?? undefined,
      });
      // Enter without an answer gives undefined.
      return typeof answer === 'symbol' ? answer : (answer ?? '').trim() || (initial ?? '');
    },
  });
}

/** Asks for one of several; null when cancelled, as with `askText`. */
export async function askSelect<Value extends string>(context: PromptContext, asked: SelectQuestion<Value>) {
  const { question, options, initial = options[0]?.value, stopped } = asked;
  return await onTerminal<Value>(context, stopped, {
    plain: async (line) => {
      const first = options.findIndex(({ value }) => value === initial) + 1;
      const listed = options.map(({ label }, i) => `${i + 1}) ${safeLine(label)}\n`);
      for (;;) {
        const typed = await line(`${safe(question)}\n${listed.join('')}Number [${first}]: `);
        if (typed === null) return null;
        const chosen = options[(typed === '' ? first : Number(typed)) - 1];
        if (chosen !== undefined) return chosen.value;
        context.err(`Type a number from 1 to ${options.length}.\n`);
      }
    },
    drawn: async (clack, streams) => {
      const shown = options.map(({ value, label }) => ({ value: value as string, label: safeLine(label) }));
      const answer = await clack.select<string>({
        ...streams,
        message: safe(question),
        options: shown,
        ...(initial === undefined ? {} : { initialValue: initial }),
      });
      return typeof answer === 'symbol' ? answer : (options.find(({ value }) => value === answer)?.value ?? null);
    },
  });
}

interface Ways<Answer> {
  plain(line: (question: string) => Promise<string | null>): Promise<Answer | null>;
  drawn(
    clack: typeof import('@clack/prompts'),
    streams: { readonly input: Terminal['input']; readonly output: Screen; readonly signal: AbortSignal },
  ): Promise<Answer | symbol | null>;
}

async function onTerminal<Answer>(context: PromptContext, stopped: AbortSignal | undefined, ways: Ways<Answer>) {
  const { terminal, env } = context;
  if (!context.interactive || terminal === undefined || stopped?.aborted === true) return null;
  if (env['TERM'] === 'dumb' || (env['ACCESSIBLE'] ?? '0') !== '0') {
    return await ways.plain((question) => askPlainly(question, context, terminal.input, stopped));
  }
  const clack = await import('@clack/prompts');
  const output = createScreen(context, terminal, context.err);
  const keys = watchKeys(terminal.input, stopped);
  try {
    const answer = await ways.drawn(clack, { input: terminal.input, output, signal: keys.signal });
    return typeof answer === 'symbol' ? null : answer;
  } finally {
    keys.stop();
    output.close();
    // While the terminal reads keys it makes no signals: this handles Ctrl-C.
    if (keys.interrupted()) await interrupt();
  }
}

/** Resolves when a handler of the signal has run; without a handler the process ends here. */
async function interrupt(): Promise<void> {
  const delivered = process.listenerCount('SIGINT') > 0 ? once(process, 'SIGINT') : null;
  // Waiting for a signal does not keep a process alive.
  const alive = setInterval(() => undefined, 1000);
  process.kill(process.pid, 'SIGINT');
  await delivered;
  clearInterval(alive);
}

/**
 * Ctrl-D and the end of the input close the library's reader, which does not notice it: this ends the question. A
 * separate signal, because the library never removes its listener from the given one.
 */
function watchKeys(input: Terminal['input'], stopped: AbortSignal | undefined) {
  const controller = new AbortController();
  let interrupted = false;
  const abort = (): void => controller.abort();
  const onKey = (_text: unknown, key: { readonly name?: string; readonly ctrl?: boolean } | undefined): void => {
    if (key?.ctrl !== true) return;
    if (key.name === 'c') interrupted = true;
    if (key.name === 'd') abort();
  };
  stopped?.addEventListener('abort', abort, { once: true });
  for (const event of ENDS) input.once(event, abort);
  input.on('keypress', onKey);
  return {
    signal: controller.signal,
    interrupted: () => interrupted,
    stop: (): void => {
      stopped?.removeEventListener('abort', abort);
      for (const event of ENDS) input.off(event, abort);
      input.off('keypress', onKey);
    },
  };
}

const ENDS = ['end', 'close', 'error'] as const;

/** For terminals that cannot draw (`TERM=dumb`), or should not (`ACCESSIBLE`, for screen readers). */
async function askPlainly(
  question: string,
  context: Pick<CommandContext, 'err'>,
  input: Readable,
  stopped?: AbortSignal,
): Promise<string | null> {
  // Without an output: the terminal echoes by itself, and the question is printed like all other output.
  const terminal = createInterface({ input, terminal: false });
  context.err(question);
  try {
    return await new Promise<string | null>((resolve) => {
      terminal.once('line', (line) => resolve(line.trim()));
      terminal.once('close', () => resolve(null));
      stopped?.addEventListener('abort', () => resolve(null), { once: true });
      if (stopped?.aborted === true) resolve(null);
    });
  } finally {
    terminal.close();
  }
}

/**
 * Asks for "yes" or "y", and the Enter key: one key may have been pressed before the question appeared. Without a
 * terminal, or when `stopped` comes first, the answer is no.
 */
export async function askYes(question: string, context: PromptContext, stopped?: AbortSignal): Promise<boolean> {
  return /^y(es)?$/.test((await askLine(question, context, stopped)).trim());
}

/** `--yes`, or the answer of `askYes` after `text` of what is about to be done. */
export function yesOr<Question>(
  yes: boolean | undefined,
  context: PromptContext,
  prompt: string,
  text: (question: Question) => string,
): Confirm<Question> {
  if (yes === true) return true;
  return async (question) => {
    context.err(text(question));
    return await askYes(prompt, context);
  };
}

/** Asks on the terminal for a line, in lower case; empty without a terminal, or when it is closed or `stopped`. */
export async function askLine(question: string, context: PromptContext, stopped?: AbortSignal): Promise<string> {
  const answer = await askText(context, { question, ...(stopped === undefined ? {} : { stopped }) });
  return (answer ?? '').toLowerCase();
}
