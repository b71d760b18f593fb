import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';

/** What the text of row `n` is made of. The bare loop makes the same texts from it. */
export interface BenchRow {
  readonly msisdn: string;
  readonly name: string;
  readonly order: string;
  readonly branch: string;
}

const TEMPLATE =
  'Hello {{default name "there"}}, your order {{order}} is ready.{{#if branch}} Collect it in {{branch}}.{{/if}} Riverside';
const NAMES = ['Ann', 'Ravi', 'Siobhan', '', 'Zoe', 'Priya', 'Jordan'];
const BRANCHES = ['Bath', '', 'Bristol'];

/** Ordinary British mobile numbers: no scripted answer of the sandbox belongs to them, and every one occurs once. */
export function rowOf(n: number): BenchRow {
  return {
    msisdn: `+44${7_400_000_000 + n}`,
    name: NAMES[n % NAMES.length] ?? '',
    order: `R-${100_000 + n}`,
    branch: BRANCHES[n % BRANCHES.length] ?? '',
  };
}

/** The text that the template of `writeCampaign` gives for a row. */
export function textOf({ name, order, branch }: BenchRow): string {
  const where = branch === '' ? '' : ` Collect it in ${branch}.`;
  return `Hello ${name === '' ? 'there' : name}, your order ${order} is ready.${where} Riverside`;
}

/** Writes the project file: one environment, on this machine; `more` are lines of it. */
export async function writeProject(folder: string, baseUrl: string, more = ''): Promise<void> {
  const environment = `  local:\n    baseUrl: ${baseUrl}\n    apiKey: { env: HANDBILL_API_KEY }\n${more}`;
  await writeFile(join(folder, 'handbill.yaml'), `environments:\n${environment}`);
}

/**
 * Writes a campaign and its list of so many rows into a new folder, and returns its name.
 *
 * @param text - one text for all recipients; default: each gets their own
 */
export async function writeCampaign(
  folder: string,
  rows: number,
  send = 'concurrency: 64',
  text: string | null = null,
): Promise<string> {
  const name = `bench-${rows}${text === null ? '' : '-same'}`;
  const own = join(folder, name);
  await mkdir(own);
  await writeFile(
    join(own, 'campaign.yaml'),
    `name: ${name}
channel: sms
from: Riverside
template: ${text === null ? 'text.hbs' : JSON.stringify({ text })}
recipients: people.csv
send: { ${send} }
limits: { maxRecipients: ${rows} }
`,
  );
  await writeFile(join(own, 'text.hbs'), TEMPLATE);
  await writeList(join(own, 'people.csv'), rows);
  return name;
}

async function writeList(path: string, rows: number): Promise<void> {
  const file = createWriteStream(path);
  file.write('msisdn,name,order,branch\n');
  for (let n = 0; n < rows; ) {
    let block = '';
    for (const end = Math.min(rows, n + 5_000); n < end; n += 1) {
      const row = rowOf(n);
      block += `${row.msisdn},${row.name},${row.order},${row.branch}\n`;
    }
    if (!file.write(block)) await once(file, 'drain');
  }
  file.end();
  await finished(file);
}
