import type { OpenApiDocument } from '@sluice/http-api';
import { type Html, html } from '@sluice/http-api';
import { follow, nameOf, type Operation, type Parameter, type Schema } from './document.ts';
import { exampleOf, highlight, toShell } from './example.ts';
import { inlineMarkdown, markdown } from './markdown.ts';
import { members, membersOf, typeOf } from './members.ts';

export interface Route {
  method: string;
  path: string;
  operation: Operation;
}

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

export function operationSection(entry: Entry, document: OpenApiDocument): Html {
  const { id, title, shown, routes } = entry;
  const { operation } = shown;
  const parameters = operation.parameters.map((parameter) => follow(parameter, document));
  return html`<section class="operation" id="${id}" aria-labelledby="${id}-title">
<div class="about">
<h3 id="${id}-title"><a href="#${id}">${title}</a></h3>
<p class="routes">${routes.map(route)}</p>
${markdown(operation.description, 4)}
${(['path', 'query', 'header'] as const).map((place) => parametersIn(place, parameters, document))}
${bodyOf(operation, document)}
${answersOf(operation, document)}
</div>
<div class="examples">${requestExample(shown, parameters, document)}${responseExample(operation, document)}</div>
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
  return html`<h4>Answers</h4><dl class="answers">${rows}</dl>`;
}

function requestExample(
  { method, path, operation }: Route,
  parameters: readonly Parameter[],
  document: OpenApiDocument,
) {
  const query = parameters.filter((parameter) => parameter.in === 'query' && parameter.required);
  const search = query.map(({ name, schema }) => `${name}=${String(exampleOf(schema, document))}`).join('&');
  const url = `"${path.startsWith('/api/') ? '$CONSOLE' : '$URL'}${path.replace(/\{(\w+)\}/g, (_, name) => `$${shellName(name)}`)}${search && `?${search}`}"`;
  const [type, media] =
    Object.entries(operation.requestBody ? follow(operation.requestBody, document).content : {})[0] ?? [];
  const isInvocation = operation.tags[0] === 'Invocations';
  const example =
    media &&
    (isInvocation ? { card: '{{ 3e9d1c52-7b0f-4a86-9c41-b5f20e6a8d73 }}' } : exampleOf(media.schema, document));
  const lines = [
    html`<b>curl</b> ${method === 'get' || (method === 'post' && example !== undefined) ? '' : `-X ${method.toUpperCase()} `}${url}`,
    ...credentialsOf(operation, parameters),
    isInvocation ? html`-H "SVC-PROXY-KEY: $PROXY"` : undefined,
    type && example !== undefined ? html`-H 'Content-Type: ${type}'` : undefined,
    example === undefined ? undefined : html`-d '${quoted(example)}'`,
  ].filter((line) => line !== undefined);
  const text = lines.map((line, i) => html`${i > 0 ? ' \\\n  ' : ''}${line}`);
  return figure('Request', html`${text}`);
}

/** A key, a cookie, or nothing; and the headers that a page of the console's host adds. */
function credentialsOf({ security }: Operation, parameters: readonly Parameter[]): Html[] {
  const ofPage = parameters.filter(({ in: place, schema }) => place === 'header' && schema.const !== undefined);
  const names = (security ?? [{ ApiKey: [] }]).flatMap((one) => Object.keys(one as object));
  return [
    ...(names.includes('ApiKey') ? [html`-H "SVC-API-KEY: $KEY"`] : []),
    ...(names.includes('SignIn') ? [html`-H "Cookie: __Host-sluice=$COOKIE"`] : []),
    ...ofPage.map(({ name, schema }) => html`-H '${name}: ${String(schema.const)}'`),
  ];
}

/** In single quotes of a shell. */
function quoted(example: unknown): Html {
  return JSON.stringify(example).includes("'")
    ? html`${toShell(JSON.stringify(example, null, 2)).slice(1, -1)}`
    : highlight(example);
}

function shellName(name: string): string {
  return name === 'path' ? 'REST' : name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
}

function responseExample({ responses }: Operation, document: OpenApiDocument): Html | undefined {
  const [status, given] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  if (!given || status === undefined) return undefined;
  const media: { schema: Schema; example?: unknown } | undefined = follow(given, document).content?.[
    'application/json'
  ];
  const example = media && (media.example ?? exampleOf(media.schema, document));
  if (example === undefined) return undefined;
  return figure(`Answer, ${status}`, highlight(example));
}

function figure(caption: string, content: Html): Html {
  return html`<figure><figcaption>${caption}</figcaption><pre><code>${content}</code></pre></figure>`;
}
