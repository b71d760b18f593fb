import { type Diagnostic, type Position, problem } from '../errors.ts';
import type { LegMessage, Recipient } from '../model.ts';
import { addressMessage } from '../recipients/address.ts';
import { columnTag, type TemplateValues } from '../templates/compile.ts';
import type { FallbackMessage, Message, Stages } from './stages.ts';

/** The message of the first leg, or what is wrong with it in this row. Throws `RenderError` as templates do. */
export function writeMessage(
  message: Message,
  recipient: Recipient,
  values: TemplateValues,
  at: Position,
): LegMessage | Diagnostic {
  return missingVariable(message, recipient, at) ?? message.write(recipient, values, at);
}

/** Every message that a recipient may get, fallbacks included; or what is wrong with one of them. */
export function writeAll(
  stages: Pick<Stages, 'messages' | 'fallbacks'>,
  recipient: Recipient,
  values: TemplateValues,
  at: Position,
): readonly LegMessage[] | Diagnostic {
  const written: LegMessage[] = [];
  for (const message of stages.messages) {
    const found = writeMessage(message, recipient, values, at);
    if ('code' in found) return found;
    written.push(found);
  }
  const fallbacks = writeFallbacks(stages.fallbacks, recipient, values, at);
  return 'code' in fallbacks ? fallbacks : [...written, ...fallbacks];
}

/** What the fallbacks would say; one without an address in this row is left out. */
export function writeFallbacks(
  fallbacks: readonly FallbackMessage[],
  recipient: Recipient,
  values: TemplateValues,
  at: Position,
): readonly LegMessage[] | Diagnostic {
  const written: LegMessage[] = [];
  for (const fallback of fallbacks) {
    const address = fallback.address === null ? recipient : addressIn(fallback.address, recipient, at);
    if (address === null) continue;
    if ('code' in address) return address;
    const found = missingVariable(fallback, recipient, at) ?? fallback.write(address, values, at);
    if ('code' in found) return found;
    written.push(found);
  }
  return written;
}

function addressIn(
  { column, name, kind, read }: NonNullable<FallbackMessage['address']>,
  recipient: Recipient,
  at: Position,
): { readonly to: string; readonly country: string | null } | Diagnostic | null {
  const cell = recipient.values[column] ?? '';
  if (cell.trim() === '') return null;
  const address = read(cell);
  if (!('problem' in address)) return address;
  const hint = address.hint === undefined ? {} : { hint: address.hint };
  return problem('invalid-address', addressMessage(kind, name, cell, address), { at, ...hint });
}

function missingVariable(message: Message, recipient: Recipient, at: Position): Diagnostic | null {
  for (const { index, name } of message.required) {
    const value = recipient.values[index];
    if (value === undefined || value === '' || value.trim() === '') {
      return problem('missing-variable', `The column "${name}" is empty, and the template needs it.`, {
        at,
        hint: `Fill the cell, write {{default ${inTag(name)} "..."}}, or put the sentence into {{#if ${inTag(name)}}}.`,
      });
    }
  }
  return null;
}

/** The name as it is written inside a tag. */
function inTag(name: string): string {
  return columnTag(name).slice(2, -2);
}
