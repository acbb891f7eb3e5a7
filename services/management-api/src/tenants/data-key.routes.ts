import { listKeyVersions } from '@sluice/vault';
import { operation } from '../context.ts';
import { date } from '../resource.schema.ts';

const dataKey = {
  type: 'object',
  title: 'DataKey',
  description: 'A version of a key that encrypts or hashes values of the Tenant. The key itself is never shown.',
  required: ['purpose', 'version', 'state', 'created_at', 'uses'],
  examples: [
    { purpose: 'token_data', version: 2, state: 'current', created_at: '2026-03-02T09:30:00.000Z', uses: 41_200 },
  ],
  properties: {
    purpose: {
      type: 'string',
      enum: ['token_data', 'proxy_secrets', 'fingerprint', 'blind_index', 'idempotency'],
      description:
        '`token_data`: values of tokens. `proxy_secrets`: keys, configurations and versions of Proxies, and secrets of reactors. `fingerprint` and `blind_index`: hashes. `idempotency`: responses that are stored under idempotency keys',
    },
    version: { type: 'integer', description: 'Number of the version. For each `purpose` the first version is 1' },
    state: {
      type: 'string',
      enum: ['current', 'previous'],
      description:
        '`current`: encrypts new values. `previous`: some values are still encrypted with it, because no rotation has encrypted them with a newer version yet',
    },
    created_at: date,
    uses: {
      type: 'integer',
      description:
        'Number of encryptions with this key, including reserved ones. Each process reserves some encryptions in advance, so the number can be higher than the number of encryptions that were made',
    },
  },
} as const;

export const listDataKeys = operation({
  id: 'listDataKeys',
  tag: 'Tenants',
  summary: 'List the data keys of the Tenant',
  description:
    'A plain array, without pagination. Keys are ordered by purpose, and within a purpose newest first. Operators of the installation rotate these keys.',
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
