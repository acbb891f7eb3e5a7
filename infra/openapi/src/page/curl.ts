import type { OpenApiDocument } from '@sluice/http-api';
import { type Html, html } from '@sluice/http-api';
import { follow, type Operation, type Parameter, type Route } from './document.ts';
import { exampleOf, highlight, invocationBody, toShell } from './example.ts';

/** The request of an operation as it is typed in a shell. */
export function curlExample(
  { method, path, operation }: Route,
  parameters: readonly Parameter[],
  document: OpenApiDocument,
): Html {
  const query = parameters.filter((parameter) => parameter.in === 'query' && parameter.required);
  const search = query.map(({ name, schema }) => `${name}=${String(exampleOf(schema, document))}`).join('&');
  const url = `"${path.startsWith('/api/') ? '$CONSOLE' : '$URL'}${path.replace(/\{(\w+)\}/g, (_, name) => `$${shellName(name)}`)}${search && `?${search}`}"`;
  const [type, media] =
    Object.entries(operation.requestBody ? follow(operation.requestBody, document).content : {})[0] ?? [];
  const isInvocation = operation.tags[0] === 'Invocations';
  const example = media && (isInvocation ? invocationBody : exampleOf(media.schema, document));
  const lines = [
    html`<b>curl</b> ${method === 'get' || (method === 'post' && example !== undefined) ? '' : `-X ${method.toUpperCase()} `}${url}`,
    ...credentialsOf(operation, parameters),
    isInvocation ? html`-H "SVC-PROXY-KEY: $PROXY"` : undefined,
    type && example !== undefined ? html`-H 'Content-Type: ${type}'` : undefined,
    example === undefined ? undefined : html`-d '${quoted(example)}'`,
  ].filter((line) => line !== undefined);
  const text = lines.map((line, i) => html`${i > 0 ? ' \\\n  ' : ''}${line}`);
  return html`${text}`;
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
