import { authenticate } from '@sluice/credentials';
import { createApi } from '@sluice/http-api';
import { openIdempotency } from '@sluice/idempotency';
import type { Context } from './context.ts';
import { tokenizationOperations } from './tokenization/tokenization.routes.ts';
import { tokenOperations } from './tokens/token.routes.ts';

/** Every operation of the token vault. */
export const operations = [...tokenOperations, ...tokenizationOperations];

export function createApp(context: Context, headerPrefix: string) {
  const { db, pepper, vault, log } = context;
  const headerName = `${headerPrefix}-API-KEY`;
  return createApi({
    operations,
    context,
    headerPrefix,
    log,
    idempotency: openIdempotency({
      db,
      vault,
      pepper,
      onError: (err) => log.error({ err }, 'an answer could not be kept under its idempotency key'),
    }),
    authenticate: (key) => authenticate(key, { db, pepper, headerName }),
  });
}
