/** handbill as a library: what the commands do, as functions that return data. */
export { loadCampaign, readCampaign } from './campaign/load.ts';
export {
  type ApproveOptions,
  type ApproveQuestion,
  type ApproveResult,
  approve,
  checkApproval,
} from './commands/approve.ts';
export type { Confirmation } from './commands/confirm.ts';
export { type Doubt, type DoubtListOptions, listDoubts } from './commands/doubt-list.ts';
export {
  type ResolveOptions,
  type ResolveQuestion,
  type ResolveResult,
  resolveDoubts,
} from './commands/doubt-resolve.ts';
export type { Named } from './commands/doubt-select.ts';
export { type DueItem, type DueOptions, type DueResult, due } from './commands/due.ts';
export { type PlanCommandOptions, type PlanSigning, plan } from './commands/plan.ts';
export { type PreviewOptions, preview } from './commands/preview.ts';
export type { Preview, Previewed } from './commands/previewed.ts';
export { type PurgeOptions, type PurgeResult, purge } from './commands/purge-ledger.ts';
export type { LeftRun, PurgedRun } from './commands/purge-select.ts';
export {
  type ScheduledTimes,
  type ScheduleOptions,
  type ScheduleResult,
  schedule,
} from './commands/schedule.ts';
export {
  type CallerKind,
  type CallerOptions,
  scheduleCallers,
} from './commands/schedule-callers.ts';
export { type SendOptions, send } from './commands/send.ts';
export { exitOf, type SendResult } from './commands/send-result.ts';
export { validate } from './commands/validate.ts';
export { type DiffOptions, diff } from './diff/diff.ts';
export type {
  CampaignDiff,
  CampaignSide,
  Diff,
  RuleChange,
  TextGroup,
} from './diff/result.ts';
export {
  CODES,
  type Code,
  type Diagnostic,
  EXIT,
  type ExitStatus,
  HandbillError,
  type Position,
} from './errors.ts';
export type {
  Campaign,
  Channel,
  Decision,
  Halt,
  Outcome,
  OutcomeState,
  Report,
  RunState,
  SendDecision,
  SmsFacts,
  Totals,
} from './model.ts';
export type { SealedPlan } from './plan/seal.ts';
export { type Sandbox, type SandboxOptions, startSandbox } from './sandbox/server.ts';
export { formatDiagnostics } from './util/diagnostic-text.ts';
