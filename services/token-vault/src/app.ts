import { readFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener } from 'node:http';
import { authenticate, readCallers, signInAuthentication } from '@sluice/credentials';
import { type HostOf, serveByHost } from '@sluice/hosts';
import {
  type ApiOptions,
  expressApi,
  forFrames,
  type OpenApiDocument,
  openapiFile,
  operationName,
  readSignInCookie,
  singleHeader,
  toOpenApi,
  underCookieApi,
} from '@sluice/http-api';
import { idempotencyStore } from '@sluice/http-api/idempotency';
import { consoleTokenOperations } from './console-tokens/console-token.routes.ts';
import type { Context } from './context.ts';
import { fieldPage } from './elements/field-page.ts';
import { fieldsOperations } from './elements/frame-operations.ts';
import { readReleasedFiles } from './elements/released-files.ts';
import { tokenizationOperations } from './tokenization/tokenization.routes.ts';
import { tokenOperations } from './tokens/token.routes.ts';
import { walkOperations } from './tokens/token-walk.routes.ts';

export const operations = [...tokenOperations, ...walkOperations, ...tokenizationOperations];

/** Operations at the host of the console. */
export const operationsByCookie = underCookieApi(consoleTokenOperations);

/** For metrics. */
export const operationNames = [...operations, ...operationsByCookie].map(operationName);

/** The management API has the document of the whole platform. */
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
  hostOf: HostOf;
  corsOrigins: string;
  fieldsOrigin: string | undefined;
  addressOf: (request: IncomingMessage) => string;
}

/** Each host answers 404 for the paths of the others. */
export function appOf(context: Context, options: AppOptions): RequestListener {
  const { headerPrefix } = options;
  const common = optionsOf(context, options);
  const staticFiles = [openapiFile(JSON.stringify(describeTokens(headerPrefix)))];
  const released = readReleasedFiles();
  const bySignIn = signInAuthentication(context);
  return serveByHost(options.hostOf, {
    base: expressApi({ ...common, operations, staticFiles, refusesServiceWorkers: true, linksHelp: true }),
    console: expressApi({
      ...common,
      byCookie: true,
      linksHelp: true,
      operations: consoleTokenOperations,
      authenticate: (request, tx) => bySignIn(readSignInCookie(request), tx),
    }),
    fields: expressApi({
      ...common,
      ...forFrames(headerPrefix),
      operations: fieldsOperations,
      staticFiles: released.files,
      pages: [fieldPage({ version: released.newest, headerPrefix, embeddersOf: context.embeddersOf })],
    }),
    none: expressApi({ ...common, operations: [] }),
  });
}

function optionsOf(
  context: Context,
  { headerPrefix, corsOrigins, fieldsOrigin, addressOf, observer, bodyBytes }: AppOptions,
) {
  const { db, caches, callers, pepper, keyUses, vault, log } = context;
  const headerName = `${headerPrefix}-API-KEY`;
  const presenting = { pepper, keyUses, headerName };
  return {
    context,
    headerPrefix,
    corsOrigins,
    fieldsOrigin,
    judgesOrigins: true,
    addressOf,
    log,
    ...(observer && { observer }),
    ...(bodyBytes && { bodyBytes }),
    idempotency: idempotencyStore({
      db,
      vault,
      pepper,
      confirm: (change) => vault.changes.barrier(change),
      onError: (err) => log.error({ err }, 'an answer could not be kept under its idempotency key'),
    }),
    caches,
    authenticate: (request, tx) =>
      authenticate(singleHeader(request, headerName), { callers: tx ? readCallers(tx) : callers, ...presenting }),
  } satisfies Omit<ApiOptions<Context>, 'operations'>;
}
