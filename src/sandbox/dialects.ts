import type { Dialect } from './dialect.ts';
import { DEFAULT_DIALECT } from './dialect-default.ts';
import { PER_RECIPIENT_DIALECT } from './dialect-per-recipient.ts';
import { PROBLEM_DIALECT } from './dialect-problem.ts';
import { TOP_LEVEL_DIALECT } from './dialect-top-level.ts';
import type { DialectName } from './openapi.ts';

export const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  default: DEFAULT_DIALECT,
  'top-level': TOP_LEVEL_DIALECT,
  'per-recipient': PER_RECIPIENT_DIALECT,
  problem: PROBLEM_DIALECT,
};
