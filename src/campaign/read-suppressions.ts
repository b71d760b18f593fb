import type { Diagnostic } from '../errors.ts';
import type { SuppressionFile } from '../model.ts';
import { pointerTo } from '../util/json.ts';
import { findNamedFile } from './named-file.ts';
import type { ProjectReading } from './project.ts';
import { whereValue } from './validate.ts';
import type { CampaignFile } from './written.ts';
import type { YamlFile } from './yaml.ts';

/**
 * Finds the suppression lists. A campaign adds to the project's and replaces none, so that none is dropped by mistake.
 * @param campaign null: only those of the project
 */
export async function findSuppressions(
  campaign: { readonly written: Partial<CampaignFile>; readonly yaml: YamlFile } | null,
  project: Pick<ProjectReading, 'written' | 'yaml'>,
  { root, folder, cwd }: { readonly root: string; readonly folder: string; readonly cwd: string },
): Promise<{ readonly files: readonly SuppressionFile[]; readonly diagnostics: readonly Diagnostic[] }> {
  const files = new Map<string, SuppressionFile>();
  const diagnostics: Diagnostic[] = [];
  const find = async (
    written: CampaignFile['suppressions'],
    namedBy: SuppressionFile['namedBy'],
    from: string,
    source: YamlFile,
  ): Promise<void> => {
    for (const [i, name] of [written ?? []].flat().entries()) {
      const where = whereValue(source, pointerTo(['suppressions', ...(typeof written === 'string' ? [] : [i])]));
      const found = await findNamedFile(name, { root, folder: from, cwd, where });
      if ('problem' in found) diagnostics.push(found.problem);
      else if (!files.has(found.path)) files.set(found.path, { ...found, namedBy });
    }
  };
  if (project.yaml !== null) await find(project.written.suppressions, 'project', root, project.yaml);
  if (campaign !== null) await find(campaign.written.suppressions, 'campaign', folder, campaign.yaml);
  return { files: [...files.values()], diagnostics };
}
