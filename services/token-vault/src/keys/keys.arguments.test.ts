import { randomUUID } from 'node:crypto';
import { UsageError } from '@sluice/service-runtime/command-line';
import { readArguments } from './keys.arguments.ts';

const tenantId = randomUUID();

test.each([
  [['rotate-root'], { name: 'rotate-root', json: false }],
  [['rotate-root', '--json'], { name: 'rotate-root', json: true }],
  [['status'], { name: 'status', tenantId: undefined, json: false }],
  [['status', '--tenant', tenantId], { name: 'status', tenantId, json: false }],
  [
    ['rotate-data', '--tenant', tenantId],
    { name: 'rotate-data', tenantId, purposes: ['token_data', 'proxy_secrets', 'idempotency'], json: false },
  ],
  [
    ['--purpose', 'proxy_secrets', 'rotate-data', '--json', '--tenant', tenantId],
    { name: 'rotate-data', tenantId, purposes: ['proxy_secrets'], json: true },
  ],
  [['status', '--tenant', tenantId.toUpperCase()], { name: 'status', tenantId, json: false }],
  [['-h'], { name: 'help' }],
  [['rotate-data', '--help'], { name: 'help' }],
])('%j is understood', (args, command) => {
  expect(readArguments(args)).toEqual(command);
});

test.each([
  [[], 'a command is missing'],
  [['rotate'], 'there is no command "rotate"'],
  [['rotate-root', 'now'], '"now" is an unexpected argument'],
  [['rotate-root', '--tenant', tenantId], 'a root key is for all Tenants'],
  [['rotate-root', '--purpose', 'token_data'], '--purpose is for rotate-data'],
  [['rotate-data'], '--tenant is required'],
  [['rotate-data', '--tenant', 'acme'], '--tenant must be a UUID'],
  [['rotate-data', '--tenant', tenantId, '--purpose', 'tokens'], 'must be one of token_data, proxy_secrets'],
  [['rotate-data', '--tenant', tenantId, '--purpose', 'fingerprint'], 'fingerprints of equal values would differ'],
  [['rotate-data', '--tenant', tenantId, '--purpose', 'blind_index'], 'fingerprints of equal values would differ'],
  [['status', '--now'], "Unknown option '--now'"],
])('%j is refused', (args, message) => {
  expect(() => readArguments(args)).toThrow(UsageError);
  expect(() => readArguments(args)).toThrow(message);
});
