import { findProject } from '../campaign/place.ts';
import { type ProjectReading, readProject } from '../campaign/project.ts';
import { EXIT, HandbillError, problem, refuse } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openExistingLedger } from '../ledger/open.ts';
import { placeOfLedger } from '../util/ledger-address.ts';
import { safeLine } from '../util/safe.ts';
import type { CommandContext } from './context.ts';

/**
 * The project of the current folder, for commands that use its ledger.
 *
 * @throws HandbillError (exit status 2) with everything that is wrong with its handbill.yaml, and its ledger
 */
export async function projectHere(
  context: Pick<CommandContext, 'cwd' | 'env'>,
  ledger: string | undefined,
): Promise<ProjectReading> {
  const place = await findProject(context.cwd);
  const reading = await readProject(place, { cwd: context.cwd, ...ledgerOption(ledger, context) });
  const { diagnostics, ledgerFault } = reading;
  const errors = [...diagnostics.filter((one) => one.severity === 'error'), ...(ledgerFault ? [ledgerFault] : [])];
  if (errors.length > 0) throw new HandbillError(EXIT.refused, errors);
  return reading;
}

/** Prints on stderr which ledger a command has written to, for commands whose result does not name it. */
export async function sayLedger(
  context: Pick<CommandContext, 'cwd' | 'env' | 'err'>,
  ledger: string | undefined,
): Promise<void> {
  const { project } = await projectHere(context, ledger);
  context.err(`Ledger: ${safeLine(placeOfLedger(project.ledger, context.cwd))}\n`);
}

/**
 * The ledger of a project, opened to be read.
 *
 * @throws HandbillError: `run-not-found` (exit status 2) where nothing was ever sent, and what `openExistingLedger` throws
 */
export function ledgerHere({ project }: ProjectReading, context: Pick<CommandContext, 'cwd' | 'now'>): Ledger {
  const ledger = openExistingLedger(project.ledger, { nowMs: context.now() });
  if (ledger !== null) return ledger;
  const place = placeOfLedger(project.ledger, context.cwd);
  const hint =
    'Send a campaign with `handbill send`, go to the folder of its project, or name the ledger with --ledger.';
  throw refuse(
    problem('run-not-found', `Nothing was sent from this project yet: there is no ledger at ${place}.`, { hint }),
  );
}

/**
 * Does something with the ledger of a project, opened to be read, and closes it.
 *
 * @throws HandbillError as `ledgerHere`
 */
export async function withLedger<T>(
  reading: ProjectReading,
  context: Pick<CommandContext, 'cwd' | 'now'>,
  use: (ledger: Ledger) => Promise<T>,
): Promise<T> {
  const ledger = ledgerHere(reading, context);
  try {
    return await use(ledger);
  } finally {
    ledger.close();
  }
}

/** What `--ledger` or HANDBILL_LEDGER says, ready to be spread into options. */
export function ledgerOption(
  given: string | undefined,
  context: Pick<CommandContext, 'env'>,
): { readonly ledger?: string } {
  const ledger = given ?? context.env['HANDBILL_LEDGER'];
  return ledger === undefined || ledger === '' ? {} : { ledger };
}
