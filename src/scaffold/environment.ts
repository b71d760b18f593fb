import type { Provider } from '../providers/provider.ts';

/** `environments` of handbill.yaml for a provider, with invented values in the places of those to fill in. */
export function environmentText(name: string, provider: Provider): string {
  const needsBaseUrl = provider.url.includes('{baseUrl}');
  const vars = linesOf(provider.vars, (_, example) => JSON.stringify(example ?? ''));
  const secrets = linesOf(provider.secrets, (key) => `{ env: ${secretVariable(provider, key)} }`);
  const lines = [
    `provider: ${provider.name}`,
    ...(needsBaseUrl ? ['baseUrl: https://api.example.com # where your account has the API', ...secrets] : []),
    ...(vars.length === 0 ? [] : below('vars', vars)),
    ...(needsBaseUrl ? [] : below('secrets', secrets)),
  ];
  return `environments:\n  ${name}:\n${lines.map((line) => `    ${line}\n`).join('')}`;
}

/** Optional ones are comments, whose sign only has to be taken away. */
function linesOf(specs: Provider['vars'], written: (key: string, example: string | null) => string): readonly string[] {
  return Object.entries(specs).map(([key, { description, example, optional }]) => {
    const line = `${key}: ${written(key, example)} # ${description}`;
    return optional ? `# ${line}; optional` : line;
  });
}

/** A key with nothing but comments below it would be null. */
function below(key: string, lines: readonly string[]): readonly string[] {
  const isEmpty = lines.every((line) => line.startsWith('# '));
  return [isEmpty ? `# ${key}:` : `${key}:`, ...lines.map((line) => line.replace(/^(?:# )?/, '$&  '))];
}

/** The environment variable for a secret: `TWILIO_TOKEN`. It cannot begin with a digit. */
export function secretVariable({ name, url }: Provider, secret: string): string {
  const owner = url.includes('{baseUrl}') ? 'handbill' : name;
  const words = `${owner}_${secret}`.replaceAll(/([a-z])([A-Z])/g, '$1_$2').replaceAll(/\W/g, '_');
  return words.toUpperCase().replace(/^[\d_]+/, '');
}
