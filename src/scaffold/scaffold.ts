import { campaignFiles } from './campaign-files.ts';
import { GITHUB_WORKFLOW } from './github-workflow.ts';
import type { NewProject } from './new-project.ts';
import { projectFile } from './project-file.ts';
import { editorFiles, GIT_IGNORE, NPM_SETTINGS, packageFile, readmeFile } from './repository-files.ts';

/** The files of a new project by their path below its root, with `/`, in the order in which people should look at them. */
export function scaffold(project: NewProject): ReadonlyMap<string, string> {
  return new Map([
    ['handbill.yaml', projectFile(project)],
    ...campaignFiles(project),
    ...[...project.schemas].map(([name, text]) => [`schemas/${name}`, text] as const),
    ['README.md', readmeFile(project)],
    ['package.json', packageFile(project)],
    ['.npmrc', NPM_SETTINGS],
    ['.gitignore', GIT_IGNORE],
    ...editorFiles(),
    ['.github/workflows/handbill.yml', GITHUB_WORKFLOW],
  ]);
}
