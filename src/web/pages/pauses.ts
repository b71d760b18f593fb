import type { Pause } from '../../model.ts';
import { pausedScope, pauseText, resumeCommand } from '../../report/pause-words.ts';
import { type Html, html } from '../../util/escape.ts';
import { type Content, csrfField, questionPage, type View } from './layout.ts';

type Scope = Pick<Pause, 'environment' | 'campaign'>;

/**
 * Above every page during a pause.
 * @param scopes - what the page shows: any other pause is one line
 */
export function pausesBanner(view: View, pauses: readonly Pause[], scopes: readonly Scope[]): Html {
  const touches = (pause: Pause) =>
    scopes.some(({ environment, campaign }) => environment === pause.environment && campaign === pause.campaign);
  const how = (pause: Pause) =>
    view.actions === 'on' ? null : html` In a terminal: <code>${resumeCommand(pause)}</code>`;
  return html`${pauses.map(
    (
      pause,
    ) => html`<div class="notice bad${touches(pause) ? '' : ' line'}" role="alert"><p><b>${pauseText(pause, view.formats)}</b>${
      touches(pause)
        ? html`</p>
<p>Nothing is sent there until it is resumed.`
        : null
    }${how(pause)}</p>
${view.actions === 'on' ? asking(view, pause, 'ask-resume', 'Resume') : null}</div>
`,
  )}`;
}

export function pauseButtons(view: View, scopes: readonly Scope[]): Html {
  if (view.actions !== 'on' || scopes.length === 0) return html``;
  return html`<div class="actions pausing" role="group" aria-label="Stop everything">${scopes.map((scope) => asking(view, scope, 'ask-pause', `Pause ${pausedScope(scope)}`))}</div>`;
}

function asking(view: View, scope: Scope, to: string, text: string): Html {
  return html`<form method="post" action="/pause" class="actions">${scopeFields(view, scope)}<button class="quiet" name="do" value="${to}">${text}</button></form>
`;
}

function scopeFields(view: View, { environment, campaign }: Scope): Html {
  return html`${csrfField(view)}<input type="hidden" name="environment" value="${environment}"><input type="hidden" name="campaign" value="${campaign ?? ''}">`;
}

export function pauseQuestionPage(view: View, scope: Scope): Content {
  return questionPage(
    `Pause ${pausedScope(scope)}?`,
    html`<p>Every send there halts within a second. Requests in flight are finished and recorded, nothing else is sent until it is resumed.</p>
<form method="post" action="/pause">${scopeFields(view, scope)}
<p class="field wide"><label for="reason">Reason, which everyone reads whose send it halts</label><input id="reason" name="reason" required maxlength="500"></p>
<p class="actions"><button class="main" name="do" value="pause">Pause</button><a class="button" href="/">Back</a></p></form>`,
  );
}

export function resumeQuestionPage(view: View, scope: Scope): Content {
  return questionPage(
    `Resume ${pausedScope(scope)}?`,
    html`<p>Nothing is sent by that itself: <code>handbill send</code> and <code>handbill due</code> continue where they stopped.</p>
<form method="post" action="/pause" class="actions">${scopeFields(view, scope)}<button class="main" name="do" value="resume">Resume</button><a class="button" href="/">Back</a></form>`,
  );
}
