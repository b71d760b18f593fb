import type { JsonObject } from '../model.ts';
import { type ButtonLimits, checkButtons } from './buttons.ts';
import { checkCount, type Findings, invalid, nameOf } from './check-values.ts';

const LIMITS: ButtonLimits = { kinds: ['reply', 'url'], label: 20, id: 256, ids: false };

/** The app opens one address from a message, or from a card. */
const MAX_LINKS = 1;

/**
 * One set of buttons: replies, or a link, and never both.
 *
 * @param maxReplies - how many replies this set may have
 */
export function checkAppButtons(found: Findings, at: string, buttons: readonly JsonObject[], maxReplies: number): void {
  const link = buttons.findIndex((button) => button['url'] !== undefined);
  const reply = buttons.findIndex((button) => button['reply'] !== undefined);
  if (link >= 0 && reply >= 0) {
    const hint = 'Write replies only, or a link only.';
    invalid(found, `${at}/${Math.max(link, reply)}`, `${nameOf(at)} mixes replies and links.`, hint);
  } else if (link >= 0) checkCount(found, at, buttons.length, MAX_LINKS, 'link buttons');
  else checkCount(found, at, buttons.length, maxReplies, 'reply buttons');
  checkButtons(found, at, buttons, LIMITS);
}
