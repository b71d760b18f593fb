import { formatOption, OPTIONS, type OptionTable, WRITING } from '../../operations/options.ts';
import { OUTCOME_FILTERS } from '../../operations/report.ts';
import { PRINT_FORMATS } from '../../report/formats.ts';

export const REPORT_FLAGS = {
  ...WRITING,
  ...OUTCOME_FILTERS,
  withColumns: {
    flag: '--with-columns',
    says: 'put the columns of the list beside each row, in csv and jsonl: to send to them again',
  },
  for: { flag: '--for <program>', says: 'for this spreadsheet program, in csv', choices: ['excel'] },
  recipients: { flag: '--recipients <file>', says: 'with --with-columns: where the list of the run is now' },
  full: { flag: '--full', says: 'whole addresses in html, which else has them masked' },
  causes: { flag: '--causes', says: 'every cause of a failure, in text' },
  follow: { flag: '--follow', says: 'show what changes until nothing more is to come, in text and jsonl' },
  format: formatOption(PRINT_FORMATS),
  ledger: OPTIONS.ledger,
  metricsFile: OPTIONS.metricsFile,
} as const satisfies OptionTable;
