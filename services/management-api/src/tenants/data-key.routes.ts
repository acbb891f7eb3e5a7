import { listKeyVersions } from '@sluice/vault';
import { operation } from '../context.ts';
import { date } from '../resource.schema.ts';

const dataKey = {
  type: 'object',
  title: 'DataKey',
  description: 'A version of a key that encrypts or hashes values of the Tenant. Never the key itself.',
  required: ['purpose', 'version', 'state', 'created_at', 'uses'],
  examples: [
    { purpose: 'token_data', version: 2, state: 'current', created_at: '2026-03-02T09:30:00.000Z', uses: 41_200 },
  ],
  properties: {
    purpose: {
      type: 'string',
      enum: ['token_data', 'proxy_secrets', 'fingerprint', 'blind_index', 'idempotency'],
      description:
        'token_data: values of tokens; proxy_secrets: keys, configuration and former versions of Proxies, and what reactors have; fingerprint and blind_index: hashes; idempotency: kept answers',
    },
    version: { type: 'integer', description: 'From 1 for each purpose' },
    state: {
      type: 'string',
      enum: ['current', 'previous'],
      description: 'current: new values are under it; previous: what a rotation has not encrypted anew still is',
    },
    created_at: date,
    uses: { type: 'integer', description: 'Encryptions that were reserved with it, by all processes' },
  },
} as const;

export const listDataKeys = operation({
  id: 'listDataKeys',
  tag: 'Tenants',
  summary: 'List the data keys of the Tenant: what for, how old and how much used',
  description: 'A plain array, not paginated; by purpose, newest first. Whoever operates the service rotates them.',
  method: 'get',
  path: '/tenants/self/data-keys',
  permission: 'tenant:read',
  response: { 200: { type: 'array', items: dataKey, examples: [dataKey.examples] } },
  async handle({ caller }, { db }) {
    const keys = await listKeyVersions(db, caller.tenantId);
    return keys.map(({ purpose, version, created_at, use_count }) => {
      const isCurrent = !keys.some((other) => other.purpose === purpose && other.version > version);
      return { purpose, version, state: isCurrent ? 'current' : 'previous', created_at, uses: use_count };
    });
  },
});
