import { expect } from 'vitest';
import { runHere } from '../helpers/here.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

export const KEY = 'SEKRET-5f0e9a1c7b3d';
const NAMES = ['Siobhán', 'Łukasz', 'Priya', 'Zoë', 'Ann Lee', "O'Brien", '', '李雷'];
const TOWNS = ['Bath', 'Bristol', 'Åre'];

/** 600 rows: two variants, an unused address, one that is there twice, and a row that has no name. */
export function list(): string {
  const rows = Array.from({ length: 600 }, (_, i) => {
    const number = i === 7 ? 'not given' : i === 9 ? '07400 100003' : `07400 ${100_000 + i}`;
    return `${number},C-${i},"${NAMES[i % NAMES.length] ?? ''}",${TOWNS[i % TOWNS.length] ?? ''}`;
  });
  return `msisdn,customer,name,town\n${rows.join('\n')}\n`;
}

export const CAMPAIGN = `name: spring
channel: sms
from: Riverside
template: { text: "Hello {{default name \\"there\\"}}, {{town}} is open again: come and see us between nine and five, and bring a friend with you." }
variants:
  - { name: long }
  - { name: short, template: { text: "{{town}} is open. Riverside" } }
recipients: { csv: people.csv, defaultCountry: GB }
`;

export const PREVIEW: readonly string[] = [
  ...['preview', 'spring', '--env', 'live', '--allow', 'invalid-rows', '--at', '2026-11-21T09:00:00Z'],
];

export function createSpring(people: string): TestProject {
  return createProject({
    'handbill.yaml': `environments:\n  live:\n    baseUrl: https://api.example.com\n    apiKey: { env: HANDBILL_API_KEY }\n`,
    'spring/campaign.yaml': CAMPAIGN,
    'spring/people.csv': people,
  });
}

/** Writes the page of the preview. @returns its address */
export async function previewSpring(project: TestProject): Promise<string> {
  const options = { cwd: project.root, env: { HANDBILL_API_KEY: KEY } };
  const page = await runHere([...PREVIEW, '--format', 'html', '-o', 'spring.html'], options);
  expect(page).toMatchObject({ status: 0, stdout: '' });
  return `file://${project.path('spring.html')}`;
}
