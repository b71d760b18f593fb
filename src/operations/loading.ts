import { loadCampaign as load } from '../campaign/load.ts';
import type { Campaign } from '../model.ts';
import { type ProjectOptions, present, settle } from './options.ts';

/** How a campaign is read. */
export interface LoadOptions extends ProjectOptions {
  /** A list to take instead of the campaign's, relative to `cwd`; it may lie outside of the project. Default: its own. */
  readonly recipients?: string;
}

/**
 * Reads a campaign with its project, templates and content, and checks everything but the rows of its list.
 *
 * @param target - a campaign file, its folder, or its name
 * @throws HandbillError exit 2 with everything that is wrong, each with file, line and column
 */
export async function loadCampaign(target: string, options: LoadOptions = {}): Promise<Campaign> {
  const { cwd, now, ledger } = settle(options);
  const { recipients } = options;
  return (await load(target, { cwd, now: now(), ...present({ recipients, ledger }) })).campaign;
}
