import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../helpers/cli.ts';
import { createProject } from '../helpers/project.ts';

/** Once the command has begun: objects that live for two collections, which makes V8 grow its young generation. */
const LOAD = `
let kept = [];
let rounds = 0;
const { write } = process.stdout;
process.stdout.write = (...written) => {
  process.stdout.write = write;
  setInterval(load, 10);
  return write.apply(process.stdout, written);
};
function load() {
  for (let i = 0; i < 50_000; i += 1) kept.push({ i, list: [i] });
  if (kept.length > 200_000) kept = [];
  rounds += 1;
  if (rounds < 40) return;
  const young = require('node:v8').getHeapSpaceStatistics().find((one) => one.space_name === 'new_space');
  console.error('young generation: ' + young.space_size);
  process.exit();
}
`;

test('a long command keeps the young generation of V8 at what is enough, whatever memory the machine has', async () => {
  using project = createProject({});
  const load = join(project.root, 'load.cjs');
  writeFileSync(load, LOAD);
  const env = { NODE_OPTIONS: `--max-semi-space-size=64 --require ${load}` };
  const { stderr } = await runCli(['sandbox', '--port', '0'], { cwd: project.root, env });
  const [, bytes] = /young generation: (\d+)/.exec(stderr) ?? [];
  expect(Number(bytes)).toBeGreaterThan(0);
  expect(Number(bytes)).toBeLessThanOrEqual(32 * 2 ** 20);
});
