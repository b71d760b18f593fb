import { describe, expect, it } from 'vitest';
import { escapeHtml, Html, html } from '../../src/util/escape.ts';

describe('html', () => {
  it('escapes text and attributes, and leaves markup', () => {
    expect(escapeHtml(`<a href='x' title="y">&\`</a>`)).toBe(
      '&lt;a href=&#39;x&#39; title=&quot;y&quot;&gt;&amp;&#96;&lt;/a&gt;',
    );
    const list = ['<1>', '<2>'].map((text) => html`<li>${text}</li>`);
    expect(html`<ul class="${'"x'}">${list}${null}${3}${new Html('<hr>')}</ul>`.markup).toBe(
      '<ul class="&quot;x"><li>&lt;1&gt;</li><li>&lt;2&gt;</li>3<hr></ul>',
    );
  });
  it('does not take an object that looks like markup', () => {
    const forged = JSON.parse('{"markup":"<script>"}');
    expect(() => html`<p>${forged}</p>`.markup).toThrow();
  });
});
