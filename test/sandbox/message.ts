/** A message to one or more numbers, as small as the API takes it. */
export function messageTo(...numbers: readonly string[]): Record<string, unknown> {
  return { channel: 'SMS', body: { text: 'Hello Zoë' }, recipients: numbers.map((msisdn) => ({ msisdn })) };
}

/** The parts of a line of `GET /sandbox/messages` that tests read. */
export interface Received {
  readonly number: number;
  readonly receivedAt: string;
  readonly status: number | null;
  readonly scenario: string | null;
  readonly id: string | null;
  readonly to: readonly string[];
  readonly refused: readonly string[];
  readonly text: string | null;
  readonly body: unknown;
}
