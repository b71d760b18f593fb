import type { Pause } from '../../model.ts';
import { pausedScope, pauseText, resumeCommand } from '../../report/pause-words.ts';
import { type Html, html } from '../../util/escape.ts';
import { actionForm, type Content, questionPage, type View } from './layout.ts';

type Scope = Pick<Pause, 'environment' | 'campaign'>;

/**
 * Above every page during a pause.
 * @param scopes - what the page shows: any other pause is one line
 */
export function pausesBanner(view: View, pauses: readonly Pause[], scopes: readonly Scope[]): Html {
  const how = (pause: Pause) => view.actions !== 'on' && html` In a terminal: <code>${resumeCommand(pause)}</code>`;
  const banners = pauses.map((pause) => {
    const { environment, campaign } = pause;
    const isShown = scopes.some((one) => one.environment === environment && one.campaign === campaign);
    return html`<div class="notice bad${!isShown && ' line'}" role="alert"><p><b>${pauseText(pause, view.formats)}</b>${isShown && html`</p>\n<p>Nothing is sent there until it is resumed.`}${how(pause)}</p>
${asking(view, pause, 'ask-resume', 'Resume')}</div>\n`;
  });
  return html`${banners}`;
}

export function pauseButtons(view: View, scopes: readonly Scope[]): Html {
  if (view.actions !== 'on' || scopes.length === 0) return html``;
  return html`<div class="actions pausing" role="group" aria-label="Stop everything">${scopes.map((scope) => asking(view, scope, 'ask-pause', `Pause ${pausedScope(scope)}`))}</div>`;
}

function asking(view: View, { environment, campaign }: Scope, to: string, text: string): Html | null {
  const button = html`<button class="quiet" name="do" value="${to}">${text}</button>`;
  return actionForm(view, '/pause', { environment, campaign }, button);
}

export function pauseQuestionPage(view: View, { environment, campaign }: Scope): Content {
  return questionPage(view, {
    title: `Pause ${pausedScope({ environment, campaign })}?`,
    content: html`<p>Every send there halts within a second. Requests in flight are finished and recorded, nothing else is sent until it is resumed.</p>`,
    to: '/pause',
    hidden: { environment, campaign },
    fields: html`<p class="field wide"><label for="reason">Reason, which everyone reads whose send it halts</label><input id="reason" name="reason" required maxlength="500"></p>`,
    button: ['do', 'pause', 'Pause'],
    back: '/',
  });
}

export function resumeQuestionPage(view: View, { environment, campaign }: Scope): Content {
  return questionPage(view, {
    title: `Resume ${pausedScope({ environment, campaign })}?`,
    content: html`<p>Nothing is sent by that itself: <code>handbill send</code> and <code>handbill due</code> continue where they stopped.</p>`,
    to: '/pause',
    hidden: { environment, campaign },
    button: ['do', 'resume', 'Resume'],
    back: '/',
  });
}
