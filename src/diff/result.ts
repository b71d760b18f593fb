import type { DiffCampaign, DiffFigures, DiffTexts } from '../model/result-types.ts';

export type {
  Diff,
  DiffCampaign as CampaignDiff,
  DiffCampaignDay as CampaignDay,
  DiffCampaignSide as CampaignSide,
  DiffDayFigures as DayFigures,
  DiffFigures as Figures,
  DiffFinding as Finding,
  DiffRecipients as RecipientsDiff,
  DiffRehearsal as RehearsalDiff,
  DiffRehearsedSide as RehearsedSide,
  DiffRule as RuleChange,
  DiffSide as SideName,
  DiffTexts as TextsDiff,
} from '../model/result-types.ts';

export type CountryFigures = DiffFigures['countries'][string];
export type DecisionChange = DiffCampaign['decisions'][number];
export type TextGroup = DiffTexts['groups'][number];
export type TemplateChange = TextGroup['templates'][number];
