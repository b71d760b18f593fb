/**
 * handbill as a library: what the commands do, as functions that return data. They print nothing, end no process and
 * watch no signal; what is wrong is thrown as a HandbillError. docs/library.md has an example of each.
 */

export type { Judgement, Signed } from './approval/judge.ts';
export type {
  CampaignDay,
  CampaignDiff,
  CampaignSide,
  CountryFigures,
  DayFigures,
  DecisionChange,
  Diff,
  Figures,
  Finding,
  RecipientsDiff,
  RehearsalDiff,
  RehearsedSide,
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
export type { DoubtVerdict, Recorded } from './ledger/records.ts';
export type {
  Allowable,
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
  OutcomeState,
  Pause,
  Rehearsal,
  RehearsedDay,
  RehearsedOccurrence,
  ReplyMeaning,
  ReplyTotals,
  Report,
  ReportedPause,
  RequestFigures,
  Retry,
  RunState,
  Schedule,
  SecondMessages,
  Significance,
  SkipReason,
  StepTotals,
  SuppressionAnswer,
  SuppressionEntry,
  Totals,
  VariantResult,
  WinnerDecision,
  WinnerMetric,
} from './model.ts';
export { type CloseRunOptions, type CloseRunResult, closeRun } from './operations/close-run.ts';
export { type DiffOptions, diff } from './operations/diff.ts';
export { type DoctorOptions, type DoctorResult, doctor } from './operations/doctor.ts';
export type { DoctorCheck } from './operations/doctor-environments.ts';
export {
  type Doubt,
  type DoubtsOptions,
  listDoubts,
  type ResolveDoubtsOptions,
  type ResolveDoubtsQuestion,
  type ResolveDoubtsResult,
  resolveDoubts,
} from './operations/doubt.ts';
export { type DueItem, type DueOptions, type DueResult, due } from './operations/due.ts';
export { type ErasedFrom, type ErasedPerson, type ErasePersonOptions, erasePerson } from './operations/erase.ts';
export { type InitOptions, type InitResult, init } from './operations/init.ts';
export { type Listening, type ListenOptions, listen } from './operations/listen.ts';
export type { Confirm, OptionsOf, ProjectOptions } from './operations/options.ts';
export {
  type PauseOptions,
  type PauseResult,
  pauseSending,
  type ResumeOptions,
  type ResumeResult,
  resumeSending,
} from './operations/pause.ts';
export { type Person, type PersonMessage, person } from './operations/person.ts';
export {
  type ApproveOptions,
  type ApproveQuestion,
  type ApproveStandingOptions,
  approve,
  approveStanding,
  type CheckApprovalOptions,
  checkApproval,
  type PlanOptions,
  plan,
  planStanding,
  readPlan,
  type SigningKey,
} from './operations/plan.ts';
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
} from './operations/preview.ts';
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
export { type RehearseOptions, rehearse } from './operations/rehearse.ts';
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
  type ListRunsOptions,
  listRuns,
  type OutcomesOptions,
  outcomes,
  type RecipientOutcome,
  report,
  type StepResult,
} from './operations/report.ts';
export {
  type SandboxDelayOptions,
  type SandboxOptions,
  type SandboxShareOptions,
  type SandboxWebhookOptions,
  startSandbox,
} from './operations/sandbox.ts';
export {
  type CallerKind,
  type CallerOptions,
  type ScheduledCampaign,
  type ScheduleOptions,
  type ScheduleResult,
  schedule,
  scheduleCallers,
} from './operations/schedule.ts';
export { send } from './operations/send.ts';
export type {
  SendListenOptions,
  SendOptions,
  SendProgress,
  SendQuestion,
  SendResult,
} from './operations/send-options.ts';
export type { Fact, StandingOptions } from './operations/standing.ts';
export {
  type AddedSuppressions,
  type AddSuppressionsOptions,
  addSuppressions,
  type ImportedSuppressions,
  importSuppressions,
  type RemovedSuppressions,
  type RemoveSuppressionsOptions,
  removeSuppressions,
} from './operations/suppress-change.ts';
export {
  type CheckSuppressionsOptions,
  checkSuppressions,
  type ExportSuppressionsOptions,
  exportSuppressions,
  listSuppressions,
  type Suppression,
  type SuppressionCheck,
} from './operations/suppress-list.ts';
export {
  type LoadOptions,
  loadCampaign,
  type ValidatedFile,
  type ValidateOptions,
  type ValidateResult,
  validate,
} from './operations/validate.ts';
export { listWorkers, runWorker, type WorkerOptions } from './operations/worker.ts';
export type { CostRange, Estimate, FallbackEstimate } from './plan/estimate.ts';
export type { AnyPlanFile, PlanFile, StandingPlan } from './plan/plan-file.ts';
export type { ReportRecord } from './report/record.ts';
export type { Sandbox, SandboxReports } from './sandbox/options.ts';
export type { CallerFile } from './schedule/callers.ts';
export type { WorkerShown } from './send/list-workers.ts';
export { type DiagnosticTextOptions, formatDiagnostics } from './util/diagnostic-text.ts';
export type { Task } from './util/task.ts';
export type { ServeOptions } from './web/options.ts';
export { serve } from './web/serve.ts';
export type { Serving } from './web/start.ts';
