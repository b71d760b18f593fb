import type { ProjectReading } from '../campaign/project.ts';
import type { Channel } from '../model.ts';
import { createReportedAddressReader } from '../recipients/address.ts';
import { listedForm } from '../suppression/form.ts';
import { createInterpreter, type Interpreter } from '../webhook/interpret.ts';
import { meaningOf } from '../webhook/meaning.ts';
import { countryOf } from './suppress-addresses.ts';

/**
 * The reader of a project's events: its mapping, its words, the names that its environments have on the wire, and
 * numbers as its lists have them.
 */
export function interpreterOf(
  reading: Pick<ProjectReading, 'project' | 'written'>,
  options: Parameters<typeof createInterpreter>[2] = {},
): Interpreter {
  const { mapping, replies } = reading.project.webhook;
  const wires = [...reading.project.environments.values()].map((environment) => environment.wire);
  const read = createReportedAddressReader(countryOf(reading));
  const meanings = {
    address: (written: string): string | null => {
      const address = read(written);
      return address === null ? null : listedForm(address);
    },
    meaningOf: (text: string) => meaningOf(text, replies),
    channels: wires.flatMap(({ channels }) =>
      Object.entries(channels).map(([channel, value]) => [value, channel as Channel] as const),
    ),
    referenceNames: [...new Set(wires.map((wire) => wire.referenceName))],
  };
  return createInterpreter(mapping, meanings, options);
}
