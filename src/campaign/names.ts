import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Diagnostic, problem } from '../errors.ts';
import { valueAt } from '../util/json.ts';
import { isInside, readSmallFile } from '../util/paths.ts';
import type { ProjectPlace } from './place.ts';
import { yamlFilesBelow } from './walk.ts';
import { MAX_YAML_BYTES, readYaml } from './yaml.ts';

/** A campaign file and its name, which is its identity in the ledger. */
export interface NamedCampaign {
  readonly name: string;
  readonly file: string;
  /** Where the name is, for the diagnostic. */
  readonly where?: Partial<Diagnostic>;
}

/** An error for every campaign whose name another one has too. */
export function sameNames(campaigns: readonly NamedCampaign[]): readonly Diagnostic[] {
  return campaigns.flatMap((campaign) => {
    const other = campaigns.find((c) => c.name === campaign.name && c.file !== campaign.file);
    if (other === undefined) return [];
    const message = `The name "${campaign.name}" belongs to ${other.file} as well.`;
    const hint = 'Give one of the two another name: the ledger knows campaigns by their names.';
    return [problem('duplicate-campaign-name', message, { at: { file: campaign.file }, ...campaign.where, hint })];
  });
}

/**
 * The campaigns of a project, by real path. In a folder with handbill.yaml that is everything below; without one
 * (the root may be a large repository of something else) it is `campaigns/` and what is around the campaign.
 *
 * @param file - real path of a campaign file; null: only what is in `campaigns/`
 */
export async function campaignNames(project: ProjectPlace, file: string | null): Promise<readonly NamedCampaign[]> {
  const folders = project.file !== null ? [project.root] : [join(project.root, 'campaigns'), ...around(project, file)];
  const files = new Set((await Promise.all(folders.map(yamlFilesBelow))).flat());
  const named: NamedCampaign[] = [];
  for (const path of files) {
    const name = await peekCampaign(path);
    if (name !== null) named.push({ name, file: await realpath(path) });
  }
  return named;
}

function around({ root }: ProjectPlace, file: string | null): readonly string[] {
  if (file === null) return [];
  const folder = dirname(dirname(file));
  return [isInside(root, folder) && folder !== root ? folder : dirname(file)];
}

/** The name in a campaign file, looked for without reading all of it; null where it does not look like a campaign. */
export async function peekCampaign(path: string): Promise<string | null> {
  const read = await readSmallFile(path, MAX_YAML_BYTES);
  if ('fault' in read) return null;
  const text = Buffer.from(read.bytes).toString('utf8');
  if (/^\s*\{/.test(text)) {
    // Written as JSON: keys are not at the beginning of lines.
    const name = valueAt(readYaml(read.bytes, path).yaml?.value, '/name');
    return typeof name === 'string' && /"(?:template|content|variants)"/.test(text) ? name : null;
  }
  // Other files have a name and content too, but no recipients.
  const isCampaign = TEMPLATE.test(text) || (MESSAGE.test(text) && RECIPIENTS.test(text));
  return isCampaign ? (NAME.exec(text)?.[1] ?? null) : null;
}

const NAME = /^["']?name["']?[ \t]*:[ \t]+["']?([a-z0-9-]{1,64})["']?[ \t]*(?:#.*)?\r?$/m;
const TEMPLATE = /^["']?template["']?[ \t]*:/m;
const MESSAGE = /^["']?(?:content|variants)["']?[ \t]*:/m;
const RECIPIENTS = /^["']?recipients["']?[ \t]*:/m;
