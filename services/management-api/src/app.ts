import { authenticate } from '@sluice/credentials';
import { createApi, type RequestObserver } from '@sluice/http-api';
import { openIdempotency } from '@sluice/idempotency';
import { applicationKeyOperations } from './application-keys/application-key.routes.ts';
import { applicationTemplateOperations } from './application-templates/application-template.routes.ts';
import { applicationOperations } from './applications/application.routes.ts';
import type { Context } from './context.ts';
import { readDocumentation } from './documentation/documentation.ts';
import { logOperations } from './logs/log.routes.ts';
import { listPermissions } from './permissions/permission.routes.ts';
import { proxyOperations } from './proxies/proxy.routes.ts';
import { tenantOperations } from './tenants/tenant.routes.ts';

/** Every operation of the control plane. */
export const operations = [
  ...applicationOperations,
  ...applicationKeyOperations,
  ...applicationTemplateOperations,
  listPermissions,
  ...tenantOperations,
  ...proxyOperations,
  ...logOperations,
];

export function createApp(context: Context, headerPrefix: string, observer?: RequestObserver) {
  const { db, callers, changes, pepper, vault, log } = context;
  const headerName = `${headerPrefix}-API-KEY`;
  return createApi({
    operations,
    context,
    headerPrefix,
    log,
    ...(observer && { observer }),
    publicFiles: readDocumentation(headerPrefix),
    idempotency: openIdempotency({
      db,
      vault,
      pepper,
      confirm: (change) => changes.barrier(change),
      onError: (err) => log.error({ err }, 'an answer could not be kept under its idempotency key'),
    }),
    authenticate: (key) => authenticate(key, { callers, pepper, headerName }),
  });
}
