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
  summary: 'Create a token, or get the equal one that exists',
  description: `\`token:create\` is needed on each container of the token.

**Deduplication.** The setting of the Tenant decides whether tokens are deduplicated. \`deduplicate_token\` overrides it for one token. If tokens are deduplicated, and an equal token exists, no token is created. The response is then 200 with the existing token. Two tokens are equal if type, fingerprint and \`fingerprint_expression\` are equal. A token with the default \`fingerprint_expression\` of its type is compared like a token that has no \`fingerprint_expression\`. A caller that may not read the existing token gets only its id, type, tenant_id, fingerprint and containers.

With keys of \`public\` Applications and of sessions, only tokens of the types \`card\`, \`card_number\` and \`bank\` are deduplicated, and only if the Tenant deduplicates. In all other cases, a request with such a key creates a new token. The reason: a response with the existing token would confirm a guessed value.

**Purpose.** A token with \`use\` can be used only as \`use\` allows, for example by certain Proxies or for certain destinations. Such a token takes no part in deduplication: a request with \`use\` always creates a token, and a request without \`use\` never returns a token that has it. During an upgrade, \`use\` cannot be set until all services run a version that supports \`use\`. Before that, the response is 503.

**Limits.** For keys of \`public\` Applications there are two limits per minute: one of the number of tokens, and one of their bytes. They apply to each Application and to each client address. If a limit is exceeded, the response is 429.`,
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
    '`metadata.<key>=<value>` lists tokens that have exactly this value under the key. If several filters are sent, all must match. Each token is shown as getToken shows it. The response is 413 if the page would have more than 8 MiB, or if its parsed data would take more than 64 MiB of memory. Then ask for fewer tokens with a smaller `size`.',
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
  description: `A query is \`field:value\`, combined with \`AND\`, \`OR\`, \`NOT\` and parentheses. \`NOT\` binds strongest, then \`AND\`. If a value has a space or one of the characters \`()[]*"\`, put the value in double quotes. Inside the double quotes, write a backslash before each double quote and before each backslash of the value. A query has at most 200 characters.

| Field | Finds tokens |
|---|---|
| id, type, fingerprint, created_by, modified_by | with this value |
| data | for which the value of one of the expressions in \`search_indexes\` is equal to this text |
| container | in this container. A \`*\` at the end, outside quotes, finds all containers whose path begins with this text: \`/pci/*\` |
| metadata.&lt;key&gt; | with this value under the key. The key may be in quotes |
| created_at, modified_at | of this moment, or of this UTC day if the value is a date. \`[from TO to]\` is a range with both ends |

A query that cannot be parsed is 400; the message names the position, counted from 0. If a search takes more than two seconds, the response is 503: make the query narrower, or use \`/v2/tokens/search\`, which has no totals.`,
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
  summary: 'Get a token',
  description:
    'The access rule that applies decides whether `data` is redacted, masked or revealed. If no rule applies, and the `permissions` of the Application contain token:read, `data` is masked.',
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
  description: `\`data\`, \`mask\` and \`metadata\` are merged. Other fields are replaced. Null sets a field to its default. To change the containers, the key needs \`token:update\` on those that are removed and on those that are added. If tokens are deduplicated, a patch that would make two tokens equal is 409. The Content-Type must be \`application/merge-patch+json\`.

**A key with no rule that reveals the token** may change only these parts of \`data\`:

- of a \`card\`: \`expiration_month\`, \`expiration_year\` and \`cvc\`
- of a \`bank\`: \`routing_number\` and \`account_number\`, only if one patch changes both, and only if tokens are not deduplicated
- of any type: the whole of \`data\`, if the new value is not an object and tokens are not deduplicated

Otherwise the response is 403 and names the field. Such a key also gets 403 for:

- \`mask\`, \`search_indexes\` and \`fingerprint_expression\`
- \`deduplicate_token: true\`, if tokens are deduplicated
- data that one of these expressions uses: \`fingerprint_expression\`, a search index, or an expression in \`mask\` that has a filter. A \`bank\` is an exception: the response is 403 only if one of these expressions uses data other than \`routing_number\` and \`account_number\`

Without these limits, a key with no rule that reveals the token could replace all fields of \`data\` except one, and then guess the value of the remaining field. To make other changes, use a key with a rule that reveals the token. Or delete the token and create a new one.

**\`use\`** is replaced as a whole. To add \`use\`, or to allow less than the present \`use\`, \`token:update\` is enough. To remove \`use\`, or to allow more than the present \`use\` in any field, you need the key of a \`private\` Application with a rule that reveals the token. With any other key, the response is 403. A new \`use\` allows more if it has an entry that the present list does not cover, lacks a field that is now set, or has a later \`until\` or a larger \`max_uses\`. Uses that were counted stay counted. If tokens are deduplicated, and an equal token without \`use\` exists, a patch that removes \`use\` is 409. During an upgrade, \`use\` cannot be changed until all services run the new version. Before that, the response is 503.

**With a key without \`token:read\`**, the response has only id, type, tenant_id, containers, modified_by and modified_at. All keys without \`token:read\` together may merge at most 1 MiB into the \`metadata\` of a token. A patch that exceeds this limit is 413. When a key with \`token:read\` changes \`metadata\`, the count starts again from 0.

For keys of \`public\` Applications the limits of createToken apply.`,
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
