import { AsyncLocalStorage } from 'node:async_hooks';

interface Work {
  tenantId: string;
  whenLeft: WhenLeft | undefined;
}

/** Calls `leave` with a reason when the caller has left, at once if it already has. @returns what stops that. */
type WhenLeft = (leave: (reason: unknown) => void) => () => void;

const current = new AsyncLocalStorage<Work>();

/** Work of no Tenant, such as looking up a new key, counts together, as if one Tenant did it. */
const nobody = '';

/**
 * Whatever `work` asks of Postgres, and whatever it begins, counts as the Tenant's. Kept by the runtime beside each promise,
 * because one forgotten argument among hundreds of query functions would go past the Tenant's share.
 * @param whenLeft for work that has one caller, and need not begin once that has left.
 */
export function asTenant<T>(tenantId: string, work: () => T, whenLeft?: WhenLeft): T {
  return current.run({ tenantId, whenLeft }, work);
}

export function tenantOfWork(): string {
  return current.getStore()?.tenantId ?? nobody;
}

export function whenCallerLeft(leave: (reason: unknown) => void): Disposable {
  const stop = current.getStore()?.whenLeft?.(leave);
  return { [Symbol.dispose]: () => stop?.() };
}
