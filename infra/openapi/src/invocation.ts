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
2. **Authentication.** If \`require_auth\` of the Proxy is true, \`SVC-API-KEY\` is required. Its Application needs \`token:use\`, even
   if the request names no token. It needs \`token:use\` on the container of each token that the request names. If \`require_auth\` is
   false, every caller that knows the proxy key may invoke the Proxy. Without an API key no token is replaced.
3. **Detokenization.** Expressions such as \`{{ <token id> }}\` are replaced with the values of the tokens, in the body or in the
   places that \`token_places\` of the Proxy names. The table in the description of the body says how values are written. If an
   expression contains only a quoted text, the text replaces the expression. So you can send
   braces: \`{{ '{{' }}\` becomes \`{{\`. If the body changes, or is streamed and may change, the headers \`Content-MD5\`, \`Digest\`,
   \`Content-Digest\` and \`Repr-Digest\` are removed, because they describe the original body.
4. **The request transform** runs on the detokenized body. It gets \`path\` (the suffix after \`/proxy\`), \`query\`
   and \`headers\` as the caller sent them, with expressions instead of values. After the transform, expressions in path and
   query are replaced. Expressions in a header are replaced only if the transform has not changed the text of the header. If
   the request has \`Content-Range\`, and the transform changes the length of the body, the response is 400.
5. **The destination** is called. The suffix is appended to the path of \`destination_url\`, and the query, without the proxy
   key, to its query. \`Authorization\` and all other headers are forwarded, except:
   - headers that concern only the connection, such as \`Keep-Alive\`, and headers whose names begin with \`SVC-\`
   - \`X-Forwarded-For\`, \`X-Real-IP\` and \`Forwarded\`, unless the request transform sets them to another value

   Sluice adds only \`Host\`, \`Connection\`, \`Content-Length\` or \`Transfer-Encoding\`, \`CDN-Loop\`, and \`traceparent\` if
   \`TRACE_CONTEXT_TO_DESTINATIONS\` is set.
6. **The response transform** runs on the response of the destination, with every status. It needs the whole response. So
   \`Range\` and \`If-Range\` are not sent to the destination, and if the destination sends a 206, the response is 502.
7. **The response guard** runs last, on every response, if the Proxy has a \`response_guard\`. It looks in the reason
   phrase, the headers, the body and the trailers for values that came into the request by expressions, by
   \`{{ config: NAME }}\` or by \`req.svc\` of the request transform. It replaces these values, or ends the response. \`Range\` and
   \`If-Range\` are not sent to the destination, and \`Accept-Encoding\` is \`gzip, identity\`. If the destination sends a 206 or
   another coding, the response is 502. \`Content-Length\`, \`ETag\`, \`Content-MD5\` and \`Digest\` are removed if a value was
   replaced, and from every streamed response. If the guard would have to look for more than 1,000 values of one
   request, or for more than 64 KiB of values, the response is 413.

If a transform throws an error of the module \`svc-errors\`, the response has the status of the error. A
\`CustomHttpResponseError\` sets the whole response.

**Who sent the status?** If the response has \`SVC-PROXY-DESTINATION-STATUS\`, the status is from the destination: 4xx means a
problem in your integration with the destination, 5xx a problem at the destination. If the header is absent, the status is
from Sluice, and the body is an object with the field \`proxy_error\`: 4xx means a problem in the request, 5xx a problem in
the service. If the destination had already answered, \`proxy_error\` has the field \`destination_status\`. The destination
may then have acted on the request.

**Client libraries** of payment and model APIs read errors only from a field \`error\`, so the body has the same error there
once more. The 404 for a path that does not exist on this host also has this field. The headers \`x-should-retry: false\` and
\`stripe-should-retry: false\` tell these libraries not to send the request again. They are sent if a retry cannot help. They
are also sent if a POST or PATCH without \`Idempotency-Key\` was sent to the destination, which may have acted on it.
`.trim();

const bodies = `
The body for the destination, with expressions in place of values. The table names the media types in
which expressions are replaced. Bodies of all other media types are forwarded unchanged.

### How values are written

| content type of the body | expressions | a value is written |
|---|---|---|
| \`application/json\`, \`text/json\`, \`+json\`, \`x-amz-json-*\`, and sequences of JSON texts: \`x-ndjson\`, \`jsonl\`, \`json-seq\` | in strings, not in names | escaped. If the string is only one expression and the value is an object or array, the value replaces the string |
| no content type | as in JSON if the body is valid JSON. Expressions in other bodies are not replaced | as in JSON |
| \`application/x-www-form-urlencoded\` | in values | percent-encoded |
| \`multipart/form-data\` | in parts without a file name, if the content type of the part is \`text/*\` or JSON, or if the part has no content type | as in a body with the content type of the part; without a content type as in \`text/plain\` |
| \`+xml\`, \`application/xml\`, \`text/xml\` | anywhere | escaped: \`&\`, \`<\`, \`>\`, quotes and carriage returns, in attributes also line ends and tabs. In CDATA unchanged, but \`]]>\` is divided between two sections |
| \`text/html\` | anywhere | as in XML. In \`script\` and \`style\` unchanged |
| \`text/csv\` | anywhere | in a quoted cell with quotes doubled, in other cells unchanged |
| other \`text/*\`, \`application/graphql\`, \`application/yaml\`, \`x-yaml\`, \`+yaml\`, \`application/toml\`, \`application/x-ofx\` | anywhere | **unchanged: nothing is escaped** |
| all others | not replaced | |

The following values cannot be written. If the expression has a filter, empty text is written instead. If it has no filter,
the response is 400.

- in XML: a character that XML 1.0 does not allow
- in a comment of XML: \`--\`
- in a comment of HTML: text that would end the comment
- in a processing instruction of XML: text that would end the instruction
- in the elements \`script\` and \`style\` of HTML: \`</\` or \`<!--\`
- in a cell of CSV that is not in quotes: a quote, a comma, a semicolon, a tab or a line end
- where nothing is escaped: a character that the charset of the body does not have

### Places outside the body

\`token_places\` of a Proxy says where expressions are replaced. The default is only the body.

| place | expressions | a value is written | not allowed in a value |
|---|---|---|---|
| \`query\` | in names and values, each percent-decoded, \`+\` as a blank | percent-encoded, except letters, digits and \`-._~\` | |
| \`path\` | in segments, percent-decoded | as in a query; \`/\` as \`%2F\` | a backslash, a NUL, a slash that is already percent-encoded (once or twice), and a value that makes a segment \`.\` or \`..\` |
| \`header:<name>\` | in each line of this header | unchanged | characters other than printable ASCII, and a blank at the beginning or the end |

Text without an expression, and text around an expression, is sent to the destination byte for byte. After the replacement a
header line may have at most 16 KiB, and so may path and query together.

Headers that the Proxy sets (\`request_headers\`) have the same limits. They replace headers of the same names from the caller
and the request transform, and no transform sees them. If the Proxy has an Application, their tokens are revealed with the
rights of this Application. If the Application was deleted or has expired, invocations are 403 until \`application\` of the
Proxy names another Application or is \`null\`.

An expression outside the body always needs an API key (401). A request may have at most 10,000
expressions, with at most 100 different tokens, in all places together.

### Charsets

The charset of a body is taken from its byte order mark, then from its content type, then from an XML declaration or an HTML
\`<meta>\` in its first 1,024 bytes. If none of these names a charset, it is UTF-8. Names of charsets are those of the
WHATWG Encoding Standard.

| body | charsets in which expressions are replaced | non-ASCII characters of a value |
|---|---|---|
| XML and HTML | all but ISO-2022-JP and \`replacement\` | in UTF-8 and UTF-16 unchanged; in others as references (\`&#233;\`). In places without references (CDATA, comments, processing instructions, \`script\`, \`style\`, names) in the charset of the body |
| JSON | UTF-8, UTF-16 and single-byte ones (ISO-8859, Windows-125x, KOI8 and the like) | in UTF-8 and UTF-16 unchanged; in others as \`\\u00e9\` |
| forms | UTF-8 and single-byte ones | percent-encoded in the charset of the body |
| CSV and other text | UTF-8, UTF-16 and single-byte ones | in the charset of the body |

If a body of another charset has an expression, the response is 415. There is one exception: if only an XML declaration or a
\`<meta>\` names an unsupported charset, Sluice ignores this charset and reads the body as UTF-8.

Transforms read and write UTF-8, UTF-16 and single-byte charsets. If a body is not valid text in its charset, or its content type
names another charset, a request is refused with 415, and a response of the destination becomes 502. If the result of a
transform has characters that its charset does not have, the response is 500. JSON may begin with a byte order mark. A sequence of JSON texts (\`x-ndjson\`) is passed to the
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
      'Path that is appended to the path of `destination_url`: one or more segments. Slashes between segments must be sent as `/`. Many generated clients send `%2F` instead, so put a path of several segments together yourself',
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
