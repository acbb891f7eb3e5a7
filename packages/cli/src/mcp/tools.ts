import type { CallToolResult, McpServer } from '@modelcontextprotocol/server';
import { SluiceError } from '@sluice/sdk';
import { RefusedError, UsageError } from '../failure.ts';
import type { RouteProxy } from '../routes/find-routes.ts';
import type { Answer } from './answer.ts';
import { callRoute, type RouteCall } from './call-route.ts';
import type { KeptSession } from './kept-session.ts';

export interface Serving {
  routes: readonly RouteProxy[];
  session: KeptSession;
  headerPrefix: string;
  /** Below the 60 s after which clients of the protocol give up, so that they get an error that says so. */
  answerMs: number;
}

type Schemas = Pick<typeof import('@modelcontextprotocol/server'), 'fromJsonSchema'>;

export function registerTools(server: McpServer, { fromJsonSchema }: Schemas, serving: Serving): void {
  const { routes, session, headerPrefix, answerMs } = serving;
  const names = routes.map(({ path_name }) => path_name);

  server.registerTool(
    'list_routes',
    {
      title: 'List routes',
      description: 'Lists the routes that you can use with the tool "call", and the host of each route.',
      inputSchema: fromJsonSchema<object>({ type: 'object', properties: {}, additionalProperties: false }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    () => ({ content: [{ type: 'text', text: JSON.stringify(routes.map(shownRoute)) }] }),
  );

  server.registerTool(
    'call',
    {
      title: 'Call a route',
      description:
        'Sends one HTTP request through a route, and returns status, content type and body of the response. Sluice adds the credential that the destination wants. To send a value that you stored with "tokenize", write {{ id }} with the id of its token. If the route replaces tokens, the destination receives the value. Otherwise it receives the text {{ id }}.',
      inputSchema: fromJsonSchema<RouteCall>(callSchema(names)),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    },
    (call, { mcpReq: { signal } }) =>
      toResult({ signal, answerMs, ifLost: callMayHaveActed }, (until) =>
        session.use(({ client }) => callRoute(call, { client, headerPrefix, until }), until),
      ),
  );

  server.registerTool(
    'tokenize',
    {
      title: 'Tokenize a value',
      description:
        'Stores a value and returns the id of a token for it. If a route replaces tokens, "call" can use the token with this route until the session ends. Sluice does not show the value again. A destination that receives the value may show it.',
      inputSchema: fromJsonSchema<{ value: string | number | object }>(valueSchema),
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    },
    ({ value }, { mcpReq: { signal } }) =>
      toResult({ signal, answerMs, ifLost: valueMayBeStored }, (until) =>
        session.use(async ({ client, container, expiresAt }) => {
          const body = { type: 'token' as const, data: value, containers: [container] };
          const { id } = await client.tokens.create(body, { signal: until });
          const usable = { expression: `{{ ${id} }}`, usable_until: expiresAt.toISOString() };
          return { text: [JSON.stringify({ id, ...usable })], isError: false };
        }, until),
      ),
  );
}

function shownRoute({ path_name, destination_url }: RouteProxy) {
  return { route: path_name, host: new URL(destination_url).host };
}

function callSchema(names: string[]) {
  return {
    type: 'object' as const,
    properties: {
      route: { type: 'string', enum: names, description: 'name of a route, from list_routes' },
      method: { type: 'string', pattern: '^[A-Z]{1,20}$', description: 'HTTP method, such as GET' },
      path: {
        type: 'string',
        pattern: '^(/.*)?$',
        description: 'path at the destination, with its query, such as /v1/charges?limit=3',
      },
      headers: {
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'headers for the destination. Credentials, and headers of Sluice (SVC-…), are refused',
      },
      body: {
        type: ['string', 'object', 'array'],
        description:
          'body of the request: text, or JSON. The content type is application/json, unless "headers" has a Content-Type',
      },
    },
    required: ['route', 'method', 'path'],
    additionalProperties: false,
  };
}

const valueSchema = {
  type: 'object' as const,
  properties: { value: { type: ['string', 'number', 'object', 'array'], description: 'the value to store' } },
  required: ['value'],
  additionalProperties: false,
};

const callMayHaveActed =
  'The destination may have acted on the call. Before you send the call again, find out whether it has.';
const valueMayBeStored = 'The value may have been stored. You can tokenize it again, which makes another token.';

class NoAnswer extends Error {}

interface Limit {
  signal: AbortSignal;
  answerMs: number;
  /** Said when the time is over. */
  ifLost: string;
}

async function toResult(
  { signal, answerMs, ifLost }: Limit,
  act: (until: AbortSignal) => Promise<Answer>,
): Promise<CallToolResult> {
  const limit = new AbortController();
  const message = `There was no answer within ${answerMs / 1000} s. ${ifLost}`;
  const timer = setTimeout(() => limit.abort(new NoAnswer(message)), answerMs);
  try {
    const { text, isError } = await act(AbortSignal.any([signal, limit.signal]));
    return resultOf(text, isError);
  } catch (error) {
    const isKnown = [SluiceError, RefusedError, UsageError, NoAnswer].some((known) => error instanceof known);
    if (!isKnown) throw error;
    return resultOf([(error as Error).message], true);
  } finally {
    clearTimeout(timer);
  }
}

function resultOf(text: readonly string[], isError: boolean): CallToolResult {
  return { content: text.map((one) => ({ type: 'text', text: one })), ...(isError && { isError }) };
}
