import { listTokensQuery, searchTokensBody, token } from '../tokens/token.schema.ts';

export const describeTokensQuery = listTokensQuery;

export const describeFoundTokensBody = {
  ...searchTokensBody,
  title: 'DescribeFoundTokens',
  examples: [{ query: 'type:card AND metadata.customer:"c-1042"' }],
} as const;

const { data: _, mask: __, fingerprint: ___, ...properties } = token.properties;
const [{ data: ____, ...example }] = token.examples;

export const describedToken = {
  ...token,
  title: 'DescribedToken',
  description: 'A token without its value, and without what is made of it.',
  examples: [example],
  properties,
} as const;
