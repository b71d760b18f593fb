/**
 * handbill as a library: what the commands do, as functions that return data. They print nothing, end no process and
 * watch no signal; what is wrong is thrown as a HandbillError. docs/library.md has an example of each.
 */

export type { Judgement, Signed } from './approval/judge.ts';
export type {
  CampaignDiff,
  CampaignSide,
  CountryFigures,
  DecisionChange,
  Diff,
  Figures,
  Finding,
  RecipientsDiff,
  RuleChange,
  SideName,
  TemplateChange,
  TextGroup,
  TextsDiff,
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
export type { DoubtVerdict } from './ledger/records.ts';
export type {
  Campaign,
  ChangedRecipient,
  Channel,
  DeferReason,
  Delivery,
  DeliveryState,
  EarlierMessage,
  Halt,
  HaltRule,
  HmacScheme,
  LegTotals,
  OutcomeState,
  ReplyMeaning,
  ReplyTotals,
  Report,
  RequestFigures,
  RunState,
  Significance,
  SkipReason,
  SuppressionAnswer,
  SuppressionEntry,
  Totals,
  VariantResult,
  WinnerDecision,
  WinnerMetric,
} from './model.ts';
export { type DoctorOptions, type DoctorResult, doctor } from './operations/doctor.ts';
export type { DoctorCheck } from './operations/doctor-check.ts';
export { type Doubt, type DoubtsOptions, listDoubts } from './operations/doubt-list.ts';
export {
  type ResolveDoubtsOptions,
  type ResolveDoubtsQuestion,
  type ResolveDoubtsResult,
  resolveDoubts,
} from './operations/doubt-resolve.ts';
export { type InitOptions, type InitResult, init } from './operations/init.ts';
export { type DiffOptions, diff } from './operations/library/diff.ts';
export { type DueItem, type DueOptions, type DueResult, due } from './operations/library/due.ts';
export { type Listening, type ListenOptions, listen, type Recorded } from './operations/library/listen.ts';
export {
  type ApproveOptions,
  type ApproveQuestion,
  approve,
  type CheckApprovalOptions,
  checkApproval,
  type PlanOptions,
  plan,
  readPlan,
  type SigningKey,
} from './operations/library/plan.ts';
export {
  type Preview,
  type PreviewDecision,
  type PreviewFallback,
  type PreviewOptions,
  type PreviewRequest,
  type PreviewResult,
  type PreviewRow,
  type PreviewSend,
  preview,
} from './operations/library/preview.ts';
export { type Sandbox, type SandboxOptions, type SandboxReports, startSandbox } from './operations/library/sandbox.ts';
export {
  type SendListenOptions,
  type SendOptions,
  type SendProgress,
  type SendQuestion,
  type SendResult,
  send,
} from './operations/library/send.ts';
export { listWorkers, runWorker, type WorkerOptions, type WorkerShown } from './operations/library/workers.ts';
export { type LoadOptions, loadCampaign } from './operations/loading.ts';
export type { Confirm, ProjectOptions } from './operations/options.ts';
export {
  type LeftRun,
  type PurgedRun,
  type PurgeOptions,
  type PurgeResult,
  purge,
} from './operations/purge.ts';
export {
  type DueFallbacks,
  type ReconciledFile,
  type ReconcileOptions,
  type ReconcileResult,
  reconcile,
} from './operations/reconcile.ts';
export {
  type ExportedReply,
  type ExportRepliesOptions,
  exportReplies,
  listReplies,
  type ReceivedReply,
  type RepliesOptions,
  type ReplyExport,
  type ReviewRepliesOptions,
  type ReviewRepliesResult,
  reviewReplies,
} from './operations/replies.ts';
export {
  type LegResult,
  type OutcomesOptions,
  outcomes,
  type RecipientOutcome,
  report,
} from './operations/report.ts';
export { listRuns } from './operations/runs.ts';
export {
  type CallerKind,
  type CallerOptions,
  type ScheduledCampaign,
  type ScheduleOptions,
  type ScheduleResult,
  schedule,
  scheduleCallers,
} from './operations/schedule.ts';
export {
  type AddSuppressionsOptions,
  addSuppressions,
  importSuppressions,
  removeSuppressions,
} from './operations/suppress-change.ts';
export {
  type CheckSuppressionsOptions,
  checkSuppressions,
  type SuppressionCheck,
} from './operations/suppress-check.ts';
export {
  type ExportSuppressionsOptions,
  exportSuppressions,
  listSuppressions,
  type Suppression,
} from './operations/suppress-export.ts';
export type { Task } from './operations/task.ts';
export {
  type ValidatedFile,
  type ValidateOptions,
  type ValidateResult,
  validate,
} from './operations/validate.ts';
export type { CostRange, Estimate, FallbackEstimate } from './plan/estimate.ts';
export type { SealedPlan } from './plan/seal.ts';
export type {
  Delays as SandboxDelays,
  Echo as SandboxEcho,
  Shares as SandboxShares,
  WebhookOptions as SandboxWebhookOptions,
  WebhookScheme as SandboxWebhookScheme,
} from './sandbox/webhook-options.ts';
export type { CallerFile } from './schedule/callers.ts';
export { type DiagnosticTextOptions, formatDiagnostics } from './util/diagnostic-text.ts';
export { type ServeOptions, type Serving, serve } from './web/serve-library.ts';
