const WHY = {
  'in-use': ['another process uses it', 'Run `handbill purge` again when nothing is being sent.'],
  'no-room': ['the disk has not twice its size left', 'Make room, and run `handbill purge` again.'],
} as const;

/** Data that are gone from the ledger may still be in unused places of its file; null: they are not. */
export function notRewritten(rewritten: keyof typeof WHY | 'done' | null): string | null {
  if (rewritten === null || rewritten === 'done') return null;
  const [why, next] = WHY[rewritten];
  return (
    `The data are gone from the ledger, but its file was not written anew, because ${why}: copies may be left in\n` +
    `unused places of the file. ${next}`
  );
}
