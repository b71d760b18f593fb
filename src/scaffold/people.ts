import type { NewProject } from './new-project.ts';

/** An invented person, in the list of a new campaign. */
interface Person {
  readonly name: string;
  readonly order: string;
}

const PEOPLE: readonly Person[] = [
  { name: 'Ada', order: 'R-1001' },
  { name: 'Ravi', order: 'R-1002' },
  { name: 'Renée', order: 'R-1003' },
];

/**
 * Numbers that regulators keep free for books and films, so that a first campaign that is sent to a real API reaches
 * no one. Most countries publish none: their lists begin with British ones. The first of each is the sender.
 *
 * GB: Ofcom, numbers for use in TV and radio drama. US, CA: 555-0100 to 555-0199 of any area (NANPA). FR: ARCEP, 06 39
 * 98. AU: ACMA, numbers for use in radio, television and film. SE: PTS, numbers for use in fiction.
 */
const RESERVED: Readonly<Record<string, readonly [string, string, string, string]>> = {
  GB: ['+447700900010', '+447700900011', '+447700900012', '+447700900013'],
  US: ['+12025550110', '+12025550111', '+12025550112', '+12025550113'],
  CA: ['+16135550110', '+16135550111', '+16135550112', '+16135550113'],
  FR: ['+33639980010', '+33639980011', '+33639980012', '+33639980013'],
  AU: ['+61491570006', '+61491570156', '+61491570157', '+61491570158'],
  SE: ['+46701740610', '+46701740611', '+46701740612', '+46701740613'],
};

const BRITISH = ['+447700900010', '+447700900011', '+447700900012', '+447700900013'] as const;

/** A number that may be the sender of an example. */
export function exampleSender(country: string): string {
  return (RESERVED[country] ?? BRITISH)[0];
}

const INVENTED: ReadonlySet<string> = new Set(Object.values(RESERVED).flat());

/** An address that reaches no one: numbers for books and films that numbering plans count as in use, and RFC 2606. */
export function isInvented(address: string): boolean {
  return INVENTED.has(address) || FICTION_US.test(address) || FREE_DOMAIN.test(address);
}

const FICTION_US = /^\+1\d{3}55501\d{2}$/;
const FREE_DOMAIN = /[@.](?:example(?:\.(?:com|net|org))?|test|invalid)$/i;

/** The list of a new campaign. RFC 2606 keeps example.com free, as regulators do their numbers. */
export function peopleFile({ channel, country }: Pick<NewProject, 'channel' | 'country'>): string {
  const [, ...numbers] = RESERVED[country] ?? BRITISH;
  const isEmail = channel === 'email';
  const rows = PEOPLE.map(({ name, order }, i) => {
    const address = isEmail ? `${order.toLowerCase()}@example.com` : (numbers[i] ?? BRITISH[1]);
    return [address, name, order].join(',');
  });
  return `${[`${isEmail ? 'email' : 'msisdn'},first_name,order`, ...rows].join('\n')}\n`;
}
