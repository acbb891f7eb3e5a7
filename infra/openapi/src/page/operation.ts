import type { OpenApiDocument } from '@sluice/http-api';
import { type Html, html } from '@sluice/http-api';
import { curlExample } from './curl.ts';
import { follow, nameOf, type Operation, type Parameter, type Route, type Schema } from './document.ts';
import { exampleOf, highlight } from './example.ts';
import { figure, tabbedFigure } from './figures.ts';
import { inlineMarkdown, markdown } from './markdown.ts';
import { members, membersOf, typeOf } from './members.ts';
import { highlightTypeScript } from './typescript.ts';

/** Operations that do the same, such as the methods of an invocation, are described once. */
export interface Entry {
  id: string;
  title: string;
  routes: readonly Route[];
  /** The one with a body, if any. */
  shown: Route;
}

export function entriesOf(routes: readonly Route[]): Entry[] {
  // Operations that only share their description, such as those by cookie, begin with other words.
  const kindOf = ({ operation: { description, summary } }: Route) =>
    [description, ...summary.split(' ').slice(0, 2)].join(' ');
  return [...Map.groupBy(routes, kindOf).values()].map((same) => {
    const shown = same.find(({ operation }) => operation.requestBody) ?? same[0];
    if (!shown) throw new Error('a group has a member');
    const title =
      same.length === 1 ? shown.operation.summary : commonWords(same.map(({ operation }) => operation.summary));
    return { id: shown.operation.operationId, title, routes: same, shown };
  });
}

/** `Invoke a Proxy with GET`, `Invoke a Proxy with POST` … are `Invoke a Proxy`. */
function commonWords([first = '', ...others]: readonly string[]): string {
  const words = first.split(' ');
  const differs = words.findIndex((word, i) => others.some((other) => other.split(' ')[i] !== word));
  return words
    .slice(0, differs === -1 ? undefined : differs)
    .join(' ')
    .replace(/ with$/, '');
}

export function route({ method, path }: Route): Html {
  return html`<span class="route"><b class="method ${method}">${method.toUpperCase()}</b> <code>${withBreaks(path)}</code></span>`;
}

/** A long path breaks after a slash. */
function withBreaks(path: string): Html[] {
  return path.split(/(?<=\/)/).map((part) => html`${part}<wbr>`);
}

/** @param typescript the call by the library, if it has one */
export function operationSection(entry: Entry, document: OpenApiDocument, typescript: string | undefined): Html {
  const { id, title, shown, routes } = entry;
  const { operation } = shown;
  const parameters = operation.parameters.map((parameter) => follow(parameter, document));
  const curl = curlExample(shown, parameters, document);
  return html`<section class="operation" id="${id}" aria-labelledby="${id}-title">
<div class="about">
<h3 id="${id}-title"><a href="#${id}">${title}</a></h3>
<p class="routes">${routes.map(route)}</p>
${markdown(operation.description, 4)}
${(['path', 'query', 'header'] as const).map((place) => parametersIn(place, parameters, document))}
${bodyOf(operation, document)}
${answersOf(operation, document)}
</div>
<div class="examples">${requestExample(id, curl, typescript)}${responseExample(operation, document)}</div>
</section>`;
}

const places = { path: 'In the path', query: 'In the query', header: 'In the headers' } as const;

function parametersIn(place: Parameter['in'], parameters: readonly Parameter[], document: OpenApiDocument) {
  const list = parameters.filter((parameter) => parameter.in === place);
  if (list.length === 0) return undefined;
  const described = list.map(({ name, schema, description, required = false }) => ({
    name,
    schema,
    description,
    required,
  }));
  return html`<h4>${places[place]}</h4>${members(described, document)}`;
}

function bodyOf({ requestBody }: Operation, document: OpenApiDocument): Html | undefined {
  if (!requestBody) return undefined;
  const { description, content } = follow(requestBody, document);
  const [first] = Object.values(content);
  if (!first) return undefined;
  const schema = follow(first.schema, document);
  const text = description ?? schema.description;
  return html`<h4>Body</h4>
<p class="media">${Object.keys(content).map((type, i) => html`${i > 0 ? ', ' : ''}<code>${type}</code>`)}</p>
${text === undefined ? undefined : markdown(text, 5)}
${membersOf(schema, document)}`;
}

function answersOf({ responses }: Operation, document: OpenApiDocument): Html {
  const rows = Object.entries(responses).map(([status, given]) => {
    const { description, content = {} } = follow(given, document);
    const [media] = Object.values(content);
    const isOurs = media && nameOf(media.schema) !== 'Problem';
    return html`<div><dt><code class="status s${status.slice(0, 1)}">${status}</code></dt>
<dd><p>${inlineMarkdown(description)}${isOurs ? html` <span class="type">${typeOf(media.schema)}</span>` : undefined}</p></dd></div>`;
  });
  return html`<h4>Responses</h4><dl class="answers">${rows}</dl>`;
}

function requestExample(id: string, curl: Html, typescript: string | undefined): Html {
  if (typescript === undefined) return figure('Request', curl);
  const tabs = { curl, TypeScript: highlightTypeScript(typescript) };
  return tabbedFigure({ id, caption: 'Request', tabs });
}

function responseExample({ responses }: Operation, document: OpenApiDocument): Html | undefined {
  const [status, given] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  if (!given || status === undefined) return undefined;
  const media: { schema: Schema; example?: unknown } | undefined = follow(given, document).content?.[
    'application/json'
  ];
  const example = media && (media.example ?? exampleOf(media.schema, document));
  if (example === undefined) return undefined;
  return figure(`Response, ${status}`, highlight(example));
}
