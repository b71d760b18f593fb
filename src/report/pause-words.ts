import type { Pause, ReportedPause } from '../model.ts';
import { nextCommand } from '../util/next-command.ts';
import { iso } from '../util/time.ts';
import { type Formats, PLAIN } from './locale.ts';

type Scope = Pick<Pause, 'environment' | 'campaign'>;

/** One sentence that another may follow, whatever punctuation the reason has. */
export function pauseText(pause: Pause | ReportedPause, { instant }: Formats = PLAIN): string {
  const { who, reason, since } = 'since' in pause ? pause : reportedPause(pause);
  return `${pausedScope(pause)} has been paused since ${instant(since)} by ${who}: ${reason}${/[.!?]$/.test(reason) ? '' : '.'}`;
}

export function reportedPause({ environment, campaign, reason, who, pausedAtMs }: Pause): ReportedPause {
  return { environment, campaign, reason, who, since: iso(pausedAtMs) };
}

/** `production`, or `spring-sale in production`. */
export function pausedScope({ environment, campaign }: Scope): string {
  return campaign === null ? environment : `${campaign} in ${environment}`;
}

export function resumeHint(scope: Scope): string {
  return `End the pause with \`${resumeCommand(scope)}\`, then send again.`;
}

export function resumeCommand({ environment, campaign }: Scope): string {
  return nextCommand('resume', '--env', environment, ...(campaign === null ? [] : ['--campaign', campaign]));
}
