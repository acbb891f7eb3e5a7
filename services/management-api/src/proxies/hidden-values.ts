import { holds } from '@sluice/access';
import type { Caller } from '@sluice/credentials';
import { listProxyMembers } from '@sluice/database';
import { validationFailed } from '@sluice/problems';

const hidden = '[hidden]';

const secretMembers: string[] = listProxyMembers().flatMap(([name, { kept }]) => (kept === 'secret' ? [name] : []));

/**
 * In the console, only callers who may change a Proxy see its key and the values of its configuration. Otherwise anyone
 * who sees the screen could invoke it.
 */
export function shownTo<P extends Record<string, unknown>>(caller: Caller, proxy: P): P {
  if (caller.signInId === undefined || holds(caller, 'proxy:update')) return proxy;
  const members = secretMembers.flatMap((name) =>
    proxy[name] === undefined ? [] : [[name, withoutValues(proxy[name])]],
  );
  return { ...proxy, ...Object.fromEntries(members), key: hidden };
}

/** Replaces each value with the placeholder and keeps the names. */
export function withoutValues(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return hidden;
  return Object.fromEntries(Object.keys(value).map((name) => [name, hidden]));
}

/** Refuses the placeholder as a value, because it would overwrite the real one. @throws {ServiceError} `validation_failed` */
export function refuseHidden(definition: Record<string, unknown>): void {
  const faults = secretMembers.flatMap((member) => {
    const value = definition[member];
    if (value === hidden) return [member];
    const values = Object.entries(typeof value === 'object' && value !== null ? value : {});
    return values.filter(([, one]) => one === hidden).map(([name]) => `${member}.${name}`);
  });
  if (faults.length === 0) return;
  const fault = `must not be ${hidden}, which is shown in place of a value that you may not see`;
  throw validationFailed(Object.fromEntries(faults.map((path) => [path, [fault]])));
}
