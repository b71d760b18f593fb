import { type Diagnostic, warning } from '../errors.ts';
import { countOf } from '../report/words.ts';

/**
 * What somebody has to be told of recipients whose time zone nobody knows: they wait for a window that no start finds
 * open. Nothing where there are none.
 *
 * @param campaign - with its file, where it is known
 */
export function zonelessWarning(
  count: number,
  { name, file }: { readonly name: string; readonly file?: string },
): readonly Diagnostic[] {
  if (count === 0) return [];
  const message = `${countOf(count, 'recipient')} ${count === 1 ? 'is' : 'are'} not sent to: the time zone is not known.`;
  const hint =
    'Name a column with it (`recipients.timeZone`), or a zone for all of them (`send.window.unknown`), and send again ' +
    `with --amend. Who waits: handbill report ${name} --format csv --outcome deferred`;
  return [warning('zone-unknown', message, { ...(file === undefined ? {} : { at: { file } }), hint })];
}
