import { channel } from 'node:diagnostics_channel';

/** Takes a `Diagnostic` each time that a ledger is opened to be read beside a later copy of it (`ledger-replaced`). */
export const LEDGER_WARNINGS = channel('handbill:ledger-warnings');
