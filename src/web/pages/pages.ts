import { EXIT, HandbillError } from '../../errors.ts';
import { besideRescued } from '../../ledger/place.ts';
import { html, safe } from '../../util/escape.ts';
import type { OpenLedger } from '../ledger.ts';
import { type Asked, type Made, type MakePage, notFound, type Site, whole } from '../site.ts';
import { makeAhead } from './ahead.ts';
import { makeCampaign } from './campaign.ts';
import { makeCampaigns } from './campaigns.ts';
import { doubtCounts, makeDoubt } from './doubt.ts';
import { type Content, messagePage, type View } from './layout.ts';
import { makeNow } from './now.ts';
import { pauseButtons, pausesBanner } from './pauses.ts';
import { makePeople, makePerson } from './people.ts';
import { makeRecipient } from './recipient.ts';
import { makeRecipients } from './recipients.ts';
import { makeReplies, toReview } from './replies.ts';
import { makeRun } from './run.ts';
import { makeSuppressions } from './suppressions.ts';

/**
 * An unreadable page shows why: throws only bugs.
 * @param path as requested, each step still encoded
 */
export async function makePage(site: Site, path: string, asked: Asked): Promise<Made> {
  const steps = stepsOf(path);
  if (steps === null) return whole(messagePage(400, 'Not an address', ['The address cannot be read.']));
  try {
    const [names, make] = PAGES.find(([all]) => isAt(all, steps)) ?? [
      [],
      async () => notFound('There is no such page.'),
    ];
    const made = await make(site, site.keeper.current(), asked, ...steps.filter((_, i) => /[:#]/.test(names[i] ?? '')));
    return await withPauses(site, steps, asked.view, made);
  } catch (error) {
    site.keeper.failed(error);
    if (!(error instanceof HandbillError)) throw error;
    return troublePage(error);
  }
}

/** `:` is any step, and `#` the number of a row: the page gets them. */
const PAGES: readonly (readonly [steps: readonly string[], make: MakePage])[] = [
  [[], makeNow],
  [['ahead'], makeAhead],
  [['campaigns'], makeCampaigns],
  [['campaigns', ':'], makeCampaign],
  [['doubt'], makeDoubt],
  [['people'], makePeople],
  [['people', ':', '#'], makePerson],
  [['replies'], makeReplies],
  [['runs', ':'], makeRun],
  [['runs', ':', 'recipients'], makeRecipients],
  [['runs', ':', 'recipients', '#'], makeRecipient],
  [['suppressions'], makeSuppressions],
];

function isAt(names: readonly string[], steps: readonly string[]): boolean {
  const isStep = (name: string, step = '') => name === ':' || (name === '#' ? /^\d{1,15}$/.test(step) : name === step);
  return names.length === steps.length && names.every((name, i) => isStep(name, steps[i]));
}

/**
 * Adds warnings of an outdated ledger and of pauses to every page, counts to its menu, and buttons for pauses to the pages of runs. A page
 * has the same parts with a ledger and without, so that it need not reload when the first run begins.
 */
export async function withPauses(site: Site, steps: readonly string[], view: View, made: Made): Promise<Made> {
  const { content } = made;
  const open = site.keeper.current();
  const isLive = content.parts.some((part) => part.isLive);
  const pauses = open?.ledger.pauses() ?? [];
  const rescued = besideRescued(site.reading.project.ledger);
  const offered = await scopesOf(site, open, steps);
  const banner = {
    id: 'pauses',
    content: html`${rescued && html`<div class="notice bad" role="alert"><p><b>${rescued.message}</b></p>\n<p>${rescued.hint}</p></div>\n`}${pausesBanner(view, pauses, steps.length === 0 ? [] : offered)}`,
    isLive,
  };
  const scopes = offered.filter(
    (scope) => !pauses.some((one) => one.environment === scope.environment && one.campaign === scope.campaign),
  );
  const buttons = offered.length === 0 ? [] : [{ id: 'pausing', content: pauseButtons(view, scopes), isLive }];
  const { total, isOld } = await doubtCounts(site, open);
  const replies = toReview(open, view.formats);
  const unclear = html`${total > 0 && view.formats.number(total)}`;
  const unread = html`${replies}${replies !== '' && html`<span class="hidden"> to review</span>`}`;
  const menu = [
    { id: 'doubt-count', menu: '/doubt', isLive, content: unclear },
    { id: 'reply-count', menu: '/replies', isLive, content: unread },
  ];
  const parts = [banner, ...content.parts.slice(0, 1), ...buttons, ...content.parts.slice(1), ...menu];
  return { ...made, content: { ...content, parts }, isOld: made.isOld || isOld };
}

/** A page that the ledger has no part in, with the pauses above it. */
export function withBanner({ keeper }: Site, view: View, content: Content): Content {
  if (content.parts.some(({ id }) => id === 'pauses')) return content;
  try {
    const banner = pausesBanner(view, keeper.current()?.ledger.pauses() ?? [], []);
    return { ...content, parts: [{ id: 'pauses', content: banner, isLive: false }, ...content.parts] };
  } catch (error) {
    keeper.failed(error);
    return content;
  }
}

/** Scopes that a page can pause: the environments of the project, or those of a run that can go on, or be followed by another. */
async function scopesOf(site: Site, open: OpenLedger | null, [first, id, more]: readonly string[]) {
  if (first === undefined) {
    return [...site.reading.project.environments.keys()].map((environment) => ({ environment, campaign: null }));
  }
  const run = first === 'runs' && id !== undefined && more === undefined ? open?.ledger.runById(id)[0] : undefined;
  if (run === undefined) return [];
  const { environment, name: campaign } = run;
  const isOver = run.state === 'finished' || run.closedAtMs !== null || run.purgedAtMs !== null;
  if (isOver && (await site.coming()).campaigns.every((one) => one.campaign !== campaign)) return [];
  return [
    { environment, campaign },
    { environment, campaign: null },
  ];
}

/** The first faults, each with its hint. */
export function sentencesOf({ diagnostics }: HandbillError): readonly string[] {
  return diagnostics.slice(0, 5).flatMap(({ message, hint }) => [message, hint ?? []].flat());
}

export function troublePage(error: HandbillError): Made {
  const title = error.exit === EXIT.ledger ? 'The ledger cannot be read' : 'Something is wrong in the project';
  const { parts, ...content } = messagePage(503, title, sentencesOf(error).map(safe));
  return { content: { ...content, parts: parts.map((part) => ({ ...part, isLive: true })) }, isOld: true };
}

/** `/runs/a%2Fb` as `runs`, `a/b`; null if it is not valid UTF-8. */
function stepsOf(path: string): readonly string[] | null {
  try {
    return path
      .split('/')
      .slice(1)
      .map(decodeURIComponent)
      .filter((step, i, all) => step !== '' || i < all.length - 1);
  } catch {
    return null;
  }
}
