const methodPattern = "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$";
const placePattern = "^(body|query|path|header:[A-Za-z0-9!#$%&'*+.^_`|~-]+)$";

/** What the patterns allow, in words that follow the path of the member. */
export const tokenUseForms: Readonly<Record<string, string>> = {
  [methodPattern]: 'must be an HTTP method, for example POST',
  [placePattern]: 'must be body, query, path or header:<name>, for example header:x-api-key',
};

const entries = { type: 'array', minItems: 1, maxItems: 20 } as const;

export const tokenUseSchema = {
  title: 'TokenUse',
  type: 'object',
  minProperties: 1,
  additionalProperties: false,
  description:
    'Restricts how Proxies and reactors may use the token. An invocation must satisfy all fields that are set. Otherwise the token is not revealed (403). Absent: no restriction',
  properties: {
    proxies: {
      ...entries,
      items: { type: 'string', format: 'uuid' },
      description: 'Ids of the Proxies that may reveal the token. If set, reactors cannot use it',
    },
    destinations: {
      ...entries,
      items: { type: 'string', maxLength: 255 },
      description:
        'Hosts that may receive the value: host names or IP addresses without a port. `*.example.com` covers all hosts below example.com. A request transform of a Proxy could send the value elsewhere. So if this field is set, and the Proxy has a request transform, the token can be used only in `request_headers` of the Proxy',
    },
    methods: {
      ...entries,
      items: { type: 'string', maxLength: 40, pattern: methodPattern },
      description: 'HTTP methods of the requests that may carry the value. Case is ignored',
    },
    places: {
      ...entries,
      items: { type: 'string', maxLength: 140, pattern: placePattern },
      description:
        'Parts of the request in which an expression with the token is allowed: `body`, `query`, `path`, or `header:<name>`',
    },
    max_uses: {
      type: 'integer',
      minimum: 1,
      maximum: 1_000_000_000,
      description:
        'How many invocations may reveal the token. An invocation counts once, however often it names the token. A counted use stays counted if the invocation fails',
    },
    until: {
      type: 'string',
      maxLength: 40,
      description: 'The token may be revealed only before this time, in ISO 8601. A time without a zone is UTC',
    },
  },
} as const;
