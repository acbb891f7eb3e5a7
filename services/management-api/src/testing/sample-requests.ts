import { randomUUID } from 'node:crypto';
import type { Operation } from '@sluice/http-api';
import type { CallOptions } from '@sluice/testing';
import type { Context } from '../context.ts';

/** Tests insert it where the request is to succeed. */
export const sampleTokenId = 'sample-token';

/** Neither GET nor a change. */
export const changesNothing = ['testTransform', 'testReactor', 'explainAccess'];

const bodies: Record<string, object> = {
  createApplication: { name: 'Sample', type: 'private', permissions: ['token:read'] },
  updateApplication: { name: 'Sample', permissions: ['token:read'] },
  createApplicationKey: {},
  explainAccess: { token_id: sampleTokenId, operation: 'token:read' },
  authorizeSession: { nonce: 'unknown', permissions: ['token:read'] },
  updateTenant: { name: 'Sample' },
  updateMember: { role: 'AUDITOR' },
  createInvitation: { email: 'sample@example.com' },
  createProxy: { name: 'Sample', destination_url: 'https://example.com' },
  updateProxy: { name: 'Sample', destination_url: 'https://example.com' },
  patchProxy: { name: 'Sample' },
  testReactor: { code: 'module.exports = () => ({})', args: {} },
  createReactorFormula: { name: 'Sample', code: 'module.exports = () => ({})' },
  updateReactorFormula: { name: 'Sample', code: 'module.exports = () => ({})' },
  createReactor: { name: 'Sample', code: 'module.exports = () => ({})' },
  updateReactor: { name: 'Sample' },
  patchReactor: { name: 'Sample' },
  testTransform: { code: 'module.exports = () => ({})', args: {} },
};

const queries: Record<string, string> = { getLogConsistency: '?from=1&to=1', search: '?q=sample' };

export interface SampleRequest {
  method: string;
  path: string;
  options: CallOptions;
}

export function sampleRequest(
  operation: Operation<Context>,
  id: string = randomUUID(),
  keyId: string = randomUUID(),
): SampleRequest {
  const { method, path, body, consumes = 'application/json' } = operation;
  return {
    method: method.toUpperCase(),
    path: path.replace(':id', id).replace(':keyId', keyId).replace(':version', '1') + (queries[operation.id] ?? ''),
    options: body ? { body: bodies[operation.id], headers: { 'Content-Type': consumes } } : {},
  };
}
