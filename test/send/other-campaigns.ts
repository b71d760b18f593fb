import type { Decision } from '../../src/model.ts';
import { previewRows } from '../../src/operations/preview.ts';
import { send } from '../../src/operations/send.ts';
import type { SendOptions, SendResult } from '../../src/operations/send-options.ts';
import { createProject, type TestProject } from '../helpers/project.ts';

/** Several campaigns of one project, sent and previewed at instants that the test says. */
export interface Campaigns extends TestProject {
  /** Lines of the campaign after its message. */
  campaign(name: string, rules: string, people: readonly string[]): void;
  send(name: string, at: string, options?: Partial<SendOptions>): Promise<SendResult>;
  /** `send`, or what prevents it: `frequency-cap: 1 message since ...`; one for each row. */
  previewed(name: string, at: string, occurrence?: string, environment?: string): Promise<string[]>;
  /** The same of what became of the rows in the ledger: `accepted`, `skipped frequency-cap` ... */
  totals(result: SendResult): Record<string, unknown>;
}

export function createCampaigns(project = '{}\n'): Campaigns {
  const here = createProject({ 'handbill.yaml': project });
  return {
    ...here,
    campaign(name, rules, people) {
      const message = `name: ${name}\nchannel: sms\nfrom: Riverside\ntemplate: { text: "Hi" }`;
      here.write(`campaigns/${name}/campaign.yaml`, `${message}\nrecipients: people.csv\n${rules}\n`);
      here.write(`campaigns/${name}/people.csv`, `msisdn\n${people.map((one) => `${one}\n`).join('')}`);
    },
    send: async (name, at, options = {}) =>
      await send(name, { cwd: here.root, env: {}, now: () => Date.parse(at), random: () => 0, ...options }),
    async previewed(name, at, occurrence = 'once', environment = 'sandbox') {
      const shown = await previewRows(name, { cwd: here.root, now: () => Date.parse(at), occurrence, environment });
      try {
        const decisions: Decision[] = [];
        for await (const batch of shown.batches) decisions.push(...batch.map(({ decision }) => decision));
        return decisions.map(textOf);
      } finally {
        shown.close();
      }
    },
    totals: ({ report }) => ({ accepted: report.totals.accepted, ...report.reasons['skipped'] }),
  };
}

function textOf(decision: Decision): string {
  if (decision.decision === 'skip') return `${decision.reason}: ${decision.detail ?? ''}`;
  return decision.decision;
}
