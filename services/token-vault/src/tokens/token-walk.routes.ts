import { cursorPageOf, readCursor, signCursor, toCursorPage } from '@sluice/http-api';
import { type TokenPosition, walkFoundTokens, walkTokens } from '@sluice/vault';
import { actorOf, operation } from '../context.ts';
import { metadataFilter, token, walkFoundTokensBody, walkTokensQuery } from './token.schema.ts';

const walking =
  'Each page except the last has a cursor in `pagination.next`. To get the next page, send this cursor as `start`, with the same filter. If the cursor was changed, or belongs to another Tenant, operation or filter, the response is 400. While you read the pages, tokens can be created and deleted. A token that exists from the first page to the last is listed exactly once. A page has at most 8 MiB, so it may have fewer tokens than you asked for. There are no totals, so every page takes the same work.';

export const walkTokensOperation = operation({
  id: 'walkTokens',
  tag: 'Tokens',
  summary: 'List the tokens that the caller may read, newest first, by cursor',
  description: `${walking} The filters are those of listTokens.`,
  method: 'get',
  path: '/v2/tokens',
  permission: 'token:read',
  query: walkTokensQuery,
  showsSecrets: true,
  response: { 200: cursorPageOf(token) },
  async handle({ query, ...asking }, { vault, pepper }) {
    const filter = { ids: query.id ?? [], types: query.type ?? [], metadata: metadataFilter(query) };
    const scope = { caller: asking.caller, operation: 'walkTokens', filter };
    const after = query.start === undefined ? undefined : toPosition(readCursor(pepper, scope, query.start));
    const { tokens, next } = await walkTokens(vault, actorOf(asking), filter, {
      after,
      size: query.size,
    });
    return toCursorPage(tokens, query.size, next && signCursor(pepper, scope, [next.created_at, next.id]));
  },
});

export const walkFoundTokensOperation = operation({
  id: 'walkFoundTokens',
  tag: 'Tokens',
  idempotent: false,
  summary: 'Search the tokens that the caller may search and read, newest first, by cursor',
  description: `${walking} The \`query\` has the same syntax as in searchTokens. If a page takes more than two seconds, the response is 503. Then make the query narrower.`,
  method: 'post',
  path: '/v2/tokens/search',
  permission: 'token:search',
  body: walkFoundTokensBody,
  showsSecrets: true,
  response: { 200: cursorPageOf(token) },
  async handle({ body, ...asking }, { vault, pepper }) {
    const scope = { caller: asking.caller, operation: 'walkFoundTokens', filter: body.query };
    const after = body.start === undefined ? undefined : toPosition(readCursor(pepper, scope, body.start));
    const found = await walkFoundTokens(vault, actorOf(asking), { query: body.query }, { after, size: body.size });
    const { tokens, next } = found;
    return toCursorPage(tokens, body.size, next && signCursor(pepper, scope, [next.created_at, next.id]));
  },
});

function toPosition([created_at = '', id = '']: readonly string[]): TokenPosition {
  return { created_at, id };
}

export const walkOperations = [walkTokensOperation, walkFoundTokensOperation];
