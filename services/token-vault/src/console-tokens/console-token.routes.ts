import { Confirmed, pageOf, toPage } from '@sluice/http-api';
import { bindToken, describeFoundTokens, describeTokens, tokenUseSchema } from '@sluice/vault';
import { actorOf, operation } from '../context.ts';
import { listTokensQuery, metadataFilter, searchTokensBody, token, tokenParams } from '../tokens/token.schema.ts';

const describeTokensQuery = listTokensQuery;

const describeFoundTokensBody = {
  ...searchTokensBody,
  title: 'DescribeFoundTokens',
  examples: [{ query: 'type:card AND metadata.customer:"c-1042"' }],
} as const;

const { data: _, mask: __, fingerprint: ___, ...properties } = token.properties;
const [{ data: ____, ...example }] = token.examples;

const describedToken = {
  ...token,
  title: 'DescribedToken',
  description: 'A token without `data`, `mask` and `fingerprint`.',
  examples: [example],
  properties,
} as const;

const without =
  'Tokens are shown without `data`, `mask` and `fingerprint`, so no token permission is needed. Nothing is decrypted, and `use.max_uses` does not count this request.';

const describeAll = operation({
  id: 'describeTokens',
  tag: 'Tokens',
  summary: 'List tokens without their values, newest first',
  description: `${without} The filters are those of listTokens.`,
  method: 'get',
  path: '/tokens',
  permission: 'application:read',
  query: describeTokensQuery,
  showsSecrets: true,
  response: { 200: pageOf(describedToken) },
  errors: ['payload_too_large'],
  async handle({ query, ...asking }, { vault }) {
    const filter = { ids: query.id ?? [], types: query.type ?? [], metadata: metadataFilter(query) };
    const { tokens, total } = await describeTokens(vault, actorOf(asking), filter, query);
    return toPage(tokens, total, query);
  },
});

const describeFound = operation({
  id: 'describeFoundTokens',
  tag: 'Tokens',
  idempotent: false,
  summary: 'Search tokens, and show them without their values, newest first',
  description: `${without} The query is that of searchTokens. A query with the field \`data\` or \`fingerprint\` is refused with 400, because the search could be used to guess a value.`,
  method: 'post',
  path: '/tokens/search',
  permission: 'application:read',
  body: describeFoundTokensBody,
  showsSecrets: true,
  response: { 200: pageOf(describedToken) },
  async handle({ body, ...asking }, { vault }) {
    const { tokens, total } = await describeFoundTokens(vault, actorOf(asking), body);
    return toPage(tokens, total, body);
  },
});

const bindTokenBody = {
  title: 'BindToken',
  type: 'object',
  required: ['use'],
  additionalProperties: false,
  examples: [{ use: { destinations: ['api.example.com'], methods: ['POST'] } }],
  properties: { use: tokenUseSchema },
} as const;

const bind = operation({
  id: 'bindToken',
  tag: 'Tokens',
  summary: 'Restrict what a token may be used for',
  description:
    'Replaces `use` of the token as a whole. This operation can only allow less than before, so no token permission is needed. If a change allows more, the response is 403. To allow more, use patchToken with the API key of a private Application with a rule that reveals the token.',
  method: 'patch',
  path: '/tokens/:id',
  permission: 'application:update',
  params: tokenParams,
  body: bindTokenBody,
  consumes: 'application/merge-patch+json',
  versioned: true,
  response: { 200: describedToken },
  errors: ['not_found'],
  confirmed: true,
  async handle({ params, body, ...asking }, { vault }) {
    const { token: bound, confirmation } = await bindToken(vault, actorOf(asking), params.id, body.use);
    return new Confirmed(confirmation, bound);
  },
});

export const consoleTokenOperations = [describeAll, describeFound, bind];
