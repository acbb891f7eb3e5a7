import type { OpenApiDocument } from '@sluice/http-api';
import { type Html, html } from '@sluice/http-api';
import type { Operation } from './document.ts';
import { inlineMarkdown, markdown } from './markdown.ts';
import { objects } from './members.ts';
import { type Entry, entriesOf, operationSection, type Route, route } from './operation.ts';

interface Chapter {
  name: string;
  description: string;
  id: string;
  entries: readonly Entry[];
}

/**
 * The API reference as one page to read. It has no script and no field, because destinations answer on the same host,
 * and could read text typed into it.
 */
export function referencePage(document: OpenApiDocument): string {
  const { title, version, description } = document.info;
  const chapters = chaptersOf(document);
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} API</title>
<link rel="icon" href="/docs/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/docs/reference.css">
</head>
<body>
<a class="skip" href="#content">To the content</a>
<header>
<a class="brand" href="#content"><img src="/docs/icon.svg" alt="" width="28" height="28">${title}</a>
<span class="version">API ${version}</span>
<a class="machine" href="/openapi.json">openapi.json</a>
</header>
<nav aria-label="Operations">
<ul>
<li><a href="#content">Introduction</a></li>
${chapters.map(navigation)}
<li><a href="#objects">Objects</a></li>
</ul>
</nav>
<main id="content">
<div class="introduction"><h1>${title} API</h1>
${markdown(description, 2)}</div>
${chapters.map((chapter) => chapterSection(chapter, document))}
<section class="chapter" id="objects" aria-labelledby="objects-title">
<h2 id="objects-title">Objects</h2>
<p class="lead">What operations take and answer</p>
<div class="objects">${objects(document)}</div>
</section>
</main>
</body>
</html>
`;
  return page.text;
}

function chaptersOf({ tags, paths }: OpenApiDocument): Chapter[] {
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method,
      path,
      operation: operation as unknown as Operation,
    })),
  );
  return tags.map(({ name, description }) => {
    const own: Route[] = routes.filter(({ operation }) => operation.tags[0] === name);
    return { name, description, id: anchorOf(name), entries: entriesOf(own) };
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

function chapterSection({ name, id, description, entries }: Chapter, document: OpenApiDocument): Html {
  const contents = entries.map(
    ({ id: entry, title, routes }) =>
      html`<li><a href="#${entry}"><span class="routes">${routes.map(route)}</span> <span>${title}</span></a></li>`,
  );
  return html`<section class="chapter" id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${name}</h2>
<p class="lead">${inlineMarkdown(description)}</p>
<ul class="contents">${contents}</ul>
${entries.map((entry) => operationSection(entry, document))}
</section>`;
}

/** For an `id` and the links to it. */
function anchorOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}
