import { FULL, onPostgres } from './on-postgres.ts';

onPostgres(
  FULL
    ? 'erase lock model purge reach reach-model reading suppressed-hashes suppressions unreachable'.split(' ')
    : ['model', 'reading', 'reach', 'suppressed-hashes', 'suppressions', 'unreachable'],
);
