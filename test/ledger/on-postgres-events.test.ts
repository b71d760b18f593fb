import { FULL, onPostgres } from './on-postgres.ts';

onPostgres(FULL ? ['amend', 'amend-steps', 'events', 'evidence', 'later-steps', 'replies', 'topics'] : ['events']);
