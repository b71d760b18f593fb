import { readFileSync } from 'node:fs';
import { Ajv, type Options } from 'ajv';

const CAMPAIGN = JSON.parse(readFileSync(new URL('../../schemas/campaign.schema.json', import.meta.url), 'utf8')) as {
  readonly definitions: { readonly channel: object };
};

/**
 * Ajv for the schemas of formats, which refer to the channels in the schema of the campaign. Of that schema it gets no
 * more, because it has keywords for editors, which strict options refuse.
 */
export function formatAjv(options: Options): Ajv {
  const { channel } = CAMPAIGN.definitions;
  return new Ajv(options)
    .addVocabulary(['enumDescriptions'])
    .addSchema({ definitions: { channel } }, 'campaign.schema.json');
}
