import { type Diagnostic, EXIT, HandbillError } from '../../errors.ts';
import { besideRescued } from '../../ledger/place.ts';
import { type Html, html, safe } from '../../util/escape.ts';
import type { OpenLedger } from '../ledger.ts';
import { type Asked, type Made, notFound, type Site, whole } from '../site.ts';
import { makeAhead } from './ahead.ts';
import { makeCampaign } from './campaign.ts';
import { makeCampaigns } from './campaigns.ts';
import { doubtCounts, doubtPage, makeDoubt } from './doubt.ts';
import { type Content, messagePage, type View } from './layout.ts';
import { makeNow } from './now.ts';
import { pauseButtons, pausesBanner } from './pauses.ts';
import { makePeople, makePerson } from './people.ts';
import { makeRecipient, makeRecipients } from './recipients.ts';
import { makeReplies, NO_REPLIES, repliesPage, toReview } from './replies.ts';
import { makeRun } from './run.ts';
import { makeSuppressions, suppressionsPage } from './suppressions.ts';

/**
 * An unreadable page shows why: throws only bugs.
 * @param path as requested, each step still encoded
 */
export async function makePage(site: Site, path: string, asked: Asked): Promise<Made> {
  const steps = stepsOf(path);
  if (steps === null) return whole(messagePage(400, 'Not an address', ['The address cannot be read.']));
  try {
    const open = site.keeper.current();
    const made = await madeAt(site, open, steps, asked);
    return await withPauses(site, open, steps, asked.view, made);
  } catch (error) {
    site.keeper.failed(error);
    if (!(error instanceof HandbillError)) throw error;
    return troublePage(error);
  }
}

async function madeAt(site: Site, open: OpenLedger | null, steps: readonly string[], asked: Asked): Promise<Made> {
  const [first, name] = steps;
  if (steps.length === 0) return await makeNow(site, open, asked);
  if (steps.length === 1 && first === 'ahead') return await makeAhead(site, open, asked);
  if (steps.length === 1 && first === 'campaigns') return await makeCampaigns(site, open, asked.view);
  if (steps.length === 2 && first === 'campaigns') return await makeCampaign(site, open, asked, name ?? '');
  if (steps.length === 1 && first === 'people') return await makePeople(site, open, asked);
  return open === null ? withoutLedger(site, steps, asked) : await withLedger(site, open, steps, asked);
}

/**
 * Adds warnings of an outdated ledger and of pauses to every page, counts to its menu, and buttons for pauses to the pages of runs. A page
 * has the same parts with a ledger and without, so that it need not reload when the first run begins.
 */
export async function withPauses(
  site: Site,
  open: OpenLedger | null,
  steps: readonly string[],
  view: View,
  made: Made,
): Promise<Made> {
  const { content } = made;
  const isLive = content.parts.some((part) => part.isLive);
  const pauses = open?.ledger.pauses() ?? [];
  const rescued = besideRescued(site.reading.project.ledger);
  const offered = await scopesOf(site, open, steps);
  const banner = {
    id: 'pauses',
    content: html`${rescuedBanner(rescued)}${pausesBanner(view, pauses, steps.length === 0 ? [] : offered)}`,
    isLive,
  };
  const scopes = offered.filter(
    (scope) => !pauses.some((one) => one.environment === scope.environment && one.campaign === scope.campaign),
  );
  const buttons = offered.length === 0 ? [] : [{ id: 'pausing', content: pauseButtons(view, scopes), isLive }];
  const doubts = open === null ? { counts: new Map<string, number>(), isOld: false } : await doubtCounts(site, open);
  const unclear = [...doubts.counts.values()].reduce((sum, count) => sum + count, 0);
  const replies = open === null ? '' : toReview(open, view.formats);
  const menu = [
    { id: 'doubt-count', menu: '/doubt', isLive, content: html`${unclear === 0 ? '' : view.formats.number(unclear)}` },
    {
      id: 'reply-count',
      menu: '/replies',
      isLive,
      content: html`${replies}${replies === '' ? null : html`<span class="hidden"> to review</span>`}`,
    },
  ];
  const [head, ...rest] = content.parts;
  const first = head === undefined ? [] : [head];
  return {
    ...made,
    content: { ...content, parts: [banner, ...first, ...buttons, ...rest, ...menu] },
    isOld: made.isOld || doubts.isOld,
  };
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

/** Above every page while a later copy of the ledger is next to it. */
function rescuedBanner(found: Diagnostic | null): Html | null {
  if (found === null) return null;
  return html`<div class="notice bad" role="alert"><p><b>${found.message}</b></p>
<p>${found.hint ?? ''}</p></div>
`;
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

export function troublePage(error: HandbillError): Made {
  const sentences = error.diagnostics
    .slice(0, 5)
    .flatMap(({ message, hint }) => [message, ...(hint === undefined ? [] : [hint])]);
  const title = error.exit === EXIT.ledger ? 'The ledger cannot be read' : 'Something is wrong in the project';
  const { parts, ...content } = messagePage(503, title, sentences.map(safe));
  return { content: { ...content, parts: parts.map((part) => ({ ...part, isLive: true })) }, isOld: true };
}

async function withLedger(site: Site, open: OpenLedger, steps: readonly string[], asked: Asked): Promise<Made> {
  const [first, second, third, fourth] = steps;
  if (steps.length === 1 && first === 'doubt') return await makeDoubt(site, open, asked);
  if (steps.length === 1 && first === 'replies') return await makeReplies(site, open, asked);
  if (steps.length === 1 && first === 'suppressions') return await makeSuppressions(site, open, asked);
  const row = /^\d{1,15}$/.test(fourth ?? (first === 'people' ? third : '') ?? '') ? Number(fourth ?? third) : null;
  if (steps.length === 3 && first === 'people' && row !== null && second !== undefined) {
    return await makePerson(site, open, asked, second, row);
  }
  if (first !== 'runs' || second === undefined) return noPage();
  if (steps.length === 2) return await makeRun(site, open, asked, second);
  if (third !== 'recipients') return noPage();
  if (steps.length === 3) return await makeRecipients(site, open, asked, second);
  return steps.length === 4 && row !== null ? await makeRecipient(site, open, asked, second, row) : noPage();
}

/** Before the first run: the pages exist, and wait. */
function withoutLedger(site: Site, [first, ...rest]: readonly string[], { view }: Asked): Made {
  if (rest.length > 0) return notFound('There is no ledger yet, and so no run.');
  if (first === 'doubt') return whole(doubtPage(view, { runs: [], only: null, after: null, q: '', cause: null }));
  if (first === 'replies') return whole(repliesPage(view, NO_REPLIES));
  if (first !== 'suppressions') return noPage();
  const { timeZone } = site.reading.project;
  const none = {
    q: '',
    entries: [],
    addresses: 0,
    hashes: 0,
    isHashed: null,
    next: null,
    stoppedAt: null,
    files: [],
    failing: [],
  };
  return whole(suppressionsPage(view, { ...none, isFirst: true, timeZone }));
}

function noPage(): Made {
  return notFound('There is no such page.');
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
