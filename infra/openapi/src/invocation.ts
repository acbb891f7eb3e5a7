import type { Part } from '@sluice/http-api';
import { failureReferences, failureResponses, proxyError } from './invocation-failures.ts';

/** The invocation has no operation record, because the gateway takes any method and any body. */

/** The gateway takes any method; the document lists the usual ones. */
const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;
type Method = (typeof methods)[number];

const description = `
Forwards the request to the \`destination_url\` of a Proxy and returns the destination's response unchanged, unless an
error occurs inside the proxy. Any HTTP method will do, and any body.

1. **The Proxy** is selected by its \`key\`, in the header \`SVC-PROXY-KEY\` or in the query parameter \`svc-proxy-key\`.
2. **Authentication.** When its \`require_auth\` is true, \`SVC-API-KEY\` is required and its Application needs \`token:use\`
   on each container of tokens that are detokenized, and at least one \`token:use\` even without tokens in the body. When
   it is false, any caller that knows the proxy key may invoke it anonymously; without a key nothing is detokenized.
3. **Detokenization.** Expressions in the body, \`{{ <token id> }}\`, are replaced by what the tokens stand for, written
   as the table of types in the description of the body says. A quoted text stands for itself, so that braces can be sent: \`{{ '{{' }}\`.
   A body that this changes, or that streams and may be changed, loses \`Content-MD5\`, \`Digest\`, \`Content-Digest\` and
   \`Repr-Digest\`, which are of the body as it was sent.
4. **The request transform** runs on what has come of it, with \`path\` the suffix after \`/proxy\` and \`query\` as sent. If it
   changes the length of a body that has \`Content-Range\`, the invocation is 400.
5. **The destination** is called: the suffix is appended to the path of \`destination_url\`, the query to its query, less
   the proxy key. Headers are forwarded, but for those of the connection, our own, and \`X-Forwarded-For\`, \`X-Real-IP\` and
   \`Forwarded\` unless the request transform sets them to another value; \`Authorization\` and the like are for the
   destination. We add only \`Host\`, \`Connection\`, \`Content-Length\` or \`Transfer-Encoding\`, \`CDN-Loop\`, and \`traceparent\`
   where \`TRACE_CONTEXT_TO_DESTINATIONS\` is set.
6. **The response transform** runs on the destination's response, whatever its status. What a transform throws of the
   module \`svc-errors\` becomes a failure with its status; \`CustomHttpResponseError\` is the whole answer. It needs whole
   responses, so \`Range\` and \`If-Range\` are not sent to the destination, and a 206 of the destination is 502.

Where \`SVC-PROXY-DESTINATION-STATUS\` is in the response, the status is the destination's: 4xx indicates a problem in the
integration with it, 5xx a problem at the destination. Where it is absent, the status is ours and the body is an object
with the member \`proxy_error\`: 4xx indicates a client-side issue, 5xx a problem of the service. If the destination had
answered before, \`proxy_error\` has its status as \`destination_status\`: then it may have acted on the request.

Beside it stands \`error\`, because published clients of payment and model APIs reject only on such a member, and show its
\`message\`; a path on this host that does not exist is answered with it, too. Where no retry can help,
\`x-should-retry: false\` and \`stripe-should-retry: false\` keep those clients from sending the request again.
`.trim();

const bodies = `
What the destination takes, with expressions in place of values. Other media types pass too.

### How values are written

| content type of the body | expressions | a value is written |
|---|---|---|
| \`application/json\`, \`text/json\`, \`+json\`, \`x-amz-json-*\`, and several JSON texts: \`x-ndjson\`, \`jsonl\`, \`json-seq\` | in strings, not in names | escaped; a string that is nothing but one expression becomes the object or array |
| none | as in JSON, if the body parses as JSON, else none | as in JSON |
| \`application/x-www-form-urlencoded\` | in values | percent-encoded |
| \`multipart/form-data\` | in parts without a file name that have no type, \`text/*\` or JSON | as the type of the part says |
| \`+xml\`, \`application/xml\`, \`text/xml\` | anywhere | escaped for its place: \`&\`, \`<\`, \`>\` and quotes, line ends and tabs in attributes, carriage returns as references. In CDATA as it is, with \`]]>\` divided between two sections |
| \`text/html\` | anywhere | as in XML; in \`script\` and \`style\` as it is |
| \`text/csv\` | anywhere | in a quoted cell with quotes doubled |
| other \`text/*\`, \`application/graphql\`, \`application/yaml\`, \`x-yaml\`, \`+yaml\`, \`application/toml\`, \`application/x-ofx\` | anywhere | **as it is: nothing is escaped** |
| all others | none | |

A value that its place cannot hold is 400: what XML 1.0 has no character for, \`--\` in a comment of XML, what ends a
comment of HTML or a processing instruction together with the text around it, \`</\` and \`<!--\` in \`script\` and \`style\`, a quote, comma, semicolon, tab or line end in a cell of CSV without quotes, and a character that
the charset of the body lacks where it cannot be escaped. Where the value comes of a filter, empty text is written instead of an error.

### Charsets

The charset of a body is that of its byte order mark, otherwise the one that its content type names, otherwise the one that
an XML declaration or an HTML \`<meta>\` within the first 1,024 bytes names, otherwise UTF-8. Names are those of the WHATWG
Encoding Standard.

| body | charsets in which expressions are replaced | characters of a value beyond ASCII |
|---|---|---|
| XML and HTML | all but ISO-2022-JP and \`replacement\` | in UTF-8 and UTF-16 as they are; in others as references (\`&#233;\`). Where no reference is read (CDATA, comments, processing instructions, \`script\`, \`style\`, names) in the charset of the body |
| JSON | UTF-8, UTF-16 and single-byte ones (ISO-8859, Windows-125x, KOI8 and the like) | in UTF-8 and UTF-16 as they are; in others as \`\\u00e9\` |
| forms | UTF-8 and single-byte ones | percent-encoded in the charset of the body |
| CSV and other text | UTF-8, UTF-16 and single-byte ones | in the charset of the body |

An expression in a body of another charset is 415. If only the document itself declares a charset that is not supported, it counts as UTF-8.

Transforms read and write UTF-8, UTF-16 and single-byte charsets. A body that is not text in its charset, or whose content
type names another one, is 415 in a request and 502 in a response; a result with characters that its charset lacks is 500.
JSON may begin with a byte order mark. Of several JSON texts (\`x-ndjson\`) the transform sees the text.
`.trim();

const parameter = (name: string): Part => ({ $ref: `#/components/parameters/${name}` });

/** `/proxy`, and everything below it. */
export function invocationPaths(): Record<string, Record<string, Part>> {
  const suffix = {
    name: 'path',
    in: 'path',
    required: true,
    description:
      'The suffix: one segment or several. Slashes go to the destination as they are sent; many clients, this page among them, escape them, so write longer paths in a client of your own',
    schema: { type: 'string' },
  };
  return {
    '/proxy': operationsOf('invokeProxy', []),
    '/proxy/{path}': operationsOf('invokeProxyPath', [suffix]),
  };
}

function operationsOf(id: string, parameters: Part[]): Record<string, Part> {
  return Object.fromEntries(methods.map((method) => [method, operation(method, id, parameters)]));
}

function operation(method: Method, id: string, parameters: Part[]): Part {
  const name = `${method[0]?.toUpperCase()}${method.slice(1)}`;
  const hasBody = method !== 'get' && method !== 'delete';
  return {
    operationId: `${id}${name}`,
    tags: ['Invocations'],
    summary: `Invoke a Proxy with ${method.toUpperCase()}${parameters.length > 0 ? ' and a path' : ''}`,
    description,
    security: [{ ApiKey: [] }, {}],
    parameters: [
      ...parameters,
      parameter('ProxyKey'),
      parameter('ProxyKeyInQuery'),
      parameter('ProxyKeepAlive'),
      parameter('ProxyConnection'),
      parameter('TraceId'),
    ],
    ...(hasBody && { requestBody: { $ref: '#/components/requestBodies/Invocation' } }),
    responses: {
      default: { $ref: '#/components/responses/DestinationResponse' },
      ...failureReferences,
    },
  };
}

/** The components to which the invocation's operations refer. */
export const invocationComponents: Record<string, Record<string, Part>> = {
  parameters: {
    ProxyKey: {
      name: 'SVC-PROXY-KEY',
      in: 'header',
      description: 'The `key` of the Proxy. Required, here or in the query',
      schema: { type: 'string' },
    },
    ProxyKeyInQuery: {
      name: 'svc-proxy-key',
      in: 'query',
      description: 'The `key` of the Proxy, for callers that cannot set headers',
      schema: { type: 'string' },
    },
    ProxyKeepAlive: {
      name: 'SVC-PROXY-KEEP-ALIVE',
      in: 'header',
      description: 'Injected into the `KEEP-ALIVE` header of the call to the destination',
      schema: { type: 'string', maxLength: 256 },
    },
    ProxyConnection: {
      name: 'SVC-PROXY-CONNECTION',
      in: 'header',
      description: 'Injected into the `CONNECTION` header of the call to the destination',
      schema: { type: 'string', maxLength: 256 },
    },
  },
  requestBodies: {
    Invocation: {
      description: bodies,
      content: {
        'application/json': {
          schema: {
            description: 'Any JSON',
            examples: [{ amount: 4200, card_number: '{{ 2e7f4a51-9b8e-4f6c-8d3a-1c5b0e9f7a24 | json: "$.number" }}' }],
          },
        },
        'application/x-www-form-urlencoded': { schema: { type: 'object', additionalProperties: { type: 'string' } } },
      },
    },
  },
  headers: {
    DestinationStatus: {
      description: "The destination's status. Absent where the answer is ours",
      schema: { type: 'integer', minimum: 100, maximum: 599 },
    },
    ShouldRetry: {
      description: '`false` where the same request would be refused again. Absent where a retry may help',
      schema: { type: 'string', enum: ['false'] },
    },
  },
  responses: {
    DestinationResponse: {
      description: "The destination's response, whatever its status, or what the response transform made of it.",
      headers: {
        'SVC-TRACE-ID': { $ref: '#/components/headers/TraceId' },
        'SVC-PROXY-DESTINATION-STATUS': { $ref: '#/components/headers/DestinationStatus' },
      },
      content: {
        '*/*': { schema: { description: 'What the destination answers', examples: [{ status: 'approved' }] } },
      },
    },
    ...failureResponses,
  },
  schemas: {
    ProxyError: proxyError,
  },
};
