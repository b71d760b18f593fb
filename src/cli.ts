#!/usr/bin/env node
import process from 'node:process';

// Nothing else is imported before this is known, and nothing newer than Node 14 is written here: an older Node must get
// as far as the sentence.
const NEEDED = 24;

if (Number(process.versions.node.split('.')[0]) < NEEDED) {
  process.stderr.write(
    `handbill needs Node.js ${NEEDED} or newer; this is ${process.versions.node} (${process.execPath}).\n` +
      'In a clone, `npm ci` installs the right one, and `npx handbill` runs under it. Else get it from https://nodejs.org/.\n',
  );
  process.exitCode = 2;
} else {
  const { main } = await import('./commands/main.ts');
  await main(process.argv.slice(2));
}
