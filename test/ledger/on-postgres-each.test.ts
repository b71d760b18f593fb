import { freshDatabase } from '../helpers/postgres.ts';
import { describeEach } from '../send/each-scenes.ts';
import { onPostgres } from './on-postgres.ts';

onPostgres(['each']);

describeEach('in PostgreSQL', freshDatabase);
