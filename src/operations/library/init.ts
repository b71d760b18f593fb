import type { Channel } from '../../model.ts';
import { type ProjectOptions, settle } from '../options.ts';

/** What a new project is like. */
export interface InitOptions extends Pick<ProjectOptions, 'cwd'> {
  /** Name of the first campaign: small letters, digits and hyphens. Default: `hello`. */
  readonly campaign?: string;
  /** Its channel. Default: `sms`. */
  readonly channel?: Channel;
  /** Its sender. Default: one that the channel and the country take. */
  readonly from?: string;
  /** ISO 3166-1 alpha-2: of numbers without a country code, and for the time zone. Default: `GB`. */
  readonly country?: string;
  /** Makes what is missing where files exist already; nothing is ever overwritten. Default: false, they refuse it. */
  readonly addMissing?: boolean;
}

/** What was made. */
export interface InitResult {
  /** Absolute path of the project. */
  readonly root: string;
  /** Files that were made, by their path below the root. */
  readonly made: readonly string[];
  /** Files that existed, and were left as they are. */
  readonly kept: readonly string[];
  /** What else to know or do. */
  readonly notes: readonly string[];
  /** The next commands, in order. */
  readonly next: readonly string[];
}

/**
 * `handbill init`: makes a project to start from; it validates, previews and is sent to the sandbox at once.
 *
 * @param folder - relative to `cwd`; made where it does not exist
 * @throws HandbillError exit 2: options that cannot be used, files that exist; then nothing was written
 */
export async function init(folder: string, options: InitOptions = {}): Promise<InitResult> {
  const [{ init: make }, { DEFAULT_ANSWERS, defaultSender, normalCountry }] = await Promise.all([
    import('../init.ts'),
    import('../init.ts'),
  ]);
  const { campaign = DEFAULT_ANSWERS.campaign, channel = DEFAULT_ANSWERS.channel, addMissing = false } = options;
  const country = normalCountry(options.country ?? DEFAULT_ANSWERS.country);
  const from = options.from ?? defaultSender(channel, country);
  return await make({ cwd: settle(options).cwd, folder, campaign, channel, from, country, addMissing });
}
