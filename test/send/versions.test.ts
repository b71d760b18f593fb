import { describe } from 'vitest';
import { versionsIn } from './versions.ts';

describe('the version of the inputs that a message was made from', () => versionsIn(null));
