import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { handbillHere } from '../cli/in-process.ts';
import { hasColour, onTerminal } from '../cli/on-terminal.ts';
import { CLI, runCli } from '../helpers/cli.ts';
import { createProject, type TestProject } from '../helpers/project.ts';
import { answer, type RawServer, startRawServer } from '../helpers/raw-server.ts';
import { numberOf } from '../oracle/scene.ts';
import { PRINTABLE } from './payloads.ts';

/* SECURITY S21: results for scripts are exact, and a terminal obeys nothing of what strangers wrote into them. */

const CLIPBOARD = '\u001b]52;c;ZXZpbA==\u0007';
const PAYLOAD = `${CLIPBOARD}\u001b[2J\u009b2Jok\rnot ok\u0085\u061c\u202egpj\u2066x\u2069\u2028\u007f`;
const KEY = { HANDBILL_API_KEY: 'SEKRET-5f0e9a1c7b3d' };

let server: RawServer;
let project: TestProject;
beforeAll(async () => {
  server = await startRawServer({
    behaviour: (request) => {
      const first = request.body.includes(numberOf(0));
      answer(first ? 202 : 400, JSON.stringify(first ? { id: 'm1' } : { error: { message: PAYLOAD } }))(request);
    },
  });
  const cell = `"${PAYLOAD.replaceAll('"', '""')}"`;
  project = createProject({
    'handbill.yaml': `environments:\n  test:\n    baseUrl: http://127.0.0.1:${server.port}\n    apiKey: { env: HANDBILL_API_KEY }\n`,
    'campaign.yaml':
      'name: proof\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi {{name}}" }\nrecipients: { csv: people.csv, key: id }\n',
    'people.csv': `msisdn,id,name,note\n${numberOf(0)},a,Ana,${cell}\n${numberOf(1)},${cell},${cell},${cell}\n`,
    'came-back.json': JSON.stringify([{ from: numberOf(0), text: PAYLOAD }]),
  });
  const here = async (...args: readonly string[]) => {
    const { status, err } = await handbillHere(project.root, args, { env: KEY });
    return { status, err };
  };
  expect(await here('send', 'campaign.yaml', '--env', 'test', '--yes')).toMatchObject({ status: 3 });
  expect(await here('listen', '--from', 'came-back.json', '--env', 'test')).toMatchObject({ status: 0 });
  expect(await here('suppress', 'add', '+447400100009', '--reason', PAYLOAD)).toMatchObject({ status: 0 });
}, 60_000);
afterAll(async () => {
  project[Symbol.dispose]();
  await server.close();
});

/** What each holds of the payload as it is, where it goes to a file or a pipe. */
const RESULTS: readonly (readonly [args: readonly string[], exact: string | null])[] = [
  // A key is kept without what cannot be seen.
  [['report', 'proof', '--format', 'csv'], null],
  [['report', 'proof', '--format', 'csv', '--with-columns'], CLIPBOARD],
  [['report', 'proof', '--format', 'jsonl'], null],
  [['report', 'proof', '--format', 'json'], null],
  [['report', 'proof', '--format', 'html'], null],
  [['replies', '--format', 'csv'], CLIPBOARD],
  [['replies', '--format', 'jsonl'], null],
  [['replies', 'export', 'proof'], CLIPBOARD],
  [['suppress', 'list', '--format', 'csv'], CLIPBOARD],
  [['suppress', 'list', '--format', 'json'], null],
  [['suppress', 'export'], CLIPBOARD],
  [['preview', 'campaign.yaml', '--format', 'jsonl'], '\u202e'],
  [['preview', 'campaign.yaml', '--format', 'json'], '\u202e'],
  [['preview', 'campaign.yaml', '--format', 'html'], null],
  ...['json', 'github', 'junit'].map((format) => [['validate', '--format', format], null] as const),
];

describe('results for scripts', () => {
  it.each(RESULTS)('a terminal obeys nothing of it, a pipe gets it exactly: %j (S21)', async (args, exact) => {
    const onScreen = await handbillHere(project.root, args, { env: KEY, outIsTerminal: true });
    const piped = await handbillHere(project.root, args, { env: KEY });
    expect(onScreen.out).not.toBe('');
    expect(onScreen.out.replaceAll('\r\n', '\n')).toMatch(PRINTABLE);
    if (exact !== null) expect(piped.out).toContain(exact);
    if (/json/.test(args.join(' '))) expect(parsed(onScreen.out)).toEqual(parsed(piped.out));
    // Whatever is JSON escapes it everywhere; a body in a preview is what would be posted, to the byte.
    if (/json/.test(args.join(' ')) && args[0] !== 'preview') expect(piped.out).toMatch(PRINTABLE);
  });

  it('on a real terminal, through a real pipe and in a file (S21)', async () => {
    for (const args of [
      ['report', 'proof', '--format', 'csv'],
      ['replies', '--format', 'csv'],
      ['preview', 'campaign.yaml', '--format', 'jsonl'],
    ]) {
      const terminal = await onTerminal(CLI, args, { cwd: project.root, shell: '2>/dev/null' });
      const { status, screen } = await terminal.done;
      // The terminal itself makes CR LF of a newline.
      expect([status, screen.replaceAll('\r\n', '\n')]).toEqual([0, expect.stringMatching(PRINTABLE)]);
      const { stdout } = await runCli(args, { cwd: project.root, env: KEY });
      const { out } = await handbillHere(project.root, args, { env: KEY });
      expect(stdout).toBe(out);
      await handbillHere(project.root, [...args, '-o', 'out.txt'], { env: KEY });
      if (args[0] !== 'replies') expect(readFileSync(project.path('out.txt'), 'utf8')).toBe(stdout);
    }
  }, 60_000);

  it('a text for eyes keeps its colours on a terminal', async () => {
    const terminal = await onTerminal(CLI, ['report', 'proof'], { cwd: project.root, shell: '2>/dev/null' });
    const { screen } = await terminal.done;
    expect(hasColour(screen)).toBe(true);
    // What the API said is among the causes, and cannot be obeyed.
    expect(screen).not.toContain('\\u{1b}[1m');
  }, 60_000);
});

function parsed(text: string): unknown {
  const lines = text.trimEnd().split('\n');
  return text.startsWith('{"line"') ||
    (lines.length > 1 && lines.every((line) => line.startsWith('{') && line.endsWith('}')))
    ? lines.map((line) => JSON.parse(line) as unknown)
    : JSON.parse(text);
}
