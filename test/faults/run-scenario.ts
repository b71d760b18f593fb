import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { EXIT } from '../../src/errors.ts';
import type { Report } from '../../src/model.ts';
import { send } from '../../src/operations/send.ts';
import { type CliResult, until } from '../helpers/cli.ts';
import { commandRunner, runHere } from '../helpers/here.ts';
import type { Ending as RowEnding } from '../oracle/oracle.ts';
import { readReceipts } from '../oracle/receipts.ts';
import { CANARY_KEY, createScene, numberOf, type Scene } from '../oracle/scene.ts';
import type { Behaviour, Ending } from './behaviours/behaviour.ts';
import type { FaultServer, PlayedPort } from './fault-server.ts';
import { type Place, ROWS, requestsBefore, rowOf, type Scenario } from './places.ts';

/** What the command line says to itself by starting once more; said at once it is 70 ms faster. */
const NODE_OPTIONS = '--max-semi-space-size=16';
export const AUTHORITIES = join(import.meta.dirname, '..', 'fixtures', 'faults', 'authorities.pem');
/** As long as a text may be; a large request has many of them. */
const LARGE = 'x'.repeat(38_000);

/**
 * Sends a list to a server that misbehaves towards one recipient, with the real command line (in a process of its own,
 * unless the scenario says otherwise), and then again to the same server in good order; after each start the promise
 * must hold.
 */
export async function runScenario(server: FaultServer, { behaviour, place, sample, here }: Scenario): Promise<void> {
  using folder = temporaryFolder();
  const receipts = folder.path('receipts.jsonl');
  const row = rowOf(place);
  await using played = await server.listen({
    behaviour: behaviour.name,
    target: numberOf(row),
    connection: place.connection,
    after: requestsBefore(place),
    receipts,
  });
  using scene = sceneOf(behaviour, place, played.port, receipts);

  const args = ['--format', 'json', '--concurrency', String(place.concurrency)];
  const first = await (here ? sendHere(scene, args) : scene.send(args));
  const report = expectInOrder(scene, first);
  const endings = scene.endings();
  const tale = { exit: first.status, halt: report.halt, hit: notAccepted(endings), stderr: first.stderr };
  const { retryStatuses = [] } = behaviour;
  // It has answered before it has read everything, and may do so after the run.
  if (behaviour.plays.includes('read on')) {
    await until('every request is read', () => readReceipts(receipts).length >= ROWS);
  }
  expect(scene.violations({ retryStatuses, starts: [0] }), JSON.stringify(tale)).toEqual([]);
  await expectPlayed(played, behaviour, place);
  expectEnding(endings, report, behaviour, place);
  expectNoKey(scene, first);
  if (behaviour.hostile === true && sample) await expectCleanReports(scene);

  await played.calm();
  const received = readReceipts(receipts).length;
  const second = await sendAgain(scene, behaviour, place);
  expect(scene.violations({ retryStatuses, starts: [0, received] })).toEqual([]);
  const open = expectContinued(endings, scene.endings(), second);
  expect(readReceipts(receipts).length - received).toBe(open);
  expectNoKey(scene, first, JSON.stringify(second.report));
}

function sceneOf(behaviour: Behaviour, place: Place, port: number, receipts: string): Scene {
  const { at, rate, copies = 60 } = behaviour;
  const large = at === 'half';
  const names = Array.from({ length: copies }, (_, i) => `m${i}: "{{name}}"`);
  const scene = createScene({
    rows: ROWS,
    baseUrl: behaviour.secure === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`,
    receipts,
    // Where only the time limit ends a request, it is short; elsewhere a busy machine must not make it end.
    campaign: [
      `send: { timeout: ${behaviour.silent === true ? '1s' : '20s'}${rate === undefined ? '' : `, rate: ${rate}/s`} }`,
      ...(large ? [`recipientMetaData: { ${names.join(', ')} }`, 'limits: { maxParts: 255 }'] : []),
    ].join('\n'),
    environment: behaviour.environment ?? '',
    env: {
      HANDBILL_DEBUG: '1',
      NODE_OPTIONS,
      ...(behaviour.secure === undefined ? {} : { NODE_EXTRA_CA_CERTS: AUTHORITIES }),
    },
  });
  if (large) {
    const hit = rowOf(place);
    const list = Array.from({ length: ROWS }, (_, row) => `${numberOf(row)},${row === hit ? LARGE : 'Ada'}\n`);
    scene.write('people.csv', `msisdn,name\n${list.join('')}`);
  }
  return scene;
}

async function sendHere(scene: Scene, args: readonly string[]): Promise<CliResult> {
  const env = { HANDBILL_API_KEY: CANARY_KEY, HANDBILL_DEBUG: '1' };
  return await runHere(['send', 'campaign.yaml', '--env', 'test', '--yes', ...args], { cwd: scene.root, env });
}

/** A documented exit status that fits the report, and no trace of a bug. */
function expectInOrder(scene: Scene, result: CliResult): Report {
  const said = result.stdout + result.stderr;
  expect(result.signal, said).toBeNull();
  expect(said).not.toMatch(STACK_TRACE);
  expect(result.stderr).toMatch(PRINTABLE);
  expect([EXIT.done, EXIT.unsent, EXIT.inDoubt, EXIT.halted], said).toContain(result.status);
  const report = JSON.parse(result.stdout) as Report;
  expect(result.status).toBe(documentedExit(report));
  const { recipients, ...totals } = report.totals;
  expect(Object.values(totals).reduce((sum, count) => sum + count, 0)).toBe(recipients);
  expect(recipients).toBe(ROWS);
  expect(scene.endings()).toHaveLength(ROWS);
  return report;
}

/** The exit status that the contract promises for a report, in its order. */
function documentedExit({ state, totals, reasons }: Report): number {
  if (state === 'halted') return 5;
  if (totals.inDoubt > 0) return 4;
  const limited = reasons['pending']?.['rate-limited'] ?? 0;
  return totals.rejected + totals.failed + limited > 0 ? 3 : 0;
}

/** The behaviour was really played, on the kind of connection that was asked for. */
async function expectPlayed(played: PlayedPort, behaviour: Behaviour, place: Place): Promise<void> {
  const counts = await played.counts();
  expect(counts.elsewhere).toBe(0);
  if (behaviour.at === 'connection') expect(counts.badConnections).toBeGreaterThan(0);
  else expect(counts.hits[place.connection]).toBeGreaterThan(0);
}

function expectEnding(endings: readonly RowEnding[], report: Report, behaviour: Behaviour, place: Place): void {
  const halt = report.halt?.rule ?? null;
  const bad = notAccepted(endings);
  const target = behaviour.at === 'connection' ? bad[0] : endings.find(({ line }) => line === rowOf(place) + 2);
  const others = bad.filter(({ line }) => line !== target?.line);
  const tale = JSON.stringify({ target, halt, others });
  // The others do not suffer: they are accepted, or wait for the next start where this one halted.
  const times = behaviour.connection?.times ?? 1;
  const suffering = others.filter(({ outcome }) => outcome !== 'pending');
  expect(suffering.length, tale).toBeLessThan(behaviour.at === 'connection' ? times : 1);
  if (halt === null)
    expect(
      others.filter(({ outcome }) => outcome === 'pending'),
      tale,
    ).toEqual([]);

  const seen = target === undefined ? { outcome: 'accepted', reason: null, httpStatus: 202 } : target;
  const possible = endingsAt(behaviour, place).map((ending) => ({
    ...ending,
    halt: ending.halt ?? byDoubts(ending, place),
  }));
  const is = { outcome: seen.outcome, reason: seen.reason, httpStatus: seen.httpStatus, halt };
  expect(possible, tale).toContainEqual(is);
}

function endingsAt(behaviour: Behaviour, place: Place): readonly Ending[] {
  const { expected, asFirstAnswer } = behaviour;
  // On a used connection another answer came before.
  const first = place.position === 'first' && place.connection === 'fresh';
  const known = first && asFirstAnswer !== undefined ? asFirstAnswer : expected;
  if (behaviour.at !== 'connection' || place.concurrency === 1) return known;
  // Beside open connections, one that cannot be opened is no failure.
  return [...known, { outcome: 'accepted', reason: null, httpStatus: 202, halt: null }];
}

/** So many doubts as requests in flight, but no fewer, halt a short list (FAILURES rule 10). */
function byDoubts({ outcome }: Ending, { concurrency }: Place): Ending['halt'] {
  return outcome === 'in-doubt' && concurrency === 1 ? 'doubt' : null;
}

/** By the library, for speed: the command line does nothing else. But only a process of its own takes authorities. */
async function sendAgain(scene: Scene, behaviour: Behaviour, { concurrency }: Place): Promise<Again> {
  if (behaviour.secure !== undefined) {
    const result = await scene.send(['--format', 'json', '--concurrency', String(concurrency)]);
    return { report: JSON.parse(result.stdout) as Report, exit: result.status };
  }
  return await send('campaign.yaml', {
    cwd: scene.root,
    env: { HANDBILL_API_KEY: CANARY_KEY },
    // Those that the API was too busy for wait a quarter of an hour.
    now: () => Date.now() + 20 * 60_000,
    environment: 'test',
    concurrency,
    confirm: async () => true,
  });
}

interface Again {
  readonly report: Report;
  readonly exit: number | null;
}

/** Running again sends to those without a message, and leaves the others as they are; how many they were. */
function expectContinued(before: readonly RowEnding[], after: readonly RowEnding[], second: Again): number {
  const open = new Set(before.filter(({ outcome }) => outcome === 'pending' || outcome === 'failed').map(lineOf));
  expect(after.filter(({ line }) => !open.has(line))).toEqual(before.filter(({ line }) => !open.has(line)));
  const again = after.filter(({ line }) => open.has(line));
  expect(again.filter(({ outcome, httpStatus }) => outcome !== 'accepted' || httpStatus !== 202)).toEqual([]);
  expect(second.report.state).toBe(open.size === 0 ? second.report.state : 'finished');
  expect(second.exit).toBe(documentedExit(second.report));
  return open.size;
}

/** SECURITY S7: the key is nowhere, in no form. */
export function expectNoKey(scene: Scene, printed: CliResult, ...more: readonly string[]): void {
  const all: readonly (readonly [string, string | Buffer])[] = [
    ['stdout', printed.stdout],
    ['stderr', printed.stderr],
    ...more.map((text) => ['a report', text] as const),
    ...scene.contents(),
  ];
  const found = all.filter(([, content]) => KEY_FORMS.some((form) => content.includes(form)));
  expect(found.map(([where]) => where)).toEqual([]);
  expect(all.some(([where]) => where.endsWith('ledger.db'))).toBe(true);
}

/** What an answer says reaches every report, but no key, no control character of a terminal and no script of a page. */
async function expectCleanReports(scene: Scene): Promise<void> {
  const run = commandRunner();
  const report = async (format: string): Promise<CliResult> =>
    await run(['report', '--format', format], { cwd: scene.root, env: { HANDBILL_API_KEY: CANARY_KEY } });
  const text = await report('text');
  expect(text.stdout).toMatch(PRINTABLE);
  for (const format of ['jsonl', 'csv', 'html']) {
    const { status, stdout, stderr } = await report(format);
    expect(stderr).toMatch(PRINTABLE);
    if (status === EXIT.refused) continue;
    expectNoKey(scene, { status, signal: null, stdout, stderr });
    if (format === 'jsonl') expect(stdout.split('\n')).toHaveLength(ROWS + 1);
    if (format === 'html') expect(stdout).not.toContain('<script>');
  }
}

function notAccepted(endings: readonly RowEnding[]): RowEnding[] {
  return endings.filter(({ outcome, httpStatus }) => outcome !== 'accepted' || httpStatus !== 202);
}

function lineOf({ line }: RowEnding): number {
  return line;
}

const KEY_FORMS = [CANARY_KEY, encodeURIComponent(CANARY_KEY), Buffer.from(CANARY_KEY).toString('base64')];
const STACK_TRACE = /^\s+at .*:\d+:\d+\)?$/m;
/** S21: nothing that a terminal could take for an order. */
const PRINTABLE = /^[\t\n\x20-\x7e\u00a0-\u200d\u2010-\u2027\u202f-\u2065\u206a-\uffff]*$/;

interface TemporaryFolder extends Disposable {
  path(name: string): string;
}

export function temporaryFolder(): TemporaryFolder {
  const root = mkdtempSync(join(tmpdir(), 'handbill-faults-'));
  return {
    path: (name) => join(root, name),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}
