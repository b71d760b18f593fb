import { describe, expectTypeOf, it } from 'vitest';
import * as handbill from '../../src/index.ts';
import {
  type Confirm,
  type Diagnostic,
  type DueItem,
  type DueResult,
  due,
  type ExitStatus,
  HandbillError,
  listSuppressions,
  outcomes,
  type PlanFile,
  type PreviewDecision,
  type PreviewOptions,
  type PreviewRequest,
  type ProjectOptions,
  type PurgeOptions,
  plan,
  preview,
  type RecipientOutcome,
  type Report,
  type ResolveDoubtsOptions,
  type SendOptions,
  type SendProgress,
  type SendQuestion,
  type SendResult,
  type StandingPlan,
  type Suppression,
  send,
  startSandbox,
} from '../../src/index.ts';

// The compiler checks this file (`npm run types`); what runs of it says only that the names are there.

describe('what is given back', () => {
  it('of send and due is awaited for the result and looped over for what happens meanwhile', () => {
    expectTypeOf(send).returns.resolves.toEqualTypeOf<SendResult>();
    expectTypeOf(send).returns.toExtend<AsyncIterable<SendProgress>>();
    expectTypeOf(due).returns.resolves.toEqualTypeOf<DueResult>();
    expectTypeOf(due).returns.toExtend<AsyncIterable<DueItem>>();
    expectTypeOf<SendResult['report']>().toEqualTypeOf<Report>();
    expectTypeOf<SendResult['exit']>().toEqualTypeOf<ExitStatus>();
  });

  it('of outcomes and lists is a loop of single items', () => {
    expectTypeOf(outcomes).returns.toExtend<AsyncIterable<RecipientOutcome>>();
    expectTypeOf(listSuppressions).returns.toExtend<AsyncIterable<Suppression>>();
    expectTypeOf(preview).returns.toHaveProperty('decisions').toEqualTypeOf<AsyncIterable<PreviewDecision>>();
  });

  it('of what serves closes itself at the end of its block', () => {
    expectTypeOf(handbill.listen).returns.resolves.toExtend<AsyncDisposable>();
    expectTypeOf(startSandbox).returns.resolves.toExtend<AsyncDisposable>();
  });

  it('of plan is what send takes', () => {
    expectTypeOf(plan).returns.resolves.toEqualTypeOf<PlanFile>();
    expectTypeOf(send).parameter(0).toEqualTypeOf<string | PlanFile | StandingPlan>();
  });

  it('cannot be changed', () => {
    const change = (result: SendResult): void => {
      // @ts-expect-error results are data that many may hold
      result.posted = 0;
    };
    expectTypeOf(change).toBeFunction();
  });
});

describe('decisions', () => {
  it('are told apart by their word, which says what else there is', () => {
    const look = (row: PreviewDecision): void => {
      switch (row.decision) {
        case 'send':
          expectTypeOf(row.key).toEqualTypeOf<string>();
          expectTypeOf(row.request).toEqualTypeOf<PreviewRequest | null>();
          break;
        case 'skip':
          expectTypeOf(row.reason).toEqualTypeOf<handbill.SkipReason>();
          break;
        case 'defer':
          expectTypeOf(row.reason).toEqualTypeOf<handbill.DeferReason>();
          expectTypeOf(row.until).toEqualTypeOf<string | null>();
          break;
        case 'done':
          expectTypeOf(row.outcome).toEqualTypeOf<handbill.OutcomeState>();
          break;
        case 'invalid':
          expectTypeOf(row.problem).toEqualTypeOf<Diagnostic>();
          break;
        default:
          expectTypeOf(row).toBeNever();
      }
      // @ts-expect-error only who is sent to has a text
      expectTypeOf(row.text).toBeString();
    };
    expectTypeOf(look).toBeFunction();
  });
});

describe('options', () => {
  it('may all be left out, except those without a default', () => {
    expectTypeOf<Record<never, never>>().toExtend<SendOptions>();
    expectTypeOf<Record<never, never>>().toExtend<PreviewOptions>();
    expectTypeOf<Record<never, never>>().not.toExtend<PurgeOptions>();
    expectTypeOf<{ verdict: 'accepted' }>().not.toExtend<ResolveDoubtsOptions>();
    expectTypeOf<{ verdict: 'accepted'; by: string }>().toExtend<ResolveDoubtsOptions>();
    expectTypeOf(send).parameter(1).toEqualTypeOf<SendOptions | undefined>();
  });

  it('are given or left out, but never undefined', () => {
    expectTypeOf<{ limit: undefined }>().not.toExtend<SendOptions>();
    expectTypeOf<{ signal: undefined }>().not.toExtend<SendOptions>();
    expectTypeOf<{ cwd: undefined }>().not.toExtend<ProjectOptions>();
    expectTypeOf<{ at: undefined }>().not.toExtend<PreviewOptions>();
  });

  it('have one form each', () => {
    expectTypeOf<SendOptions['signal']>().toEqualTypeOf<AbortSignal | undefined>();
    expectTypeOf<SendOptions['confirm']>().toEqualTypeOf<Confirm<SendQuestion> | undefined>();
    expectTypeOf<true>().toExtend<Confirm<SendQuestion>>();
    expectTypeOf<(question: SendQuestion) => Promise<boolean>>().toExtend<Confirm<SendQuestion>>();
    expectTypeOf<'yes'>().not.toExtend<Confirm<SendQuestion>>();
    expectTypeOf<{ limit: '10' }>().not.toExtend<SendOptions>();
    expectTypeOf<{ env: Record<string, string | undefined> }>().toExtend<ProjectOptions>();
  });

  it('of every function that asks the project begin with the same', () => {
    expectTypeOf<SendOptions>().toExtend<ProjectOptions>();
    expectTypeOf<PreviewOptions>().toExtend<ProjectOptions>();
    expectTypeOf<PurgeOptions>().toExtend<ProjectOptions>();
    expectTypeOf<handbill.ListenOptions>().toExtend<ProjectOptions>();
    expectTypeOf<handbill.RepliesOptions>().toExtend<ProjectOptions>();
  });
});

describe('errors', () => {
  it('say what is wrong, where, and what the command line would exit with', () => {
    const look = (error: unknown): void => {
      if (!(error instanceof HandbillError)) return;
      expectTypeOf(error.exit).toEqualTypeOf<ExitStatus>();
      expectTypeOf(error.code).toEqualTypeOf<handbill.Code>();
      expectTypeOf(error.diagnostics).toEqualTypeOf<readonly Diagnostic[]>();
    };
    expectTypeOf(look).toBeFunction();
  });
});
