import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { main } from '../../src/cli/main.ts';
import { decode, encode } from './target.ts';

/*
 * Runs one command line after another in this process, through the same `main` as the real one: a start costs 0.35 s,
 * which is ten times what most commands need. One line comes in on stdin and one goes out on the real stdout for
 * each. What escapes from a command (an exception outside of any promise) ends the process, as it would in
 * real life; the parent sees that and starts another.
 */

interface Job {
  readonly cwd: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const write = process.stdout.write.bind(process.stdout);
const base = { ...process.env };

/** What nothing from outside may add to: every object has it at once. */
const PROTOTYPES = { Object, Array, String, Number, Function, Map };
const untouched = new Set(ownNames());

function ownNames(): readonly string[] {
  return Object.entries(PROTOTYPES).flatMap(([name, { prototype }]) =>
    Reflect.ownKeys(prototype).map((key) => `${name}.prototype.${String(key)}`),
  );
}
process.stdout.setMaxListeners(0);
process.stderr.setMaxListeners(0);

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await run(decode<Job>(line));
  write(`${encode(answer)}\n`);
}

async function run({ cwd, args, env }: Job): Promise<object> {
  let stdout = '';
  let stderr = '';
  const restore = [
    replaceWrite(process.stdout, (text) => {
      stdout += text;
    }),
    replaceWrite(process.stderr, (text) => {
      stderr += text;
    }),
  ];
  process.chdir(cwd);
  process.env = { ...base, ...env };
  process.exitCode = undefined;
  const cpu = process.cpuUsage();
  const started = performance.now();
  // Node ends a process for what `main` lets through.
  await main(args).catch((error: unknown) => {
    stderr += error instanceof Error ? String(error.stack) : String(error);
    process.exitCode = 1;
  });
  const wallMs = performance.now() - started;
  const { user, system } = process.cpuUsage(cpu);
  for (const again of restore) again();
  const status = process.exitCode ?? 0;
  process.exitCode = undefined;
  process.chdir('/');
  process.removeAllListeners('uncaughtException');
  for (const stream of [process.stdout, process.stderr]) {
    for (const event of ['error', 'drain', 'close']) stream.removeAllListeners(event);
  }
  const polluted = ownNames().filter((name) => !untouched.has(name));
  return { status, stdout, stderr, wallMs, cpuMs: (user + system) / 1000, polluted };
}

function replaceWrite(stream: NodeJS.WriteStream, take: (text: string) => void): () => void {
  const original = stream.write;
  stream.write = ((chunk: string | Uint8Array) => {
    take(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8'));
    return true;
  }) as typeof stream.write;
  return () => {
    stream.write = original;
  };
}
