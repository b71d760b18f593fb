#!/usr/bin/env node
// Nothing else is imported before this is known, and nothing newer than Node 14 is written here: an older Node must get
// as far as starting the right one. `process` is the global one, because the build would import the other from a chunk.
const NEEDED = 24;

if (Number(process.versions.node.split('.')[0]) < NEEDED) {
  const { runUnderOwnNode } = await import('./cli/older-node.ts');
  runUnderOwnNode(NEEDED, process);
} else {
  const { main } = await import('./cli/main.ts');
  await main(process.argv.slice(2));
}

// Without an import or an export it would not be a module, and `await` not be allowed.
export {};
