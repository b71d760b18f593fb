/**
 * The nouns of handbill, in the order in which they appear:
 *
 *   CampaignFile -> Campaign -> Plan -> Recipient -> Decision -> SendRequest -> Attempt -> Outcome -> Report
 *
 * The API's later events are joined to the outcome: WebhookEvent -> Delivery. Read words.ts and project.ts first.
 * CampaignFile, which is not trusted yet, never leaves campaign/written.ts; plan/plan.ts has the Plan. No code runs here.
 * The build makes model/result-types.ts from schemas/: the types of what commands print as JSON.
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
export * from './model/rehearsal.ts';
export * from './model/report.ts';
export * from './model/webhook.ts';
export * from './model/window.ts';
export * from './model/words.ts';
