import { Html } from '@sluice/http-api';
import MarkdownIt from 'markdown-it';

/** HTML in a text is shown as text. */
const renderer = new MarkdownIt({ html: false, linkify: false });

// A wide table scrolls by itself, also by keyboard, so that a narrow window shows the rest of the page as it should.
renderer.renderer.rules.table_open = () => '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>';
renderer.renderer.rules.table_close = () => '</table></div>';
renderer.renderer.rules.th_open = () => '<th scope="col">';

/** Its highest heading becomes one of `level`, so that the headings of the page nest. */
export function markdown(text: string, level: number): Html {
  const tokens = renderer.parse(text, {});
  const headings = tokens.filter(({ type }) => type.startsWith('heading_'));
  const shift = level - Math.min(...headings.map(({ tag }) => levelOf(tag)));
  for (const heading of headings) heading.tag = `h${Math.min(6, levelOf(heading.tag) + shift)}`;
  return new Html(renderer.renderer.render(tokens, renderer.options, {}));
}

/** For one line: no paragraph around it. */
export function inlineMarkdown(text: string): Html {
  return new Html(renderer.renderInline(text));
}

function levelOf(tag: string): number {
  return Number(tag.slice(1));
}
