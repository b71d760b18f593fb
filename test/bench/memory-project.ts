import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';

/** Every so many rows an earlier recipient comes again. */
const AGAIN = 100;

interface Contacts {
  readonly campaign: string;
  readonly header: string;
  readonly rowOf: (n: number) => string;
}

const CONTACTS: Readonly<Record<'emails' | 'keys', Contacts>> = {
  emails: {
    campaign: `channel: email
from: news@example.com
content: { subject: Your order, text: 'Hello {{name}}, your order is ready.' }
recipients: { csv: people.csv, to: email }
`,
    header: 'email,name',
    rowOf: (n) => `somebody.of.${n.toString(36)}@mail${n % 97}.example.com,Ann`,
  },
  keys: {
    campaign: `channel: sms
from: Riverside
template: { text: 'Hello {{name}}, your order is ready.' }
recipients: { csv: people.csv, key: id }
`,
    header: 'id,msisdn,name',
    rowOf: (n) => `customer-${n.toString(16).padStart(8, '0')}-uk,+44${7_400_000_000 + n},Ann`,
  },
};

/** Writes a campaign to people who are known by something other than a number, and returns its name. */
export async function writeContacts(folder: string, kind: 'emails' | 'keys', rows: number): Promise<string> {
  const { campaign, header, rowOf } = CONTACTS[kind];
  const own = join(folder, kind);
  await mkdir(own);
  await writeFile(join(own, 'campaign.yaml'), `name: ${kind}\n${campaign}limits: { maxRecipients: ${rows} }\n`);
  const file = createWriteStream(join(own, 'people.csv'));
  file.write(`${header}\n`);
  for (let n = 0; n < rows; ) {
    let block = '';
    for (const end = Math.min(rows, n + 5_000); n < end; n += 1) {
      block += `${rowOf(n % AGAIN === AGAIN - 1 ? Math.floor(n / 2) : n)}\n`;
    }
    if (!file.write(block)) await once(file, 'drain');
  }
  file.end();
  await finished(file);
  return kind;
}
