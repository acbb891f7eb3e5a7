import { Confirmed, created, pageOf, Reply, toPage } from '@sluice/http-api';
import {
  answerWithoutCvcs,
  type CreatedToken,
  createTokens,
  deleteToken,
  draftToken,
  findToken,
  type Json,
  listTokens,
  searchTokens,
  theOnly,
  updateToken,
} from '@sluice/vault';
import { actorOf, operation, replayTokens } from '../context.ts';
import {
  bodyLimitBytes,
  createTokenBody,
  listTokensQuery,
  metadataFilter,
  patchTokenBody,
  searchTokensBody,
  token,
  tokenParams,
} from './token.schema.ts';

export const createTokenOperation = operation({
  id: 'createToken',
  tag: 'Tokens',
  summary: 'Create a token; 200 with the equal one that exists where tokens are deduplicated',
  description:
    'Creating in a container needs `token:create` on it. Where tokens are deduplicated (by the Tenant or by `deduplicate_token`) and an equal one exists, of the same type, `fingerprint_expression` (the default of the type counts as none) and fingerprint, that one is answered with 200; a caller that may not read it gets no more than its id, type, tenant_id, fingerprint and containers. Keys of `public` Applications and of sessions are answered so for `card`, `card_number` and `bank` only, and only where the Tenant deduplicates; otherwise they make a new token, because the answer would test guesses. With keys of `public` Applications so many tokens and bytes a minute may be created or changed for each Application and from each address; beyond 429.',
  method: 'post',
  path: '/tokens',
  permission: 'token:create',
  body: createTokenBody,
  bodyLimitBytes,
  opaque: ['data'],
  cors: true,
  versioned: true,
  response: { 201: token, 200: token },
  errors: ['conflict'],
  keep: (body) => answerWithoutCvcs(body as Json),
  replay: replayTokens,
  async handle({ body, bodyBytes, address, settle, ...asking }, { vault, publicTokens }) {
    await publicTokens.count({ caller: asking.caller, address, tokens: 1, bodyBytes });
    const answerTo = (tokens: readonly CreatedToken[]) => {
      const { token, created: isNew } = theOnly(tokens);
      return isNew ? created('/tokens', token) : new Reply(200, token);
    };
    return createTokens(await draftToken(vault, actorOf(asking), body), { answerTo, settle });
  },
});

export const listTokensOperation = operation({
  id: 'listTokens',
  tag: 'Tokens',
  summary: 'List the tokens that the caller may read, newest first',
  description:
    '`metadata.<key>=<value>` finds tokens that have exactly this value under the key; all filters must hold. Each token is answered as getToken would. A page that would show more than 8 MiB, or more than 64 MiB once it is parsed, is 413: ask for fewer tokens on one page.',
  method: 'get',
  path: '/tokens',
  permission: 'token:read',
  query: listTokensQuery,
  showsSecrets: true,
  response: { 200: pageOf(token) },
  errors: ['payload_too_large'],
  async handle({ query, ...asking }, { vault }) {
    const filter = { ids: query.id ?? [], types: query.type ?? [], metadata: metadataFilter(query) };
    const { tokens, total } = await listTokens(vault, actorOf(asking), filter, query);
    return toPage(tokens, total, query);
  },
});

export const searchTokensOperation = operation({
  id: 'searchTokens',
  tag: 'Tokens',
  idempotent: false,
  summary: 'Search the tokens that the caller may search and read, newest first',
  description: `A query is \`field:value\`, combined with \`AND\`, \`OR\`, \`NOT\` and parentheses; \`NOT\` binds strongest, then \`AND\`. Values with spaces or any of \`()[]*"\` stand in double quotes, where a backslash goes before a quote or a backslash. At most 200 characters.

| Field | Finds tokens |
|---|---|
| id, type, fingerprint, created_by, modified_by | that have this value |
| data | of which one of the \`search_indexes\` came to exactly this text when they were written |
| container | in this container; with a trailing \`*\`, in those whose path begins so: \`/pci/*\` |
| metadata.&lt;key&gt; | with this value under the key, which may stand in quotes too |
| created_at, modified_at | of this moment, of this UTC day where it is a date alone, or of \`[from TO to]\`, both included |

What cannot be read is 400 with the position, counted from 0. A search that takes more than two seconds is 503: make the query narrower, or use \`/v2/tokens/search\`, which counts nothing.`,
  method: 'post',
  path: '/tokens/search',
  permission: 'token:search',
  body: searchTokensBody,
  showsSecrets: true,
  response: { 200: pageOf(token) },
  async handle({ body, ...asking }, { vault }) {
    const { tokens, total } = await searchTokens(vault, actorOf(asking), body);
    return toPage(tokens, total, body);
  },
});

export const getToken = operation({
  id: 'getToken',
  tag: 'Tokens',
  summary: 'Get a token; its data as the access rule that decides gives it',
  description:
    '`data` is redacted, masked or revealed, as the access rule that decides says; under a flat permission it is masked.',
  method: 'get',
  path: '/tokens/:id',
  permission: 'token:read',
  params: tokenParams,
  showsSecrets: true,
  versioned: true,
  response: { 200: token },
  errors: ['not_found'],
  handle({ params, ...asking }, { vault }) {
    return findToken(vault, actorOf(asking), params.id);
  },
});

export const patchTokenOperation = operation({
  id: 'patchToken',
  tag: 'Tokens',
  summary: 'Change parts of a token with a JSON merge patch (RFC 7386)',
  description: `\`data\`, \`mask\` and \`metadata\` are merged, the other members replaced; null takes a member back to its default. To move a token, the key needs \`token:update\` on the containers that it leaves and on those that it comes to. Where tokens are deduplicated, a patch that would make two equal is 409. The Content-Type must be \`application/merge-patch+json\`.

A key to which no rule reveals the token may change of its \`data\`:

- of a \`card\`: \`expiration_month\`, \`expiration_year\` and \`cvc\`;
- of a \`bank\`: \`routing_number\` and \`account_number\`, both together, where tokens are not deduplicated;
- of any type: all of it, by a value that is no object, where tokens are not deduplicated.

Anything else is 403 and names the member: other members of \`data\`, \`mask\`, \`search_indexes\`, \`fingerprint_expression\`, \`deduplicate_token: true\` where tokens are deduplicated, and data that \`fingerprint_expression\`, a search index or an expression of \`mask\` with a filter uses (of a \`bank\`: that uses more than the two numbers). Otherwise the key could replace all data but one member and guess that one. Delete the token and create a new one instead, or use a key with a rule that reveals it.

A key without \`token:read\` is answered with id, type, tenant_id, containers, modified_by and modified_at alone. Such keys may merge at most 1 MiB into \`metadata\` until a key with \`token:read\` writes it; otherwise 413. With keys of \`public\` Applications a patch counts as createToken does.`,
  method: 'patch',
  path: '/tokens/:id',
  permission: 'token:update',
  params: tokenParams,
  body: patchTokenBody,
  consumes: 'application/merge-patch+json',
  bodyLimitBytes,
  opaque: ['data'],
  versioned: true,
  response: { 200: token },
  errors: ['not_found', 'conflict'],
  confirmed: true,
  keep: (body) => answerWithoutCvcs(body as Json),
  replay: replayTokens,
  async handle({ params, body, bodyBytes, address, ...asking }, { vault, publicTokens }) {
    await publicTokens.count({ caller: asking.caller, address, tokens: 1, bodyBytes });
    const updated = await updateToken(vault, actorOf(asking), params.id, body);
    return new Confirmed(updated.confirmation, updated.token);
  },
});

export const deleteTokenOperation = operation({
  id: 'deleteToken',
  tag: 'Tokens',
  summary: 'Delete a token',
  method: 'delete',
  path: '/tokens/:id',
  permission: 'token:delete',
  params: tokenParams,
  versioned: true,
  response: { 204: null },
  errors: ['not_found'],
  confirmed: true,
  async handle({ params, ...asking }, { vault }) {
    return new Confirmed(await deleteToken(vault, actorOf(asking), params.id));
  },
});

export const tokenOperations = [
  createTokenOperation,
  listTokensOperation,
  searchTokensOperation,
  getToken,
  patchTokenOperation,
  deleteTokenOperation,
];
