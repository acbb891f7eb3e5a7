import { faultInAllowedPath } from '@sluice/access';
import type { FieldErrors } from '@sluice/problems';

interface Calls {
  allowed_methods?: readonly string[];
  allowed_paths?: readonly string[];
}

/** RFC 9110 section 9.1. */
const method = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,50}$/;

/** Faults of `allowed_methods` and `allowed_paths` by path. */
export function faultsOfCalls({ allowed_methods = [], allowed_paths = [] }: Calls): FieldErrors {
  const faults = [
    ...allowed_methods.map((one, i) => [`allowed_methods[${i}]`, method.test(one) ? undefined : 'must be a method']),
    ...allowed_paths.map((one, i) => [`allowed_paths[${i}]`, faultInAllowedPath(one)]),
  ];
  return Object.fromEntries(faults.flatMap(([path, fault]) => (fault ? [[path, [fault]]] : [])));
}
