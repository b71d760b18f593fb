import type { Command } from 'commander';
import type { CommandContext } from '../../operations/context.ts';
import { addAll, removeAll } from '../../operations/suppress-change.ts';
import { checkAll } from '../../operations/suppress-check.ts';
import { importFile } from '../../operations/suppress-import.ts';
import { addExamples, addFormat, addLedger, addOutput } from '../shared/options.ts';
import { exportAll } from './export.ts';
import { listAll } from './list.ts';

export function configure(command: Command, context: CommandContext): void {
  addExamples(command, [
    ['handbill suppress add +447700900123 --reason "asked by phone"', ''],
    ['handbill suppress add jane@example.com --until 2027-01-31', 'until the end of that day'],
    ['handbill suppress remove +447700900123', ''],
    ['handbill suppress list --format csv', ''],
    ['handbill suppress import optouts.csv', 'a column msisdn, email, contact or hash'],
    ['handbill suppress export --hashed -o shared.csv', 'keyed hashes instead of addresses'],
    ['handbill suppress check', 'is the key of the hashes there?'],
    ['handbill suppress check +447700900123', 'suppressed or not, why, since when, by which list'],
  ]);
  const add = command
    .command('add <address...>')
    .description('Never sends to these numbers, email addresses, contact:IDs or hashes again, in any campaign.')
    .option('--reason <text>', 'why, for whoever looks at the list')
    .option('--until <date>', 'until the end of a day (2027-01-31) or an instant (default: for ever)')
    .option('-q, --quiet', 'print nothing when all is well');
  addLedger(add).action((addresses: readonly string[], given) => addAll(addresses, given, context));
  const remove = command
    .command('remove <address...>')
    .description('Takes them off the list, and the hashes of them too.')
    .option('-q, --quiet', 'print nothing when all is well');
  addLedger(remove).action((addresses: readonly string[], given) => removeAll(addresses, given, context));
  const list = command
    .command('list')
    .description('Shows the list: addresses are masked in text, and whole in json and csv.')
    .option('--full', 'show whole addresses in text too');
  addLedger(addFormat(list, ['text', 'json', 'csv'])).action((given) => listAll(given, context));
  const imports = command
    .command('import <file>')
    .description('Adds everybody in a CSV file with addresses or hashes; a bad row refuses the file.')
    .option('-q, --quiet', 'print nothing when all is well');
  addLedger(imports).action((file: string, given) => importFile(file, given, context));
  const exports = command
    .command('export')
    .description('Writes the list as a CSV file that import and `suppressions` read.')
    .option('--hashed', 'keyed hashes instead of addresses, without reasons');
  // There is nothing to choose; what a terminal is shown depends on it.
  exports.setOptionValue('format', 'csv');
  addLedger(addOutput(exports)).action((given) => exportAll(given, context));
  const check = command
    .command('check [address...]')
    .description(
      'Says of each number, email address, contact:ID or hash whether it is suppressed, why, since and until when, and by ' +
        'which list. The exit status is 0 whether it is or not, and 2 for what is no address. Without any: what the lists ' +
        'of the project hold, and whether the key of their hashes is there. Exit status 2 where it is not, or a list ' +
        'cannot be read.',
    )
    .option('-q, --quiet', 'print nothing when all is well');
  addLedger(addFormat(check, ['text', 'json'])).action((addresses: readonly string[], given) =>
    checkAll(addresses, given, context),
  );
}
