import { type Diagnostic, problem } from '../errors.ts';
import type { SuppressionFile, UnreachableRule } from '../model.ts';
import { isMapping, pointerTo } from '../util/json.ts';
import { durationMs } from '../util/units.ts';
import { findNamedFile } from './named-file.ts';
import type { ProjectReading } from './project.ts';
import { whereValue } from './validate.ts';
import type { CampaignFile, Mapping } from './written.ts';
import type { YamlFile } from './yaml.ts';

/**
 * Finds the suppression lists, and the rule about addresses that fail. A campaign adds to the lists of the project and
 * replaces none, so that none is dropped by mistake. Its rule takes the place of that of the project.
 * @param campaign null: only those of the project
 */
export function findSuppressions(
  campaign: { readonly written: Partial<CampaignFile>; readonly yaml: YamlFile; readonly folder: string } | null,
  { written: ofProject, yaml, place: { root } }: Pick<ProjectReading, 'written' | 'yaml' | 'place'>,
  cwd: string,
) {
  const files = new Map<string, SuppressionFile>();
  const diagnostics: Diagnostic[] = [];
  let unreachable: UnreachableRule | null = null;
  const find = (
    written: CampaignFile['suppressions'],
    namedBy: SuppressionFile['namedBy'],
    from: string,
    source: YamlFile,
  ): void => {
    const isBoth = typeof written === 'object' && isMapping(written);
    const lists = (isBoth ? written.files : written) ?? [];
    const at = isBoth ? ['suppressions', 'files'] : ['suppressions'];
    if (isBoth && written.unreachable !== undefined) unreachable = ruleOf(written.unreachable, source, diagnostics);
    for (const [i, name] of [lists].flat().entries()) {
      const where = whereValue(source, pointerTo([...at, ...(typeof lists === 'string' ? [] : [i])]));
      const found = findNamedFile(name, { root, folder: from, cwd, where });
      if ('problem' in found) diagnostics.push(found.problem);
      else if (!files.has(found.path)) files.set(found.path, { ...found, namedBy });
    }
  };
  if (yaml !== null) find(ofProject.suppressions, 'project', root, yaml);
  if (campaign !== null) find(campaign.written.suppressions, 'campaign', campaign.folder, campaign.yaml);
  return { files: [...files.values()], unreachable, diagnostics };
}

type Written = NonNullable<Mapping<CampaignFile['suppressions']>['unreachable']>;

/** A year: a ledger hardly has older reports. */
const LONGEST_MS = 366 * 86_400_000;

function ruleOf(written: Written, source: YamlFile, diagnostics: Diagnostic[]): UnreachableRule | null {
  // The schema has reported missing keys.
  if (typeof written === 'string' || written.after === undefined || written.within === undefined) return null;
  const { after, within } = written;
  const withinMs = durationMs(within);
  if (withinMs !== null && withinMs > 0 && withinMs <= LONGEST_MS) {
    return { after, withinMs, place: whereValue(source, '/suppressions/unreachable') };
  }
  const where = whereValue(source, '/suppressions/unreachable/within');
  const hint = 'For example: within: 180d';
  diagnostics.push(
    problem('invalid-value', `"${within}" is not a time above zero and of at most a year.`, { ...where, hint }),
  );
  return null;
}
