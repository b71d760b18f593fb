import type { Campaign, Environment, JsonObject, SendRequest, Validity } from '../model.ts';

/** What differs from recipient to recipient besides the address. */
export interface Personal {
  readonly text: string | null;
  readonly variables: Readonly<Record<string, string>> | null;
  readonly metaData: Readonly<Record<string, string>> | null;
}

/**
 * Returns the function that makes a recipient's request. All that is the same for everyone is turned into JSON once,
 * so that a recipient costs the text, the address and the reference. Fields stand in the order of the API's document
 * (section 2.1); optional ones only when they were written.
 */
export function createExpander(
  campaign: Campaign,
  environment: Environment,
  referenceOf: (key: string) => string,
  startMs: number,
): (to: string, key: string, personal: Personal) => SendRequest {
  const { wire } = environment;
  const head = {
    ...optional('accountReference', campaign.accountReference),
    name: campaign.name,
    ...optional('characterSet', campaign.characterSetWritten ? wire.characterSets[campaign.characterSet] : null),
    channel: wire.channels[campaign.channel],
    ...optional('from', campaign.from),
    ...optional('validity', campaign.validity === null ? null : validityOnWire(campaign.validity, startMs)),
    ...optional('messageType', campaign.messageType),
  };
  const template = campaign.template;
  const prefix = `${JSON.stringify(head).slice(0, -1)},"body":${
    template.kind === 'text' ? '{"text":' : `${JSON.stringify({ templateId: template.id })},"recipients":[{"msisdn":"`
  }`;
  const suffix = campaign.metaData === null ? '}]}' : `}],"metaData":${JSON.stringify(campaign.metaData)}}`;

  if (template.kind === 'text') {
    return (to, key, personal) => {
      const reference = referenceOf(key);
      const text = JSON.stringify(personal.text ?? '');
      const own = ownMetaData(personal.metaData, reference);
      return { reference, body: `${prefix}${text}},"recipients":[{"msisdn":"${to}","metaData":${own}${suffix}` };
    };
  }
  return (to, key, personal) => {
    const reference = referenceOf(key);
    const variables = JSON.stringify(personal.variables ?? {});
    const own = ownMetaData(personal.metaData, reference);
    return { reference, body: `${prefix}${to}","variables":${variables},"metaData":${own}${suffix}` };
  };
}

/** The recipient's metadata, with handbill's reference under `handbill`: webhooks are joined by it. */
function ownMetaData(metaData: Personal['metaData'], reference: string): string {
  return metaData === null ? `{"handbill":"${reference}"}` : JSON.stringify({ ...metaData, handbill: reference });
}

/** The form of the API's document: fractional seconds and a numeric offset. */
export function validityOnWire(validity: Validity, startMs: number): string {
  const instant = validity.kind === 'duration' ? startMs + validity.ms : validity.epochMs;
  return new Date(instant).toISOString().replace('Z', '+00:00');
}

function optional(name: string, value: string | null): JsonObject {
  return value === null ? {} : { [name]: value };
}
