import type { OpenApiDocument, Part } from '@sluice/http-api';

const eventStream = 'text/event-stream';

/** How the library returns an answer. */
type AnswerKind = 'json' | 'list' | 'text' | 'stream' | 'events' | 'none';

/** An operation as the library and the command line see it: one row of their tables. */
export interface LibraryOperation {
  id: string;
  /** For example `['applications', 'keys', 'create']`. */
  name: readonly string[];
  method: string;
  path: string;
  /** Names of the path's parameters, in their order. */
  params: readonly string[];
  query: readonly QueryParameter[];
  /** Beginnings of names of further query parameters: `metadata.`. */
  queryPrefixes: readonly string[];
  body: { type: string; required: boolean; schema: Part } | undefined;
  answer: AnswerKind;
  takesIdempotencyKey: boolean;
  takesIfMatch: boolean;
  /** Whether it may be sent again when its answer was lost, because nothing is done twice. */
  repeatable: boolean;
  summary: string;
  permission: string | undefined;
}

interface QueryParameter {
  name: string;
  description: string;
  isList: boolean;
}

/** Every operation but the invocation's, in the order of the document. */
export function libraryOperations(document: OpenApiDocument): LibraryOperation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, operation]) => !['proxy', undefined].includes(operation['x-sluice-method'] as string | undefined))
      .flatMap(([method, operation]) => withEvents(operation, describe(document, { path, method, operation }))),
  );
}

/** What is also answered as an event stream has one more method, `watch`. */
function withEvents({ responses }: Part, operation: LibraryOperation): LibraryOperation[] {
  if (!JSON.stringify(responses).includes(`"${eventStream}"`)) return [operation];
  const name = [...operation.name.slice(0, -1), 'watch'];
  const summary = operation.summary.replace(/, newest first$/, ''); // A stream begins with the oldest
  return [
    operation,
    { ...operation, name, answer: 'events', summary: `${summary} as a stream of events that continues with new ones` },
  ];
}

interface Described {
  path: string;
  method: string;
  operation: Part;
}

function describe(document: OpenApiDocument, { path, method, operation }: Described): LibraryOperation {
  const parameters = (operation.parameters ?? []) as Part[];
  const name = String(operation['x-sluice-method']).split('.');
  const takes = (name: string) => parameters.some(({ $ref }) => $ref === `#/components/parameters/${name}`);
  const takesIdempotencyKey = takes('IdempotencyKey');
  const verb = name.at(-1) ?? '';
  return {
    id: String(operation.operationId),
    name,
    method: method.toUpperCase(),
    path: path.replace(/^\/api(?=\/)/, ''), // which is in the base URL of a client of the console
    params: [...path.matchAll(/\{(\w+)\}/g)].map(([, param]) => param ?? ''),
    query: parameters.filter((parameter) => parameter.in === 'query').map(toQueryParameter),
    queryPrefixes: ((operation['x-sluice-query-patterns'] ?? []) as string[]).map(prefixOf),
    body: bodyOf(document, operation),
    answer: answerOf(document, operation),
    takesIdempotencyKey,
    takesIfMatch: takes('IfMatch'),
    repeatable:
      ['get', 'put', 'delete'].includes(method) || takesIdempotencyKey || /^(search|detokenize|explain)/.test(verb),
    summary: String(operation.summary),
    permission: operation['x-sluice-permission'] as string | undefined,
  };
}

function toQueryParameter({ name, description, schema }: Part): QueryParameter {
  const { type, description: more } = schema as { type?: string; description?: string };
  return { name: String(name), description: String(description ?? more ?? ''), isList: type === 'array' };
}

function prefixOf(pattern: string): string {
  const prefix = /^\^(\w+)\\\.$/.exec(pattern)?.[1];
  if (!prefix) throw new Error(`The library does not know query parameters of the form ${pattern}`);
  return `${prefix}.`;
}

function bodyOf(document: OpenApiDocument, { requestBody }: Part): LibraryOperation['body'] {
  if (!requestBody) return undefined;
  const { required = false, content } = requestBody as {
    required?: boolean;
    content: Record<string, { schema: Part }>;
  };
  const [[type, media] = []] = Object.entries(content);
  if (!type || !media) throw new Error('A body has no media type');
  return { type, required, schema: resolve(document, media.schema) };
}

function answerOf(document: OpenApiDocument, { responses }: Part): AnswerKind {
  const successes = Object.entries(responses as Record<string, { content?: Record<string, { schema: Part }> }>)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content }]) => Object.entries(content ?? {}))
    .filter(([type]) => type !== eventStream);
  const types = successes.map(([type]) => type);
  if (types.length === 0) return 'none';
  if (types.some((type) => /ndjson|csv/.test(type))) return 'stream';
  if (types.every((type) => type.startsWith('text/plain'))) return 'text';
  return successes.every(([, { schema }]) => isList(resolve(document, schema))) ? 'list' : 'json';
}

/** The envelope of a list, or a plain array. */
function isList({ type, properties }: Part): boolean {
  return type === 'array' || (typeof properties === 'object' && properties !== null && 'pagination' in properties);
}

function resolve(document: OpenApiDocument, schema: Part): Part {
  const name = typeof schema.$ref === 'string' ? schema.$ref.split('/').at(-1) : undefined;
  return (name && document.components.schemas?.[name]) || schema;
}
