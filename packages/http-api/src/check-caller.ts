import { isDeepStrictEqual } from 'node:util';
import { holds } from '@sluice/access';
import type { Caller } from '@sluice/credentials';
import { ServiceError } from '@sluice/problems';
import { keyHolderOf, type Operation } from './operation.ts';

/** @throws {ServiceError} 503 for changed rights. */
export function requireSame(caller: Caller, found: Caller | Promise<Caller>): Promise<void> | undefined {
  if (found instanceof Promise) return found.then((now) => requireSame(caller, now));
  if (isDeepStrictEqual(found, caller)) return undefined;
  const detail = 'The permissions of this key were changed during this request; try again';
  throw new ServiceError('unavailable', detail, { retryAfterSeconds: 1 });
}

/** @throws {ServiceError} 403 for a caller who may not call the operation. */
export function refuseCaller<C>({ permission, orPermission, takesKeyOf }: Operation<C>, caller: Caller): void {
  if (takesKeyOf !== undefined && caller.type !== takesKeyOf) {
    throw new ServiceError('forbidden', `This operation needs the key of ${keyHolderOf(takesKeyOf)}`);
  }
  if (!permission || holds(caller, permission) || (orPermission && holds(caller, orPermission))) return;
  throw new ServiceError(
    'forbidden',
    `This operation needs the permission ${orPermission ? `${permission} or ${orPermission}` : permission}`,
  );
}
