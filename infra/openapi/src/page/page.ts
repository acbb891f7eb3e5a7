import type { OpenApiDocument } from '@sluice/http-api';
import { type Html, html } from '@sluice/http-api';
import type { Operation, Route } from './document.ts';
import { framed } from './frame.ts';
import { inlineMarkdown, markdown } from './markdown.ts';
import { objects } from './members.ts';
import { type Entry, entriesOf, operationSection, route } from './operation.ts';
import { typescriptExamples } from './typescript.ts';

interface Chapter {
  name: string;
  description: string;
  id: string;
  entries: readonly Entry[];
}

/** The API reference as one page. */
export function referencePage(document: OpenApiDocument): string {
  const { title, version, description } = document.info;
  const chapters = chaptersOf(document);
  const calls = typescriptExamples(document);
  const first = html`<li><a href="#content">Introduction</a></li>
`;
  const last = html`
<li><a href="#objects">Objects</a></li>`;
  const introduction = html`<div class="introduction"><h1>${title} API</h1>
${markdown(description, 2)}</div>
`;
  const ofObjects = html`
<section class="chapter" id="objects" aria-labelledby="objects-title">
<h2 id="objects-title">Objects</h2>
<p class="lead">Objects in requests and responses</p>
<div class="objects">${objects(document)}</div>
</section>`;
  return framed({
    title: `${title} API`,
    brand: { href: '#content', text: title },
    subtitle: `API ${version}`,
    link: { href: '/openapi.json', text: 'openapi.json' },
    navigation: { label: 'Operations', entries: [first, ...chapters.map(navigation), last] },
    content: [introduction, ...chapters.map((chapter) => chapterSection(chapter, document, calls)), ofObjects],
  });
}

function chaptersOf({ tags, paths }: OpenApiDocument): Chapter[] {
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method,
      path,
      operation: operation as unknown as Operation,
    })),
  );
  const operationIds = new Set(routes.map(({ operation }) => operation.operationId));
  return tags.map(({ name, description }) => {
    const own: Route[] = routes.filter(({ operation }) => operation.tags[0] === name);
    const anchor = anchorOf(name);
    const id = operationIds.has(anchor) ? `${anchor}-operations` : anchor; // an operation keeps its id
    return { name, description, id, entries: entriesOf(own) };
  });
}

/** Omits text after a semicolon or colon, because the title has it. */
function short(title: string): string {
  return title.replace(/[;:].*|, newest first$/, '');
}

function navigation({ name, id, entries }: Chapter): Html {
  const links = entries.map(
    ({ id: entry, title, shown: { method } }) =>
      html`<li><a href="#${entry}"><b class="method ${method}" aria-hidden="true">${method}</b> <span>${short(title)}</span></a></li>`,
  );
  return html`<li><a href="#${id}">${name}</a><ul>${links}</ul></li>`;
}

function chapterSection(
  { name, id, description, entries }: Chapter,
  document: OpenApiDocument,
  calls: ReadonlyMap<string, string>,
): Html {
  const contents = entries.map(
    ({ id: entry, title, routes }) =>
      html`<li><a href="#${entry}"><span class="routes">${routes.map(route)}</span> <span>${title}</span></a></li>`,
  );
  return html`<section class="chapter" id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${name}</h2>
<p class="lead">${inlineMarkdown(description)}</p>
<ul class="contents">${contents}</ul>
${entries.map((entry) => operationSection(entry, document, calls.get(entry.id)))}
</section>`;
}

/** For an `id` and the links to it. */
function anchorOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}
