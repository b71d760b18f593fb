import type { NewProject } from './new-project.ts';
import { yamlWord } from './yaml-word.ts';

/** `handbill.yaml`: what is needed, and what most will want next, as comments. */
export function projectFile({ country, timeZone }: Pick<NewProject, 'country' | 'timeZone'>): string {
  const zone =
    timeZone === null
      ? '# timeZone: Europe/London # in which schedules and days are read; without it, UTC'
      : `timeZone: ${yamlWord(timeZone)} # in which schedules and days are read`;
  return `# yaml-language-server: $schema=./schemas/project.schema.json
# What all campaigns of this project share. The campaign's own settings override these.

${zone}
defaultCountry: ${yamlWord(country)} # for numbers in replies and lists of opt-outs without a country code

defaults:
  recipients:
    defaultCountry: ${yamlWord(country)} # for numbers in lists that are written without a country code

# Campaigns go to the sandbox on this machine until an environment is named with --env. A real one looks like this. Its
# key is read from the environment, or from a file that only you can read, and is never written here.
#
# environments:
#   production:
#     baseUrl: https://api.example.com
#     apiKey: { env: HANDBILL_API_KEY }
#     rate: 50/s
`;
}
