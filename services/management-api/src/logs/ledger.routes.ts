import { operation } from '../context.ts';
import { idParams } from '../resource.schema.ts';
import { findCheckpoint, proveConsistency, proveRow } from './prove-row.ts';

const size = { type: 'integer', minimum: 1, maximum: 9_007_199_254_740_991 } as const;
const hashes = {
  type: 'array',
  items: { type: 'string' },
  description: 'Hashes of the proof in base64, in the order of RFC 9162',
} as const;

const readCheckpoint = operation({
  id: 'getLogCheckpoint',
  tag: 'Logs',
  summary: 'Get the newest signed checkpoint of the audit log',
  description:
    'The signed state of the log: the number of its rows, and one hash over all of them. Store it. With a stored checkpoint, `sluice logs verify` ' +
    'checks that the log still begins with the same rows. The check fails if one of these rows was changed, removed, added or moved. The format is C2SP ' +
    'tlog-checkpoint: a signed note with Ed25519. The extension line `dropped <n>` states how many rows retention has dropped from the beginning of the log.',
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
  summary: 'Get the proof that a row is in the tree of the newest checkpoint',
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
        leaf_index: { type: 'integer', description: 'Position of the row in the ledger, from 0' },
        tree_size: { type: 'integer', description: 'Number of rows in the checkpoint' },
        leaf_hash: { type: 'string', description: 'Hash of the row, hexadecimal in lower case' },
        hashes,
        checkpoint: { type: 'string', description: 'The signed checkpoint. It has `tree_size` rows' },
      },
    },
  },
  errors: ['not_found'],
  handle: ({ params, caller: { tenantId } }, { db }) => proveRow(db, tenantId, params.id),
});

const readConsistency = operation({
  id: 'getLogConsistency',
  tag: 'Logs',
  summary: 'Get the proof that an older checkpoint is the beginning of a newer one',
  method: 'get',
  path: '/logs/consistency',
  permission: 'log:read',
  query: {
    type: 'object',
    required: ['from', 'to'],
    properties: {
      from: { ...size, description: 'Number of rows in the older checkpoint' },
      to: { ...size, description: 'Number of rows in the newer checkpoint' },
    },
  },
  response: {
    200: {
      type: 'object',
      title: 'LogConsistency',
      examples: [{ from: 1, to: 2, hashes: ['bjQLnP+zepicpUTmu3gKLHiQHT+zNzh2hRGjBhevoB0='] }],
      required: ['from', 'to', 'hashes'],
      properties: {
        from: { type: 'integer', description: '`from` of the request' },
        to: { type: 'integer', description: '`to` of the request' },
        hashes,
      },
    },
  },
  handle: ({ query, caller: { tenantId } }, { db }) => proveConsistency(db, tenantId, query),
});

export const ledgerOperations = [readCheckpoint, readConsistency, readProof];
