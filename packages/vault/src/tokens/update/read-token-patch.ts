import { parseDate } from '@sluice/database';
import { type FieldErrors, nearMisses, ServiceError, validationFailed } from '@sluice/problems';
import { Ajv } from 'ajv';
import { countExpressions } from '../../expressions/template.ts';
import { isNestedDeeperThan, isObject, isStorable, type Json, unstorable } from '../../json.ts';
import { mergePatch } from '../../merge-patch.ts';
import {
  answeredMembers,
  deepestJson,
  formats,
  hasManyMembers,
  nestedTooDeeply,
  schemaFaults,
} from '../create/read-token-input.ts';
import type { TokenRow } from '../token.ts';
import type { TokenUse } from '../use/token-use.ts';
import { misspeltInUse, readUseMember, withoutNullsInUse } from '../use/use-member.ts';
import { type TokenPatchWire, tokenPatchSchema } from './token-patch.schema.ts';

const members = [
  'data',
  'mask',
  'containers',
  'metadata',
  'search_indexes',
  'fingerprint_expression',
  'deduplicate_token',
  'expires_at',
  'use',
] as const;

const readOnly = ['id', 'type', ...answeredMembers];

/** `use` is as it is stored. */
export type TokenPatch = Omit<Pick<TokenPatchWire, (typeof members)[number]>, 'use'> & { use?: TokenUse | null };

const validateAll = new Ajv({ allErrors: true, allowUnionTypes: true, formats }).compile<TokenPatchWire>(
  tokenPatchSchema,
);
const validateToFirst = new Ajv({ allowUnionTypes: true, formats }).compile<TokenPatchWire>(tokenPatchSchema);

/**
 * Checks everything that does not depend on the token. @throws {ServiceError} `validation_failed` with every fault by
 * its path.
 */
export function readTokenPatch(sent: unknown, now: Date): TokenPatch {
  const hasUse = isObject(sent) && sent.use !== undefined;
  const value = hasUse ? { ...sent, use: withoutNullsInUse(sent.use ?? null) } : sent;
  if (isObject(value) && isNestedDeeperThan(deepestJson, [value.data, value.mask])) {
    throw validationFailed({ '': [nestedTooDeeply] });
  }
  const misspelt = isObject(value)
    ? { ...nearMisses(value, { writable: members, readOnly }), ...misspeltInUse(value.use) }
    : {};
  if (Object.keys(misspelt).length > 0) throw validationFailed(misspelt);
  const validate = hasManyMembers(value) ? validateToFirst : validateAll;
  if (!validate(value)) throw validationFailed(schemaFaults(validate.errors ?? []));
  const patch = Object.fromEntries(
    members.flatMap((member) => (Object.hasOwn(value, member) ? [[member, value[member]]] : [])),
  ) as TokenPatch;
  const { use, faults: useFaults } = readUseMember(patch.use, now);
  const faults = { ...faultsIn(patch, now), ...useFaults };
  if (Object.keys(faults).length > 0) throw validationFailed(faults);
  return patch.use === undefined ? patch : { ...patch, use };
}

function faultsIn({ data, ...patch }: TokenPatch, now: Date): FieldErrors {
  const faults: FieldErrors = {};
  for (const [member, value] of Object.entries(patch)) {
    if (!isStorable(JSON.stringify(value))) faults[member] = [unstorable];
  }
  if (data === null) faults.data = ['is required and cannot be removed'];
  noteTemplateFault(faults, 'mask', patch.mask as Json | undefined);
  noteTemplateFault(faults, 'fingerprint_expression', patch.fingerprint_expression);
  for (const [i, expression] of (patch.search_indexes ?? []).entries()) {
    noteTemplateFault(faults, `search_indexes[${i}]`, expression);
  }
  if (typeof patch.expires_at === 'string') {
    const expiresAt = parseDate(patch.expires_at);
    if (!expiresAt) faults.expires_at = ['must be an ISO 8601 date'];
    else if (expiresAt <= now) faults.expires_at = ['must be in the future'];
  }
  return faults;
}

/** Checks only whether the expressions can be parsed, because their results depend on the data. */
function noteTemplateFault(faults: FieldErrors, member: string, template: Json | undefined): void {
  try {
    countExpressions(template ?? null);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    faults[member] = [error.detail];
  }
}

/** In the input for `readTokenInput` null means the default. */
export function applyTokenPatch(row: TokenRow, data: Json, patch: TokenPatch): Record<string, unknown> {
  const replaced = <M extends 'containers' | 'search_indexes' | 'fingerprint_expression' | 'expires_at'>(member: M) =>
    patch[member] === undefined ? row[member] : patch[member];
  const merged = (current: Json, change: unknown) => (change === undefined ? current : mergePatch(current, change));
  return {
    type: row.type,
    data: merged(data, patch.data),
    mask: merged(row.mask, patch.mask),
    metadata: merged(row.metadata, patch.metadata),
    containers: replaced('containers'),
    search_indexes: replaced('search_indexes'),
    fingerprint_expression: replaced('fingerprint_expression'),
    expires_at: replaced('expires_at'),
    deduplicate_token: patch.deduplicate_token,
  };
}
