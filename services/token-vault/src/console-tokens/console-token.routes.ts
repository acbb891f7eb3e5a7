import { pageOf, toPage } from '@sluice/http-api';
import { describeFoundTokens, describeTokens } from '@sluice/vault';
import { actorOf, operation } from '../context.ts';
import { listTokensQuery, metadataFilter, searchTokensBody, token } from '../tokens/token.schema.ts';

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
  description: 'A token without its value, and without what is made of it.',
  examples: [example],
  properties,
} as const;

const without =
  'The console shows tokens to who administers the Tenant, without `data`, mask and fingerprint, whatever token permissions the sign-in has. Nothing is decrypted, and no token counts as used.';

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
  description: `${without} The query is that of searchTokens, without the fields \`data\` and \`fingerprint\`, by which a value could be guessed: they are 400.`,
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

export const consoleTokenOperations = [describeAll, describeFound];
