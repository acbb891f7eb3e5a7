import { randomUUID } from 'node:crypto';
import type { Operation } from '@sluice/http-api';
import type { CallOptions } from '@sluice/testing';
import type { Context } from '../context.ts';

const bodies: Record<string, object> = {
  createApplication: { name: 'Sample', type: 'private', permissions: ['token:read'] },
  updateApplication: { name: 'Sample', permissions: ['token:read'] },
  createApplicationKey: {},
  authorizeSession: { nonce: 'unknown', permissions: ['token:read'] },
  updateTenant: { name: 'Sample' },
  createProxy: { name: 'Sample', destination_url: 'https://example.com' },
  updateProxy: { name: 'Sample', destination_url: 'https://example.com' },
  patchProxy: { name: 'Sample' },
  testTransform: { code: 'module.exports = () => ({})', args: {} },
};

const queries: Record<string, string> = { getLogConsistency: '?from=1&to=1' };

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
    path: path.replace(':id', id).replace(':keyId', keyId) + (queries[operation.id] ?? ''),
    options: body ? { body: bodies[operation.id], headers: { 'Content-Type': consumes } } : {},
  };
}
