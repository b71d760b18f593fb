import { edit, type Mutant, mutant } from './mutant.ts';

/** What is printed and written: SECURITY. */
export const SECRETS: readonly Mutant[] = [
  mutant('key-in-an-error', {
    planted: 'the message about a bad key repeats the key',
    file: 'src/http/credentials.ts',
    was: "`, {\n    hint: 'Only printable",
    is: " It is: `.concat(value), {\n    hint: 'Only printable",
    proof: { in: 'http/credentials.test.ts' },
  }),
  mutant('key-kept-from-an-answer', {
    planted: 'what an API says of a refusal is kept as it is, the key in it too',
    file: 'src/http/credentials.ts',
    was: 'filter((key) => key.length >= SHORTEST_KEY)',
    is: 'filter((key) => key.length < SHORTEST_KEY)',
    proof: { in: 'faults/behaviours.test.ts', only: ': 400 that repeats the' },
  }),
  mutant('key-file-for-everybody', {
    planted: 'a key file that others can read is used',
    ...edit('src/util/secret.ts', 'if ((stat.mode & forbidden) === 0)', 'if ((stat.mode & forbidden) !== -1)'),
    proof: { in: 'http/credentials.test.ts' },
  }),
  mutant('formula-in-csv', {
    planted: 'a cell that a spreadsheet would run is exported without its quote',
    ...edit('src/util/csv.ts', 'NEEDS_GUARD.test(value) ?', 'value.length < 0 ?'),
    proof: { in: 'report/hostile.test.ts' },
  }),
  mutant('quote-in-csv', {
    planted: 'a quote in a cell is not doubled, so that it ends the cell',
    ...edit('src/util/csv.ts', `.replaceAll('"', '""')`, ''),
    proof: { in: 'util/csv.test.ts' },
  }),
  mutant('env-file-over-the-process', {
    planted: 'a variable in .env replaces that of the process',
    file: 'src/cli/shared/env-file.ts',
    was: '{ ...Object.fromEntries(secrets), ...env }',
    is: '{ ...env, ...Object.fromEntries(secrets) }',
    proof: { in: 'cli/env-file.test.ts', only: 'counts less' },
  }),
  mutant('env-file-chooses-programs', {
    planted: 'a repository sets the program that asks for passphrases',
    ...edit('src/cli/shared/env-file.ts', '&& !SETTINGS.test(name)', "&& name !== ''"),
    proof: { in: 'cli/env-file.test.ts', only: 'chooses nothing' },
  }),
  mutant('env-file-from-the-repository', {
    planted: 'the key is taken from a .env that git tracks',
    edits: [
      { file: 'src/cli/shared/env-file.ts', was: "if (stdout === '') return [];", is: 'if (status === 0) return [];' },
    ],
    proof: { in: 'cli/env-file.test.ts', only: 'added to the index' },
  }),
  mutant('piped-list-left', {
    planted: 'a list from a pipe is left in the folder for temporary files',
    ...edit('src/cli/shared/piped-list.ts', '    await folder.remove();\n', ''),
    proof: { in: 'cli/piped-list.test.ts', only: 'preview shows' },
  }),
  mutant('person-with-others', {
    planted: 'what is handed out to a person holds the messages of others',
    file: 'src/operations/person.ts',
    was: 'some((name) => listedForm(name) === address)',
    is: "some((name) => listedForm(name) !== '' || name === address)",
    proof: { in: 'cli/person.test.ts', only: 'this address alone' },
  }),
  mutant('person-in-the-last-run', {
    planted: 'of several runs only the last one is shown to the person',
    file: 'src/operations/person.ts',
    was: 'newestFirst(ledger.runs()).flatMap(',
    is: 'newestFirst(ledger.runs()).slice(0, 1).flatMap(',
    proof: { in: 'cli/person.test.ts', only: 'this address alone' },
  }),
];
