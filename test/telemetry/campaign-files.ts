import type { ProjectFiles } from '../helpers/project.ts';

/** The key of production: it must not be found in anything that is written. */
export const KEY = 'SEKRET-0123456789abcdef';
/** The text of every message, by which it is recognised. */
export const TEXT = 'a most private text';

const CAMPAIGN = 'channel: sms\nfrom: Riverside\ntemplate: { text: "{{first}}, a most private text" }\n';

/** A campaign to two people, one of them twice; and the API of production at this address. */
export function filesWith(url = 'http://127.0.0.1:9/'): ProjectFiles {
  const origin = new URL(url).origin;
  return {
    'handbill.yaml': `environments:
  production:
    baseUrl: "${origin}"
    apiKey: { env: HANDBILL_API_KEY }
    webhook: { secrets: [{ env: HANDBILL_WEBHOOK_SECRET }] }
`,
    'campaigns/hello/campaign.yaml': `name: hello\n${CAMPAIGN}recipients: people.csv\nsend: { attempts: 2 }\n`,
    'campaigns/hello/people.csv': 'msisdn,first\n+447700900001,Ann\n+447700900002,Bo\n+447700900001,Ann\n',
    'campaigns/bad/campaign.yaml': `name: bad\n${CAMPAIGN}recipients: people.csv\n`,
    'campaigns/bad/people.csv': 'msisdn,first\n+44770090000177777777,Ann\n',
  };
}

/** Every number of the lists, as it must not be found. */
export const NUMBERS = /7700900001|7700900002|00177777777/;
