import { operation } from '../context.ts';
import { idParams } from '../resource.schema.ts';
import { findCheckpoint, proveConsistency, proveRow } from './prove-row.ts';

const size = { type: 'integer', minimum: 1, maximum: 9_007_199_254_740_991 } as const;
const hashes = { type: 'array', items: { type: 'string' }, description: 'Base64, in the order of RFC 9162' } as const;

const readCheckpoint = operation({
  id: 'getLogCheckpoint',
  tag: 'Logs',
  summary: 'Read the newest signed checkpoint of the audit log, to hold it against later ones',
  description:
    'A C2SP tlog-checkpoint in a signed note with Ed25519. Once it is handed out, no row before it is changed, removed, ' +
    'added or moved unnoticed by whoever holds it. The extension line `dropped <n>` states how many rows retention has dropped ' +
    'from the beginning of the log.',
  method: 'get',
  path: '/logs/checkpoint',
  permission: 'log:read',
  produces: 'text/plain',
  response: { 200: { type: 'string', examples: ['sluice.example/ledger/0c5f2a4e-8b1d-4a2c-9a55-3f6f0c7d2e11\n…'] } },
  errors: ['not_found'],
  handle: ({ caller: { tenantId } }, { db }) => findCheckpoint(db, tenantId),
});

const readProof = operation({
  id: 'getLogProof',
  tag: 'Logs',
  summary: 'Prove that a row is in the tree of the newest checkpoint',
  method: 'get',
  path: '/logs/:id/proof',
  permission: 'log:read',
  params: idParams,
  response: {
    200: {
      type: 'object',
      title: 'LogProof',
      examples: [
        {
          leaf_index: 1,
          tree_size: 2,
          leaf_hash: '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
          hashes: ['bjQLnP+zepicpUTmu3gKLHiQHT+zNzh2hRGjBhevoB0='],
          checkpoint: 'sluice.example/ledger/0c5f2a4e-8b1d-4a2c-9a55-3f6f0c7d2e11\n2\n…',
        },
      ],
      required: ['leaf_index', 'tree_size', 'leaf_hash', 'hashes', 'checkpoint'],
      properties: {
        leaf_index: { type: 'integer', description: 'Where the row stands, from 0' },
        tree_size: { type: 'integer', description: 'Rows under the checkpoint' },
        leaf_hash: { type: 'string', description: 'Hexadecimal, lower case' },
        hashes,
        checkpoint: { type: 'string', description: 'The signed checkpoint of that size' },
      },
    },
  },
  errors: ['not_found'],
  handle: ({ params, caller: { tenantId } }, { db }) => proveRow(db, tenantId, params.id),
});

const readConsistency = operation({
  id: 'getLogConsistency',
  tag: 'Logs',
  summary: 'Prove that the tree of one size is the beginning of the tree of another',
  method: 'get',
  path: '/logs/consistency',
  permission: 'log:read',
  query: {
    type: 'object',
    required: ['from', 'to'],
    properties: {
      from: { ...size, description: 'Size of the older checkpoint' },
      to: { ...size, description: 'Size of the newer checkpoint' },
    },
  },
  response: {
    200: {
      type: 'object',
      title: 'LogConsistency',
      examples: [{ from: 1, to: 2, hashes: ['bjQLnP+zepicpUTmu3gKLHiQHT+zNzh2hRGjBhevoB0='] }],
      required: ['from', 'to', 'hashes'],
      properties: {
        from: { type: 'integer', description: 'As asked for' },
        to: { type: 'integer', description: 'As asked for' },
        hashes,
      },
    },
  },
  handle: ({ query, caller: { tenantId } }, { db }) => proveConsistency(db, tenantId, query),
});

export const ledgerOperations = [readCheckpoint, readConsistency, readProof];
