import { validationFailed } from '@sluice/problems';
import { faultInName, withoutBlanks } from './names.ts';

/**
 * The name to store. The stored name is accepted as it is, because it may be older than the rules.
 * @throws {ServiceError} `validation_failed`
 */
export function readName(name: string, stored?: string): string {
  if (name === stored) return name;
  const fault = faultInName(name);
  if (fault !== undefined) throw validationFailed({ name: [fault] });
  return withoutBlanks(name);
}
