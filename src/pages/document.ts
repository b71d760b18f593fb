import { type Html, html } from '../util/html.ts';
import type { ClientScript } from './client-script.ts';
import { STYLE } from './style.ts';

/** What a page is made of. */
export interface Document {
  readonly title: string;
  /** Additional rules, after those that all pages share. */
  readonly style?: Html;
  readonly script?: ClientScript;
  /** More sources of the content security policy: `connect-src 'self'`. */
  readonly policy?: readonly string[];
}

/** Everything before the content of a page, and everything after it, so that what is long can be written in pieces. */
export interface Frame {
  readonly head: string;
  readonly foot: string;
}

/**
 * A page that loads nothing from anywhere: styles and its script are inside it, and the content security policy
 * forbids everything else (SECURITY S23). The script runs after the content, which it finds complete.
 */
export function documentFrame({ title, style, script, policy = [] }: Document): Frame {
  const head = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${contentPolicy(script, policy)}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}${style ?? null}</style>
</head>
<body>
`;
  const foot = html`${script === undefined ? null : html`<script>${script.code}</script>\n`}</body>
</html>
`;
  return { head: head.markup, foot: foot.markup };
}

/** The policy of a page, for its own `<meta>` and for the header of whoever serves it. */
export function contentPolicy(script: ClientScript | undefined, more: readonly string[] = []): string {
  const scripts = script === undefined ? [] : [`script-src ${script.source}`];
  return ["default-src 'none'", "style-src 'unsafe-inline'", ...scripts, ...more].join('; ');
}
