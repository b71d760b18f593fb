import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Html } from '../util/escape.ts';
import { onDemand } from '../util/on-demand.ts';

export const SCRIPTS = ['preview', 'serve'] as const;

export type ClientScript = ReturnType<typeof clientScript>;

/** The style of all pages. */
export const pageStyle = onDemand(() => new Html(built('style.css').trimEnd()));

/**
 * From dist/, by a path that is the same from the build.
 * @throws Error if there was no build
 */
function built(file: string): string {
  return readFileSync(new URL(`../../dist/web/client/${file}`, import.meta.url), 'utf8');
}

export function clientScript(name: (typeof SCRIPTS)[number]) {
  const text = built(`${name}.js`);
  // Nothing in a script may end it early. The hash is of the text as it is in the page.
  const code = text.replaceAll('</', '<\\/').replaceAll('<!--', '<\\!--');
  const digest = createHash('sha256').update(code).digest('base64');
  return {
    code: new Html(code),
    /** For `script-src` of a content security policy: this script and no other. */
    source: `'sha256-${digest}'`,
  };
}
