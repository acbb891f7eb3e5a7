import { type Html, html } from '@sluice/http-api';

export function figure(caption: string, content: Html): Html {
  return html`<figure><figcaption>${caption}</figcaption>${code(content)}</figure>`;
}

interface Tabbed {
  /** Tells the tabs of this figure from those of others. */
  id: string;
  caption: string;
  /** By name; the first is open. */
  tabs: Readonly<Record<string, Html>>;
}

/** Tabs without a script: of details with the same name, the browser keeps one open. */
export function tabbedFigure({ id, caption, tabs }: Tabbed): Html {
  const parts = Object.entries(tabs).map(
    ([name, content], i) =>
      html`<details name="${id}-request"${i === 0 ? html` open` : undefined}><summary>${name}</summary>${code(content)}</details>`,
  );
  return html`<figure class="tabbed"><figcaption>${caption}</figcaption>${parts}</figure>`;
}

function code(content: Html): Html {
  return html`<pre><code>${content}</code></pre>`;
}
