import type { Channel } from '../model.ts';
import type { NewProject } from './new-project.ts';
import { peopleFile } from './people.ts';
import { yamlWord } from './yaml-word.ts';

/** The first campaign: its YAML, its template and its list. */
export function campaignFiles(project: NewProject): readonly (readonly [path: string, text: string])[] {
  const folder = `campaigns/${project.campaign}`;
  return [
    [`${folder}/campaign.yaml`, campaignFile(project)],
    [`${folder}/template.hbs`, TEMPLATES[project.channel]],
    [`${folder}/people.csv`, peopleFile(project)],
  ];
}

function campaignFile({ campaign, channel, from }: NewProject): string {
  const recipients =
    channel === 'email'
      ? 'recipients: { csv: people.csv, to: email } # one row each'
      : 'recipients: people.csv # one row each';
  return `# yaml-language-server: $schema=../../schemas/campaign.schema.json
name: ${yamlWord(campaign)} # its identity: another name is another campaign, in which no recipient was sent to yet
channel: ${channel}
from: ${yamlWord(from)}
template: template.hbs # {{first_name}} in it is the column first_name of the list
${CONTENT[channel]}${recipients}

# Goes out by itself, once something calls \`handbill due\`: see \`handbill schedule --help\`.
# schedule:
#   cron: 0 9 * * 1-5
`;
}

const TEXT = 'Hello {{first_name}}, your order {{order}} is ready. See you soon!\n';

const TEMPLATES: Readonly<Record<Channel, string>> = {
  sms: TEXT,
  rcs: TEXT,
  'messaging-app': TEXT,
  email: `Hello {{first_name}},

your order {{order}} is ready. We are here until six.

See you soon!
`,
  voice: 'Hello {{first_name}}. Your order {{order}} is ready. See you soon!\n',
};

const BUTTONS = `content:
  buttons:
    - { text: On my way, reply: coming }
    - { text: Tomorrow, reply: tomorrow }
`;

/** What a channel takes beside the text; nothing for one that takes nothing else. */
const CONTENT: Readonly<Record<Channel, string>> = {
  sms: '',
  rcs: `${BUTTONS}fallback: # for recipients who cannot receive RCS
  channel: sms
  template: template.hbs
`,
  'messaging-app': BUTTONS,
  email: `content:
  subject: "{{first_name}}, your order {{order}} is ready"
`,
  voice: `content:
  language: en-GB
  repeat: 2
`,
};
