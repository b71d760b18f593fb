import { FULL, onPostgres } from './on-postgres.ts';

// What is claimed and recorded on the hot path goes another way than in a file; the rest is for the whole sets.
onPostgres(
  FULL
    ? 'runs counts commits pauses budgets restore-claims changed channel-steps doubts stand-in'.split(' ')
    : ['runs', 'counts', 'commits', 'pauses', 'budgets', 'restore-claims', 'changed', 'stand-in'],
);
