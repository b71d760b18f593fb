import { AHEAD } from './ahead.ts';
import { ANSWERS } from './answers.ts';
import { OVERSPENDING } from './budgets.ts';
import { EACH } from './each.ts';
import { ENDINGS } from './endings.ts';
import { CAME_BACK } from './events.ts';
import { INPUTS } from './inputs.ts';
import { KEEPING } from './keeping.ts';
import type { Mutant } from './mutant.ts';
import { PAUSING } from './pausing.ts';
import { REACHING } from './reaching.ts';
import { REHEARSING } from './rehearsing.ts';
import { REQUESTS } from './requests.ts';
import { RULED_ANSWERS } from './ruled.ts';
import { RULES } from './rules.ts';
import { SECRETS } from './secrets.ts';
import { SENDING } from './sending.ts';
import { SEVERAL } from './several.ts';
import { SHARING } from './sharing.ts';
import { STANDING } from './standing.ts';
import { STOPS } from './stops.ts';

/** Every bug that is planted. */
export const MUTANTS: readonly Mutant[] = [
  ...REQUESTS,
  ...ANSWERS,
  ...RULED_ANSWERS,
  ...STANDING,
  ...STOPS,
  ...SENDING,
  ...SEVERAL,
  ...SHARING,
  ...INPUTS,
  ...KEEPING,
  ...PAUSING,
  ...OVERSPENDING,
  ...REACHING,
  ...RULES,
  ...REHEARSING,
  ...AHEAD,
  ...EACH,
  ...ENDINGS,
  ...CAME_BACK,
  ...SECRETS,
];
