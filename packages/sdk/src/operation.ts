import type { ChangeOptions } from './call-options.ts';
import { SluiceError } from './errors.ts';
import { readEvents } from './events.ts';
import { operations } from './generated/operations.gen.ts';
import { type Content, hideValues } from './hide-values.ts';
import { JsonText } from './json-text.ts';
import { List } from './list.ts';
import { type Sendable, send, UnreadableAnswer } from './send.ts';
import { checkBounds, type Settings } from './settings.ts';

/** A row of the table of operations. */
interface Operation {
  name: string;
  http: string;
  body?: string;
  query?: true;
  answer: 'json' | 'list' | 'text' | 'stream' | 'events' | 'none';
  key?: true;
  ifMatch?: true;
  repeatable?: true;
}

/** By operation, if its response is not a resource. */
const contents: Readonly<Record<string, Content>> = {
  tokenize: 'tokens',
  detokenize: 'value',
  'reactors.react': 'value',
  'reactors.results.get': 'value',
};

/** The arguments of a call. */
interface Input {
  params: string[];
  body: unknown;
  query: Record<string, unknown>;
  options: ChangeOptions;
}

/** The methods of all operations, in the tree of resources that their names form. */
export function methodsOf(settings: Settings): object {
  const root = {};
  for (const operation of Object.values<Operation>(operations)) {
    const words = operation.name.split('.');
    const verb = words.pop() ?? '';
    let resource: Record<string, unknown> = root;
    for (const word of words) {
      resource[word] ??= {};
      resource = resource[word] as Record<string, unknown>;
    }
    resource[verb] = (...args: unknown[]) => call(operation, readArguments(operation, args), settings);
  }
  return root;
}

/** Parameters of the path come first, then body, query and options. */
function readArguments({ http, body, query }: Operation, args: unknown[]): Input {
  const rest = [...args];
  const params = [...http.matchAll(/\{/g)].map(() => rest.shift() as string);
  return {
    params,
    body: body ? rest.shift() : undefined,
    query: (query ? (rest.shift() ?? {}) : {}) as Record<string, unknown>,
    options: (rest.shift() ?? {}) as ChangeOptions,
  };
}

function call(operation: Operation, input: Input, settings: Settings): unknown {
  if (operation.answer === 'events') {
    return readEvents(() => request(operation, input, settings) as Promise<Response>, operation.http);
  }
  if (operation.answer !== 'list') return request(operation, input, settings);
  return new List((position) => {
    const place = typeof position === 'string' ? { start: position } : position !== undefined && { page: position };
    // A cursor contains position and totals, so a page number is not sent with it.
    const at = (of: object) => ({ ...of, ...(typeof position === 'string' && { page: undefined }), ...place });
    const isSearch = operation.body !== undefined;
    return request(
      operation,
      isSearch ? { ...input, body: at(Object(input.body)) } : { ...input, query: at(input.query) },
      settings,
    );
  });
}

async function request(operation: Operation, input: Input, settings: Settings): Promise<unknown> {
  const { options } = input;
  const bounds = { timeoutMs: options.timeoutMs ?? settings.timeoutMs, retries: options.retries ?? settings.retries };
  checkBounds(bounds);
  const read = async (response: Response) => {
    const answer = await readAnswer(operation, response);
    options.onHeaders?.(response.headers);
    return answer;
  };
  const answer = await send(toSendable(operation, input, settings), read, { ...options, ...bounds });
  refuseDropped(operation, input.body, answer);
  return isStream(operation) ? answer : hideValues(answer, contents[operation.name]);
}

/** Members that restrict. A process of a version before ignores them. */
const restricting = ['proxies', 'allowed_methods', 'allowed_paths', 'response_guard', 'use'];

/** Values that restrict nothing: `off` of a guard. */
const open: readonly unknown[] = [undefined, null, 'off'];

/**
 * During an upgrade a process of the version before may have stored a resource without a member that restricts it.
 * @throws {SluiceError} naming the member and the resource.
 */
function refuseDropped({ http }: Operation, body: unknown, answer: unknown): void {
  if (!/^(POST|PUT|PATCH) /.test(http) || !isObject(answer) || typeof answer.id !== 'string') return;
  // A key that may change a token but not read it gets no members in answer to a PATCH.
  if (http.startsWith('PATCH ') && answer.created_at === undefined) return;
  const sent: unknown = body instanceof JsonText ? JSON.parse(body.text) : body;
  if (!isObject(sent)) return;
  const dropped = restricting.filter((member) => !open.includes(sent[member]) && answer[member] === undefined);
  if (dropped.length === 0) return;
  const what = `${dropped.join(', ')} was not stored in ${answer.id}`;
  const detail = `${what}. The process that handled the request is probably of an earlier version, which ignores this field`;
  throw new SluiceError({ operation: http, title: 'A member was not stored', detail });
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function toSendable(operation: Operation, { params, body, query, options }: Input, settings: Settings): Sendable {
  const { baseUrl, docsUrl, headerPrefix, headers, fetch } = settings;
  const [method = '', template = ''] = operation.http.split(' ');
  const sent = headers();
  if (options.traceId !== undefined) sent.set(`${headerPrefix}-TRACE-ID`, options.traceId);
  if (operation.answer === 'events') sent.set('Accept', 'text/event-stream');
  if (operation.key) sent.set(`${headerPrefix}-IDEMPOTENCY-KEY`, options.idempotencyKey ?? randomKey());
  if (options.ifMatch !== undefined) sent.set('If-Match', ifMatchOf(operation, options.ifMatch));
  if (body !== undefined && operation.body) sent.set('Content-Type', operation.body);
  return {
    operation: operation.http,
    url: baseUrl + fill(template, params) + queryText(query),
    init: {
      method,
      headers: sent,
      ...(body !== undefined && { body: body instanceof JsonText ? body.text : JSON.stringify(body) }),
    },
    isRepeatable: operation.repeatable === true,
    headerPrefix,
    docsUrl,
    fetch,
  };
}

/** @throws {TypeError} for what is no time, because the service would ignore or refuse it. */
function ifMatchOf({ name, ifMatch }: Operation, version: string): string {
  if (!ifMatch) throw new TypeError(`${name} takes no ifMatch`);
  if (!/^[\w:.+-]+$/.test(version))
    throw new TypeError('ifMatch must be the modified_at, or else created_at, of what was read');
  return `"${version}"`;
}

/**
 * @throws {TypeError} for an id that would change the path. It does not quote the id, which may be a value by mistake.
 */
function fill(template: string, params: readonly string[]): string {
  let index = 0;
  return template.replace(/\{(\w+)\}/g, (_, name) => {
    const value = params[index++];
    if (typeof value !== 'string' || /^\.{0,2}$/.test(value)) throw new TypeError(`${name} must be an id`);
    return encodeURIComponent(value);
  });
}

function queryText(query: Record<string, unknown>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) => {
    const values = Array.isArray(value) ? value : [value];
    return values.filter((one) => one !== undefined && one !== null).map((one) => [name, String(one)]);
  });
  return pairs.length > 0 ? `?${new URLSearchParams(pairs)}` : '';
}

function isStream({ answer }: Pick<Operation, 'answer'>): boolean {
  return answer === 'stream' || answer === 'events';
}

async function readAnswer({ answer }: Operation, response: Response): Promise<unknown> {
  if (isStream({ answer })) return response;
  const text = await response.text();
  if (answer === 'none' || response.status === 204) return undefined;
  if (answer === 'text') return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new UnreadableAnswer(response.status); // the parser's message would quote the answer
  }
}

/** 128 random bits. Pages without https have no `crypto.randomUUID`. */
function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
