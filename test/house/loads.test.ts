import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { createScene } from '../oracle/scene.ts';
import { startApi } from '../processes/api.ts';

/*
 * What a command loads is paid at each start, in time and in memory: the server of the sandbox, that one import asked
 * for, was 70 of the 300 ms of CPU of a send to an API that is elsewhere, and 14 MB.
 */

const PRELOAD = pathToFileURL(join(import.meta.dirname, 'preload', 'loads.ts')).href;
const BUILT = join(import.meta.dirname, '..', '..', 'dist', 'cli.js');

it.each<[command: string, args: readonly string[], packages: readonly string[]]>([
  ['--help', ['--help'], []],
  ['validate', ['validate', 'campaign.yaml'], ['ajv', 'csv-parse', 'handlebars', 'libphonenumber-js']],
  ['preview', ['preview', 'campaign.yaml', '--env', 'test'], ['ajv', 'csv-parse', 'handlebars', 'libphonenumber-js']],
  [
    'send',
    ['send', 'campaign.yaml', '--env', 'test', '--yes'],
    ['ajv', 'csv-parse', 'handlebars', 'libphonenumber-js', 'p-limit', 'undici', 'yocto-queue'],
  ],
])('%s loads no package that it does not need', async (_, args, packages) => {
  await using api = await startApi();
  using scene = createScene({ rows: 3, baseUrl: api.url, receipts: api.receipts });
  const loaded = scene.path('loaded');
  writeFileSync(loaded, '');
  const env = { NODE_OPTIONS: `--import=${PRELOAD}`, LOADED: loaded };
  const result = await scene.run(args, { script: BUILT, env });
  expect(result).toMatchObject({ status: 0, signal: null });
  expect(
    [...new Set(readFileSync(loaded, 'utf8').trim().split('\n'))].filter((name) => name !== '').toSorted(),
  ).toEqual(packages);
});
