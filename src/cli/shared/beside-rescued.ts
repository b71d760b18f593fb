import type { Command } from 'commander';
import { besideRescued } from '../../ledger/place.ts';
import type { CommandContext } from '../../operations/context.ts';
import { ledgerOption } from '../../operations/project.ts';
import { formatDiagnostics } from '../../util/diagnostic-text.ts';
import { jsonText } from '../../util/escape.ts';
import { projectOf } from './named-environment.ts';

/**
 * For commands that read a ledger beside which a later copy lies: takes the first piece of the result, warns on stderr,
 * and puts `warnings` into a JSON document. Null: there is no such copy. `doctor` has a check for it.
 */
export async function stampBesideRescued(
  command: Command,
  { cwd, env, err, colour }: Pick<CommandContext, 'cwd' | 'env' | 'err' | 'colour'>,
): Promise<NonNullable<CommandContext['stamp']> | null> {
  if (command.name() === 'doctor') return null;
  const { ledger, format } = command.opts<{ ledger?: string; format?: string }>();
  const project = await projectOf(cwd, ledgerOption(ledger, { env }));
  const found = project === null ? null : besideRescued(project.ledger);
  if (found === null) return null;
  return (piece) => {
    err(formatDiagnostics([found], { colour: colour.err }));
    const { code, message, hint } = found;
    return format === 'json' ? piece.replace('{', () => `{"warnings":${jsonText([{ code, message, hint }])},`) : piece;
  };
}
