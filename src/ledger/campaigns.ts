import type { Connection } from './connection.ts';
import type { Ledger } from './ledger.ts';
import type { KnownCampaign } from './records.ts';

export function campaignStore(connection: Connection): Pick<Ledger, 'campaigns' | 'rememberCampaign'> {
  const all = connection.query('SELECT id, name, file FROM campaigns ORDER BY number DESC');
  // The number says which one was sent last: times can be equal.
  const put = connection.statement(
    `INSERT INTO campaigns (id, name, file, number) SELECT ?, ?, ?, coalesce(max(number), 0) + 1 FROM campaigns WHERE true
      ON CONFLICT (id) DO UPDATE SET name = excluded.name, file = excluded.file, number = excluded.number`,
  );
  const campaigns = (): readonly KnownCampaign[] =>
    all.all().map(([id, name, file]) => ({ id: String(id), name: String(name), file: String(file) }));

  return {
    campaigns,
    rememberCampaign: (own, refusal) =>
      connection.write(0, 1, () => {
        const why = refusal(campaigns());
        if (why === null) put(own.id, own.name, own.file);
        return why;
      }),
  };
}
