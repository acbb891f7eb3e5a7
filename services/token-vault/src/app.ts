import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { authenticate, readCallers } from '@sluice/credentials';
import { type ApiOptions, createApi, type OpenApiDocument, openApiFile, toOpenApi } from '@sluice/http-api';
import { openIdempotency } from '@sluice/idempotency';
import type { Context } from './context.ts';
import { tokenizationOperations } from './tokenization/tokenization.routes.ts';
import { tokenOperations } from './tokens/token.routes.ts';
import { walkOperations } from './tokens/token-walk.routes.ts';

export const operations = [...tokenOperations, ...walkOperations, ...tokenizationOperations];

/** The document of the whole platform is the management API's. */
function describeTokens(headerPrefix: string): OpenApiDocument {
  return toOpenApi({
    operations,
    title: 'Sluice token vault',
    version: JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version,
    description: 'The token resource.',
    headerPrefix,
  });
}

interface AppOptions extends Pick<ApiOptions<Context>, 'headerPrefix' | 'observer' | 'bodyBytes'> {
  corsOrigins: string;
  addressOf: (request: IncomingMessage) => string;
}

export function createApp(context: Context, { headerPrefix, corsOrigins, addressOf, observer, bodyBytes }: AppOptions) {
  const { db, callers, pepper, vault, log } = context;
  const headerName = `${headerPrefix}-API-KEY`;
  return createApi({
    operations,
    context,
    headerPrefix,
    corsOrigins,
    addressOf,
    log,
    ...(observer && { observer }),
    ...(bodyBytes && { bodyBytes }),
    publicFiles: [openApiFile(JSON.stringify(describeTokens(headerPrefix)))],
    idempotency: openIdempotency({
      db,
      vault,
      pepper,
      confirm: (change) => vault.changes.barrier(change),
      onError: (err) => log.error({ err }, 'an answer could not be kept under its idempotency key'),
    }),
    areCallersCached: true,
    authenticate: (key, tx) => authenticate(key, { callers: tx ? readCallers(tx) : callers, pepper, headerName }),
  });
}
