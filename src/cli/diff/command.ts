import type { Command } from 'commander';
import type { Diff } from '../../diff/result.ts';
import { EXIT, HandbillError } from '../../errors.ts';
import type { Allowable } from '../../model.ts';
import type { CommandContext } from '../../operations/context.ts';
import { diff } from '../../operations/diff.ts';
import { jsonText } from '../../util/escape.ts';
import { addAllow, addExamples, addFormat, addOutput, environmentOption } from '../shared/options.ts';
import { writeResult } from '../shared/output-sink.ts';
import { watchInterrupts } from '../shared/signals.ts';
import { diffMarkdown } from './markdown.ts';
import { diffText } from './text.ts';

const FORMATS = ['text', 'markdown', 'json'] as const;

const WRITERS: Readonly<Record<(typeof FORMATS)[number], (result: Diff) => string>> = {
  text: diffText,
  markdown: diffMarkdown,
  json: (result) => `${jsonText(result, 2)}\n`,
};

interface Given {
  readonly env: string;
  readonly recipients?: string;
  readonly allow?: readonly Allowable[];
  readonly format: (typeof FORMATS)[number];
  readonly output?: string;
  readonly quiet?: true;
}

export function configure(command: Command, context: CommandContext): void {
  command
    .argument('<rev>', 'what to compare the work tree with: a branch, tag or commit; or REV..REV2, REV...REV2')
    .argument('[campaign]', 'campaign file, its folder, or its name (default: all of the project)')
    .addOption(environmentOption(context))
    .option('--recipients <file>', 'read both sides with this list, where it is not in git');
  addFormat(addOutput(addAllow(command, ['invalid-rows'])), FORMATS);
  addExamples(command, [
    ['handbill diff main', 'what the work tree changes since it left main'],
    ['handbill diff HEAD hello', 'what is not committed yet, of one campaign'],
    ['handbill diff v1..v2', 'from one commit to another'],
    ['handbill diff origin/main --format markdown -o comment.md', 'for a pull request'],
  ]);
  command.action(async (revision: string, target: string | undefined, given: Given) => {
    const interrupts = watchInterrupts();
    try {
      const result = await diff(revision, {
        ...(target === undefined ? {} : { campaign: target }),
        cwd: context.cwd,
        now: context.now,
        env: context.env,
        environment: given.env,
        ...(given.allow === undefined ? {} : { allow: given.allow }),
        signal: interrupts.signal,
        ...(given.recipients === undefined ? {} : { recipients: given.recipients }),
      });
      await writeResult([WRITERS[given.format](result)], given, context);
      context.exit(result.valid ? EXIT.done : EXIT.refused);
    } catch (error) {
      const status = interrupts.status();
      if (status === null || !(error instanceof HandbillError)) throw error;
      throw new HandbillError(status, error.diagnostics, error.total);
    } finally {
      interrupts.stop();
    }
  });
}
