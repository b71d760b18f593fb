import type { RunRecord } from '../ledger/records.ts';
import type { CommandContext } from '../operations/context.ts';
import { preview } from '../operations/preview.ts';
import { openSummary } from '../operations/report.ts';
import { createTurns } from '../util/turns.ts';
import { previewHtml } from './preview-page.ts';
import { runPage } from './report-page.ts';
import type { OpenLedger } from './serve-ledger.ts';
import { campaignFiles } from './serve-make-campaigns.ts';
import type { Site } from './serve-site.ts';

/**
 * The page of a report, as `handbill report --format html` writes it. Others are answered while it goes through the
 * list.
 */
export async function* reportOf(site: Site, { ledger }: OpenLedger, run: RunRecord): AsyncGenerator<string> {
  const summary = await openSummary(ledger, run, contextOf(site), site.reading.project);
  yield* runPage(ledger, run, { nowMs: site.context.now(), turn: createTurns() }, summary);
}

/**
 * The page of a dry run of a campaign, as `handbill preview --format html` writes it: the campaign and its list are read
 * at this moment, and nothing is sent. Null where no such campaign is shown.
 */
export async function previewOf(site: Site, file: string): Promise<AsyncGenerator<string> | null> {
  const found = (await campaignFiles(site)).find((one) => one.file === file);
  if (found === undefined) return null;
  const { cwd, env, now } = site.context;
  const dry = await preview(found.path, {
    cwd,
    env,
    now,
    ...(site.ledger === undefined ? {} : { ledger: site.ledger }),
  });
  return closing(previewHtml(dry), dry.close);
}

async function* closing(pieces: AsyncGenerator<string>, close: () => void): AsyncGenerator<string> {
  try {
    yield* pieces;
  } finally {
    close();
  }
}

function contextOf({ context }: Site): CommandContext {
  const nowhere = (): void => undefined;
  return {
    ...context,
    out: nowhere,
    err: nowhere,
    colour: { out: false, err: false },
    width: 80,
    interactive: false,
    exit: nowhere,
  };
}
