import type { IncomingMessage } from 'node:http';
import type { BodyBytes } from '@sluice/body-bytes';
import { authenticate, readCallers } from '@sluice/credentials';
import { createApi, type PublicAnswer, type RequestObserver, type Streams } from '@sluice/http-api';
import { openIdempotency } from '@sluice/idempotency';
import { applicationKeyOperations } from './application-keys/application-key.routes.ts';
import { applicationTemplateOperations } from './application-templates/application-template.routes.ts';
import { applicationOperations } from './applications/application.routes.ts';
import type { Context } from './context.ts';
import { readDocumentation } from './documentation/documentation.ts';
import { ledgerOperations } from './logs/ledger.routes.ts';
import { logOperations } from './logs/log.routes.ts';
import { logExportOperations } from './logs/log-export.routes.ts';
import { listPermissions } from './permissions/permission.routes.ts';
import { proxyOperations } from './proxies/proxy.routes.ts';
import { sessionOperations } from './sessions/session.routes.ts';
import { tenantOperations } from './tenants/tenant.routes.ts';

export const operations = [
  ...applicationOperations,
  ...applicationKeyOperations,
  ...applicationTemplateOperations,
  ...sessionOperations,
  listPermissions,
  ...tenantOperations,
  ...proxyOperations,
  ...logOperations,
  ...logExportOperations,
  ...ledgerOperations,
];

export interface AppOptions {
  headerPrefix: string;
  corsOrigins: string;
  addressOf: (request: IncomingMessage) => string;
  observer: RequestObserver;
  streams: Streams;
  bodyBytes: BodyBytes;
  publicAnswers: readonly PublicAnswer[];
}

export function createApp(
  context: Context,
  { headerPrefix, corsOrigins, addressOf, observer, streams, bodyBytes, publicAnswers }: AppOptions,
) {
  const { db, callers, changes, pepper, vault, log } = context;
  const headerName = `${headerPrefix}-API-KEY`;
  return createApi({
    operations,
    context,
    headerPrefix,
    log,
    corsOrigins,
    addressOf,
    observer,
    streams,
    bodyBytes,
    publicAnswers,
    publicFiles: readDocumentation(headerPrefix),
    idempotency: openIdempotency({
      db,
      vault,
      pepper,
      confirm: (change) => changes.barrier(change),
      onError: (err) => log.error({ err }, 'an answer could not be kept under its idempotency key'),
    }),
    authenticate: async (key, tx) => authenticate(key, { callers: tx ? readCallers(tx) : callers, pepper, headerName }),
  });
}
