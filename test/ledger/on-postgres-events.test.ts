import { FULL, onPostgres } from './on-postgres.ts';

onPostgres(FULL ? ['amend', 'amend-legs', 'events', 'evidence', 'later-legs', 'replies'] : ['events']);
