// `npm start`: sends a sample campaign to the embedded sandbox, a fresh occurrence each time, and says where its report lies.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
/** The project of the examples, with its ledger. */
const project = join(root, 'campaigns');
const reports = join('.handbill', 'reports');
const campaign = join('notification', 'campaign.yaml');
// Colons are not welcome in file names everywhere, and the occurrence may become one.
const occurrence = `start-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;

const sent = handbill(['send', campaign, '--env', 'sandbox', '--occurrence', occurrence, '--format', 'json']);
const summary = readSummary(sent.stdout);
if (summary === undefined) {
  process.stdout.write(sent.stdout);
  process.exit(sent.status === 0 ? 1 : sent.status);
}

const report = handbill(['report', summary.run]);
process.stdout.write(report.stdout);

mkdirSync(join(project, reports), { recursive: true, mode: 0o700 });
const page = join(reports, `${summary.run.replaceAll(/[^\w.-]/g, '_')}.html`);
const written = handbill(['report', summary.run, '--format', 'html', '-o', page, '--quiet']);
if (written.status === 0) process.stdout.write(`\nThe report as a page: ${join('campaigns', page)}\n`);

process.exit([sent, report, written].find((step) => step.status !== 0)?.status ?? 0);

/** Runs one command of this checkout; progress and complaints go straight to the terminal. */
function handbill(args: string[]): { status: number; stdout: string } {
  const done = spawnSync(process.execPath, [join(root, 'dist', 'cli.js'), ...args], {
    cwd: project,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 64 * 1024 * 1024,
  });
  if (done.error !== undefined) throw done.error;
  return { status: done.status ?? 1, stdout: done.stdout };
}

/** What `send --format json` says of its run; undefined when it was refused before there was one. */
function readSummary(text: string): { run: string } | undefined {
  try {
    const value = JSON.parse(text) as { run?: unknown };
    return typeof value.run === 'string' ? { run: value.run } : undefined;
  } catch {
    return undefined;
  }
}
