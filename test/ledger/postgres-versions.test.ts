import { describe } from 'vitest';
import { freshDatabase } from '../helpers/postgres.ts';
import { versionsIn } from '../send/versions.ts';

describe('the version of the inputs that a message was made from, on PostgreSQL', () => versionsIn(freshDatabase));
