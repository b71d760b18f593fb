/**
 * The nouns that flow through handbill, in the order in which they appear:
 *
 *   CampaignFile -> Campaign -> Plan -> Recipient -> Decision -> SendRequest -> Attempt -> Outcome -> Report
 *
 * and what the API says later, which is joined to the outcome: WebhookEvent -> Delivery
 *
 * Read the files below model/ in that order, after words.ts and project.ts: campaign, commit, recipient, decision (with the
 * SendRequest), attempt, outcome, event, report. The first noun, files as they were written and not trusted yet, never leaves
 * its folder: campaign/written.ts. A plan is made of functions: plan/plan.ts.
 *
 * Nothing here does anything. ARCHITECTURE.md and docs/ explain the words; options and helpers live with
 * the code that uses them.
 */

export * from './model/allow.ts';
export * from './model/attempt.ts';
export * from './model/campaign.ts';
export * from './model/commit.ts';
export * from './model/decision.ts';
export * from './model/event.ts';
export * from './model/outcome.ts';
export * from './model/pause.ts';
export * from './model/project.ts';
export * from './model/recipient.ts';
export * from './model/report.ts';
export * from './model/webhook.ts';
export * from './model/window.ts';
export * from './model/words.ts';
