import { type Html, html } from '@sluice/http-api';
import { type DescribedError, describedErrors, errorsIntroduction, factsOf } from '../errors.ts';
import { highlight } from './example.ts';
import { figure } from './figures.ts';
import { framed } from './frame.ts';
import { inlineMarkdown, markdown } from './markdown.ts';

/** The list of errors as one page, with an anchor for each code. */
export function errorsPage(): string {
  const introduction = html`<div class="introduction"><h1>Errors</h1>
${markdown(errorsIntroduction, 2)}</div>
`;
  return framed({
    title: 'Errors · Sluice API',
    brand: { href: '/docs', text: 'Sluice' },
    subtitle: 'Errors',
    link: { href: '/docs', text: 'API reference' },
    navigation: { label: 'Errors', entries: byStatus().map(navigation) },
    content: [introduction, ...describedErrors.map(section)],
  });
}

function byStatus(): [number, DescribedError[]][] {
  return [...Map.groupBy(describedErrors, ({ status }) => status)];
}

function navigation([status, errors]: [number, DescribedError[]]): Html {
  const links = errors.map(({ code }) => html`<li><a href="#${code}"><span>${code}</span></a></li>`);
  return html`<li><a href="#${errors[0]?.code}">${status}</a><ul>${links}</ul></li>`;
}

function section(error: DescribedError): Html {
  const { code, status, title, meaning, onlyFrom, example } = error;
  const facts = factsOf(error).map(([name, text]) => html`<dt>${name}</dt><dd>${inlineMarkdown(text)}</dd>`);
  return html`<section class="operation" id="${code}" aria-labelledby="${code}-title">
<div class="about">
<h2 id="${code}-title"><a href="#${code}">${code}</a></h2>
<p><code class="status s${String(status).slice(0, 1)}">${status}</code> ${title}</p>
<p>${inlineMarkdown(meaning)}${onlyFrom && html` Only ${onlyFrom} cause this error.`}</p>
<dl class="facts">${facts}</dl>
</div>
<div class="examples">${figure('Example', highlight(example))}</div>
</section>`;
}
