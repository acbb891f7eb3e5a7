import { type Html, html, type OpenApiDocument } from '@sluice/http-api';
import { type LibraryOperation, libraryOperations } from '../library/operations.ts';
import { follow, nameOf, type Operation, type Parameter, type Schema } from './document.ts';
import { exampleOf, invocationBody } from './example.ts';
import { literal } from './literal.ts';

/** The call of each operation by the client library, by the operation's id. Operations without a method have none. */
export function typescriptExamples(document: OpenApiDocument): Map<string, string> {
  const methods = Map.groupBy(libraryOperations(document), ({ id }) => id);
  const examples = new Map<string, string>();
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, part] of Object.entries(item)) {
      const operation = part as unknown as Operation;
      const { operationId: id, 'x-sluice-method': name } = operation;
      const calls = methods.get(id)?.map((own) => callOf(own, operation, document)) ?? [];
      if (name === 'proxy') examples.set(id, invocationOf(path, method, operation));
      else if (calls.length > 0) examples.set(id, calls.join('\n\n'));
    }
  }
  return examples;
}

function callOf(own: LibraryOperation, operation: Operation, document: OpenApiDocument): string {
  const { name, params, body, answer } = own;
  const texts = [
    ...params.map(camelCase),
    ...(body ? [literal(exampleOf(body.schema as Schema, document))] : []),
    ...queryOf(operation, document),
  ];
  const call = `sluice.${name.join('.')}(${texts.join(', ')})`;
  const item = singular(isPlainList(own) ? (name.at(-2) ?? '') : (name.at(-1) ?? ''));
  const lines: Record<typeof answer, string> = {
    list: `for await (const ${item} of ${call}) {\n  console.log(${item});\n}`,
    events: `for await (const { event, data } of ${call}) {\n  console.log(event, data);\n}`,
    json: `const ${resultOf(operation)} = await ${call};`,
    text: `const ${name.at(-1)} = await ${call};`,
    stream: `const response = await ${call};\nconsole.log(await response.text());`,
    none: `await ${call};`,
  };
  const client = name[0] === 'console' ? 'const sluice = new Sluice({ console: true });\n' : '';
  return client + lines[answer];
}

/** `applications.list` is a list of Applications, but `tenant.dataKeys` of data keys. */
function isPlainList({ name }: LibraryOperation): boolean {
  return /^(list|search)/.test(name.at(-1) ?? '');
}

/** Required parameters only. */
function queryOf({ parameters }: Operation, document: OpenApiDocument): string[] {
  const required = parameters
    .map((parameter) => follow<Parameter>(parameter, document))
    .filter((parameter) => parameter.in === 'query' && parameter.required);
  if (required.length === 0) return [];
  return [literal(Object.fromEntries(required.map(({ name, schema }) => [name, exampleOf(schema, document)])))];
}

/** Named after the object in the response. */
function resultOf({ responses }: Operation): string {
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
  const schema = success?.content?.['application/json']?.schema ?? {};
  const name = nameOf(schema)
    ?.replace(/^New/, '')
    .replace(/With(Key|Url)$/, '');
  return name ? `${name[0]?.toLowerCase()}${name.slice(1)}` : 'result';
}

function invocationOf(path: string, method: string, { requestBody }: Operation): string {
  const rest = path.endsWith('}') ? '/charges' : '';
  const settings = [
    ...(method === 'get' ? [] : [`  method: '${method.toUpperCase()}',`]),
    ...(requestBody
      ? [`  headers: { 'Content-Type': 'application/json' },`, `  body: JSON.stringify(${literal(invocationBody)}),`]
      : []),
  ];
  const init = settings.length > 0 ? `, {\n${settings.join('\n')}\n}` : '';
  return `const response = await sluice.proxy(proxyKey).send('${rest}'${init});`;
}

const singulars: Readonly<Record<string, string>> = { proxies: 'proxy' };

function singular(noun: string): string {
  return singulars[noun] ?? noun.replace(/s$/, '');
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

const token =
  /('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`)|\b(await|const|for|new|of|true|false|null|\d+)\b|\w+(?=:)/gs;

/** With its texts, keywords and names marked for the style sheet. */
export function highlightTypeScript(code: string): Html {
  const parts: Html[] = [];
  let end = 0;
  for (const found of code.matchAll(token)) {
    const [text, quoted, word] = found;
    const kind = quoted === undefined ? (word === undefined ? 'name' : 'atom') : 'text';
    parts.push(html`${code.slice(end, found.index)}<span class="${kind}">${text}</span>`);
    end = found.index + text.length;
  }
  return html`${parts}${code.slice(end)}`;
}
