import { readdirSync, readlinkSync } from 'node:fs';
import process from 'node:process';
import { HandbillError } from '../../src/index.ts';
import { createProject, type ProjectFiles, type TestProject } from '../helpers/project.ts';

export const NOW = Date.UTC(2026, 10, 23, 9, 5);

/** A list whose numbers play no script. */
export function list(rows: number): string {
  const people = Array.from({ length: rows }, (_, i) => `+4479111${String(i).padStart(5, '0')},P${i}`);
  return `msisdn,name\n${people.join('\n')}\n`;
}

export function campaign(name: string, rows: number, more = ''): ProjectFiles {
  return {
    [`campaigns/${name}/campaign.yaml`]: `name: ${name}\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hello {{name}}" }\nrecipients: people.csv\n${more}`,
    [`campaigns/${name}/people.csv`]: list(rows),
  };
}

export const PROJECT = 'environments:\n  sandbox: { webhook: { secrets: [{ env: HOOK }] } }\n';

export function projectOf(...files: readonly ProjectFiles[]): TestProject {
  return createProject(Object.assign({ 'handbill.yaml': PROJECT }, ...files));
}

/** Options of every function: nothing of the tests' own environment. */
export function at(project: TestProject) {
  return { cwd: project.root, env: { PATH: process.env['PATH'], HOOK: `whsec_${'QUJD'.repeat(8)}` }, now: () => NOW };
}

/** Files below a folder that this process has open. */
export function openIn(root: string): readonly string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return path.startsWith(root) ? [path.slice(root.length + 1)] : [];
    } catch {
      // The descriptor with which this very folder was read.
      return [];
    }
  });
}

export async function refusal(work: Promise<unknown>): Promise<readonly [code: string, exit: number]> {
  const error = await work.then(
    () => new Error('nothing was refused'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof HandbillError)) throw error;
  return [error.code, error.exit];
}
