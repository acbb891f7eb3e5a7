import type { Part } from '@sluice/http-api';
import { failureReferences, failureResponses, proxyError } from './invocation-failures.ts';

/** The invocation has no operation record, because the gateway takes any method and any body. */

/** The gateway takes any method; the document lists the usual ones. */
const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;
type Method = (typeof methods)[number];

const description = `
Forwards the request to the \`destination_url\` of a Proxy and returns the response of the destination unchanged, unless an
error occurs inside the proxy. Every HTTP method and every body is accepted.

1. **The Proxy** is selected by its \`key\`, in the header \`SVC-PROXY-KEY\` or in the query parameter \`svc-proxy-key\`.
2. **Authentication.** If \`require_auth\` of the Proxy is true, \`SVC-API-KEY\` is required. Its Application needs
   \`token:use\`, also for a body without tokens, and on the container of each token in the body. If \`require_auth\` is
   false, every caller that knows the proxy key may invoke the Proxy. Without an API key no token is replaced.
3. **Detokenization.** Expressions in the body, and in other places that \`token_places\` of the Proxy names,
   \`{{ <token id> }}\`, are replaced with the values of the tokens. The table
   in the description of the body says how values are written. A quoted text is replaced with the text, so you can send
   braces: \`{{ '{{' }}\`. If the body changes, or is streamed and may change, the headers \`Content-MD5\`, \`Digest\`,
   \`Content-Digest\` and \`Repr-Digest\` are removed, because they describe the original body.
4. **The request transform** runs on the detokenized body. Its \`path\` (the suffix after \`/proxy\`), \`query\` and
   \`headers\` are as sent, with expressions in place of values. Path and query always go on with their values, a header if
   the transform leaves its text as it is. If the request has \`Content-Range\`, the transform must keep the length of the
   body. Otherwise the response is 400.
5. **The destination** is called. The suffix is appended to the path of \`destination_url\`, and the query, without the proxy
   key, to its query. \`Authorization\` and all other headers are forwarded, except:
   - headers of the connection, and headers whose names begin with \`SVC-\`
   - \`X-Forwarded-For\`, \`X-Real-IP\` and \`Forwarded\`, unless the request transform sets them to another value

   Sluice adds only \`Host\`, \`Connection\`, \`Content-Length\` or \`Transfer-Encoding\`, \`CDN-Loop\`, and \`traceparent\` if
   \`TRACE_CONTEXT_TO_DESTINATIONS\` is set.
6. **The response transform** runs on the response of the destination, with every status. It needs the whole response. So
   \`Range\` and \`If-Range\` are not sent to the destination, and a 206 of the destination is 502.
7. **The response guard** runs last, on every response, if the Proxy has a \`response_guard\`. It looks for the values that
   expressions, \`{{ config: NAME }}\` and \`req.svc\` of the request transform put into the request, in reason phrase, headers,
   body and trailers, and replaces them, or ends the response. \`Range\` and \`If-Range\` are not sent, and \`Accept-Encoding\` is
   \`gzip, identity\`; a 206 and another coding are 502. \`Content-Length\`, \`ETag\`, \`Content-MD5\` and \`Digest\` are removed where
   something was replaced, and from every response that streams. A request with over 1,000 values, or 64 KiB of them, is 413.

If a transform throws an error of the module \`svc-errors\`, the response has the status of the error. A
\`CustomHttpResponseError\` is the whole response.

**Who sent the status?** If the response has \`SVC-PROXY-DESTINATION-STATUS\`, the status is from the destination: 4xx means a
problem in your integration with the destination, 5xx a problem at the destination. If the header is absent, the status is
from Sluice, and the body is an object with the member \`proxy_error\`: 4xx means a problem in the request, 5xx a problem in
the service. If the destination had already answered, \`proxy_error\` has the member \`destination_status\`. The destination
may then have acted on the request.

**Published clients** of payment and model APIs read only a member \`error\`, so it has the same error once more. It is also in
the 404 of a path that does not exist on this host. \`x-should-retry: false\` and \`stripe-should-retry: false\` tell these
clients not to send the request again: if a retry cannot help, or if a POST or PATCH without \`Idempotency-Key\` was sent to
the destination, which may have acted on it.
`.trim();

const bodies = `
The body for the destination, with expressions in place of values. Other media types are forwarded unchanged.

### How values are written

| content type of the body | expressions | a value is written |
|---|---|---|
| \`application/json\`, \`text/json\`, \`+json\`, \`x-amz-json-*\`, and sequences of JSON texts: \`x-ndjson\`, \`jsonl\`, \`json-seq\` | in strings, not in names | escaped. If the string is only one expression and the value is an object or array, that replaces the string |
| none | if the body is valid JSON, as in JSON. Otherwise none | as in JSON |
| \`application/x-www-form-urlencoded\` | in values | percent-encoded |
| \`multipart/form-data\` | in parts without a file name that have no type, \`text/*\` or JSON | as the type of the part says |
| \`+xml\`, \`application/xml\`, \`text/xml\` | anywhere | escaped for its place: \`&\`, \`<\`, \`>\` and quotes, line ends and tabs in attributes, carriage returns as references. In CDATA unchanged, with \`]]>\` divided between two sections |
| \`text/html\` | anywhere | as in XML. In \`script\` and \`style\` unchanged |
| \`text/csv\` | anywhere | in a quoted cell with quotes doubled. Otherwise unchanged |
| other \`text/*\`, \`application/graphql\`, \`application/yaml\`, \`x-yaml\`, \`+yaml\`, \`application/toml\`, \`application/x-ofx\` | anywhere | **unchanged: nothing is escaped** |
| all others | none | |

Some values cannot be written in some places. The response is then 400. If the expression has a filter, empty text is
written instead. These are:

- in XML, a character that XML 1.0 does not allow
- in a comment of XML, \`--\`
- in a comment of HTML or a processing instruction, text that would end it
- in \`script\` and \`style\`, \`</\` and \`<!--\`
- in a cell of CSV without quotes, a quote, comma, semicolon, tab or line end
- where nothing is escaped, a character that the charset of the body does not have

### Places outside the body

A Proxy names in \`token_places\` where expressions are replaced: by default only in the body.

| place | expressions | a value is written | what cannot stand there |
|---|---|---|---|
| \`query\` | in names and values, each percent-decoded, \`+\` as a blank | percent-encoded but for letters, digits and \`-._~\` | |
| \`path\` | in segments, percent-decoded | as in a query; \`/\` as \`%2F\` | a backslash, a NUL or a slash that is percent-encoded up to twice, and what makes a part of the path \`.\` or \`..\` |
| \`header:<name>\` | in each line of this header | as it is | anything but printable ASCII characters, and a blank at an end |

A pair, segment or line without an expression goes to the destination byte for byte, and so does the text around an
expression. A header line, and path and query together, may have 16 KiB with their values. The same holds for headers that
the Proxy sets (\`request_headers\`): these replace headers of the same names from the caller and the request transform,
and no transform sees them. Their tokens are revealed with the rights of the Proxy's Application where the Proxy names one.
If that Application was deleted or has expired, the invocation is 403 until the Proxy names another one, or \`null\`.

An expression outside the body always needs an API key (401). All expressions of a request count together: at most 10,000,
with 100 different tokens.

### Charsets

The charset of a body is the first that is given by: its byte order mark, its content type, an XML declaration or an HTML
\`<meta>\` in its first 1,024 bytes. Otherwise it is UTF-8. Names of charsets are those of the WHATWG Encoding Standard.

| body | charsets in which expressions are replaced | characters of a value beyond ASCII |
|---|---|---|
| XML and HTML | all but ISO-2022-JP and \`replacement\` | in UTF-8 and UTF-16 unchanged; in others as references (\`&#233;\`). In places without references (CDATA, comments, processing instructions, \`script\`, \`style\`, names) in the charset of the body |
| JSON | UTF-8, UTF-16 and single-byte ones (ISO-8859, Windows-125x, KOI8 and the like) | in UTF-8 and UTF-16 unchanged; in others as \`\\u00e9\` |
| forms | UTF-8 and single-byte ones | percent-encoded in the charset of the body |
| CSV and other text | UTF-8, UTF-16 and single-byte ones | in the charset of the body |

An expression in a body of another charset is 415. If only the document itself declares an unsupported charset, the body
counts as UTF-8.

Transforms read and write UTF-8, UTF-16 and single-byte charsets. A request is 415, and a response 502, if the body is not
valid text in its charset, or if its content type names another charset. A result of a transform with characters that its
charset does not have is 500. JSON may begin with a byte order mark. A sequence of JSON texts (\`x-ndjson\`) is passed to the
transform as text.
`.trim();

const parameter = (name: string): Part => ({ $ref: `#/components/parameters/${name}` });

/** `/proxy`, and everything below it. */
export function invocationPaths(): Record<string, Record<string, Part>> {
  const suffix = {
    name: 'path',
    in: 'path',
    required: true,
    description:
      'Path that is appended to the path of `destination_url`: one or more segments. Slashes are sent unchanged. Many clients escape slashes in a path parameter, so build longer paths yourself',
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
      description: 'The `key` of the Proxy. Required, unless it is in the query',
      schema: { type: 'string' },
    },
    ProxyKeyInQuery: {
      name: 'svc-proxy-key',
      in: 'query',
      description: 'The `key` of the Proxy, for callers that cannot send headers',
      schema: { type: 'string' },
    },
    ProxyKeepAlive: {
      name: 'SVC-PROXY-KEEP-ALIVE',
      in: 'header',
      description: 'Sent as the `Keep-Alive` header of the call to the destination',
      schema: { type: 'string', maxLength: 256 },
    },
    ProxyConnection: {
      name: 'SVC-PROXY-CONNECTION',
      in: 'header',
      description: 'Sent as the `Connection` header of the call to the destination',
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
      description: 'Status of the destination. Absent if the response is from Sluice',
      schema: { type: 'integer', minimum: 100, maximum: 599 },
    },
    ShouldRetry: {
      description:
        '`false` if a retry cannot help, or if the destination may act a second time. Absent if a retry may help',
      schema: { type: 'string', enum: ['false'] },
    },
  },
  responses: {
    DestinationResponse: {
      description: 'The response of the destination with any status, as changed by the response transform.',
      headers: {
        'SVC-TRACE-ID': { $ref: '#/components/headers/TraceId' },
        'SVC-PROXY-DESTINATION-STATUS': { $ref: '#/components/headers/DestinationStatus' },
      },
      content: {
        '*/*': {
          schema: { description: 'Body of the response of the destination', examples: [{ status: 'approved' }] },
        },
      },
    },
    ...failureResponses,
  },
  schemas: {
    ProxyError: proxyError,
  },
};
