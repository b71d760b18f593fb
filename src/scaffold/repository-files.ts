import type { NewProject } from './new-project.ts';

/** The ledger and everything with personal data in it that handbill writes by itself, and keys. */
export const GIT_IGNORE = `# The ledger: who has been sent to. Keep it on this machine, and in a backup.
.handbill/
# Keys
.env
.env.*
node_modules/
# Lists of people. What is committed stays in the history. Choose, and take the comment sign of one line away:
# left out of git (every machine that sends has its own copy)
# campaigns/**/*.csv
# committed on purpose, so that pull requests show who is added
# !campaigns/**/*.csv
`;

/** What must not get into git. */
export const IGNORED: readonly string[] = ['.handbill/', '.env'];

/**
 * The version is exact: all people who work on the campaigns, and CI, check and send with the same handbill, and an
 * older one could not open the ledger that a newer one wrote. The Node.js that handbill needs comes as a package, so that
 * the one of the machine may be older; the install script of that package downloads it, and npm asks for a word on it.
 */
export function packageFile({ dependency, node }: Pick<NewProject, 'dependency' | 'node'>): string {
  const text = {
    private: true,
    scripts: { validate: 'handbill validate', preview: 'handbill preview', send: 'handbill send' },
    dependencies: { handbill: dependency },
    devDependencies: { node },
    allowScripts: { node: true },
  };
  return `${JSON.stringify(text, null, 2)}\n`;
}

/** npm warns of an older Node.js on the machine, once for each package. handbill runs under the one of the project. */
export const NPM_SETTINGS = `# No warnings that the Node.js of this machine is too old: package.json brings the one that is used.
loglevel=error
`;

/** Completion, hover texts and errors while one types, from the schemas in the project: no network is needed. */
export function editorFiles(): readonly (readonly [path: string, text: string])[] {
  const settings = {
    'yaml.schemas': {
      './schemas/project.schema.json': 'handbill.yaml',
      './schemas/campaign.schema.json': 'campaigns/**/campaign.yaml',
    },
    // Else completion writes every default below a key such as `send`.
    'yaml.disableDefaultProperties': true,
    'files.associations': { '*.hbs': 'handlebars' },
  };
  const extensions = { recommendations: ['redhat.vscode-yaml'] };
  return [
    ['.vscode/settings.json', `${JSON.stringify(settings, null, 2)}\n`],
    ['.vscode/extensions.json', `${JSON.stringify(extensions, null, 2)}\n`],
  ];
}

/** For readers of the repository who do not know handbill. */
export function readmeFile({ campaign, dependency }: Pick<NewProject, 'campaign' | 'dependency'>): string {
  const elsewhere = dependency.startsWith('file:')
    ? `
\`package.json\` names the handbill on the disk that made these files. Other machines, and CI, need one that they can
install: a version, or the file that \`npm pack\` makes of handbill.
`
    : '';
  return `# Campaigns

Messages that are sent with handbill: each campaign is a folder below \`campaigns/\`, with a YAML file, a template and a
list of recipients.

\`\`\`sh
npm install                      # once; commit package-lock.json, which CI installs from
npx handbill validate            # every error at once, with file, line and column
npx handbill preview ${campaign}${gap(campaign, 'preview')}# every decision and text; sends nothing
npx handbill send ${campaign}${gap(campaign, 'send')}# to the sandbox on this machine
npx handbill report ${campaign}${gap(campaign, 'report')}# the outcome of every recipient
\`\`\`
${elsewhere}
| file | what it is |
|---|---|
| \`handbill.yaml\` | what all campaigns share, and the APIs that they can be sent to |
| \`campaigns/${campaign}/\` | the first campaign |
| \`schemas/\` | completion and errors in your editor; take those of a newer handbill when you update it |
| \`.github/workflows/handbill.yml\` | checks every change, and says in a comment what it means for recipients |
| \`.handbill/\` | the ledger: who has been sent to. It is not in git. Keep it, and back it up |

To send to a real API, name it under \`environments\` in \`handbill.yaml\`, set its key, and look at everything with
\`npx handbill doctor\`. Lists that must not lie in git are passed with \`--recipients FILE\`.
`;
}

/** Comments below each other. */
function gap(campaign: string, command: string): string {
  return ' '.repeat(Math.max(1, COMMENT_COLUMN - `npx handbill ${command} ${campaign}`.length));
}

const COMMENT_COLUMN = 33;
