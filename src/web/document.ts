import { html } from '../util/escape.ts';
import { type ClientScript, pageStyle } from './client-script.ts';

/**
 * The text before and after the content, which can then be written in pieces. A page loads nothing: styles and script
 * are inside it, and the policy forbids everything else. The script runs after the complete content.
 */
export function documentFrame(page: {
  readonly title: string;
  readonly script?: ClientScript;
  /** More sources of the content security policy: `connect-src 'self'`. */
  readonly policy?: readonly string[];
}) {
  const { title, script, policy = [] } = page;
  const head = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${contentPolicy(script, policy)}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${pageStyle()}</style>
</head>
<body>
`;
  const foot = html`${script && html`<script>${script.code}</script>\n`}</body>
</html>
`;
  return { head: head.markup, foot: foot.markup };
}

/** For the page's `<meta>` and the header of the server. */
export function contentPolicy(script: ClientScript | undefined, more: readonly string[] = []): string {
  const scripts = script === undefined ? [] : [`script-src ${script.source}`];
  return ["default-src 'none'", "style-src 'unsafe-inline'", ...scripts, ...more].join('; ');
}
