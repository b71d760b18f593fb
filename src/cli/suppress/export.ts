import type { CommandContext } from '../../operations/context.ts';
import { exportSuppressions } from '../../operations/suppress-export.ts';
import { writeResult } from '../shared/output-sink.ts';

export interface ExportOptions {
  readonly ledger?: string;
  readonly hashed?: true;
  readonly output?: string;
  readonly quiet?: true;
}

/** `handbill suppress export` */
export async function exportAll(given: ExportOptions, context: CommandContext): Promise<void> {
  await writeResult(exportSuppressions(given, context), given, context);
}
