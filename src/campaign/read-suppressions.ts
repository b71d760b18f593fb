import { type Diagnostic, problem } from '../errors.ts';
import type { SuppressionFile, UnreachableRule } from '../model.ts';
import { isMapping, pointerTo } from '../util/json.ts';
import { checked, checkTime, YEAR_MS } from './check-values.ts';
import { findNamedFile } from './named-file.ts';
import type { ProjectReading } from './project.ts';
import type { CampaignFile, Mapping } from './written.ts';
import { whereValue, type YamlFile } from './yaml.ts';

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

function ruleOf(
  written: NonNullable<Mapping<CampaignFile['suppressions']>['unreachable']>,
  source: YamlFile,
  diagnostics: Diagnostic[],
): UnreachableRule | null {
  // The schema has reported missing keys.
  if (typeof written === 'string' || written.after === undefined || written.within === undefined) return null;
  const at = '/suppressions/unreachable';
  const withinMs = checked(written.within, `${at}/within`, checkTime(1000, YEAR_MS), (pointer, code, message, hint) =>
    diagnostics.push(problem(code, message, { ...whereValue(source, pointer), hint })),
  );
  return withinMs === null ? null : { after: written.after, withinMs, place: whereValue(source, at) };
}
