import { UsageError } from '@sluice/service-runtime/command-line';
import { readArguments } from './ledger.arguments.ts';

const tenantId = 'c0ffee00-0000-4000-8000-000000000000';
const trusted = ['--checkpoint', 'checkpoint', '--key', 'key'];

test.each([
  [['checkpoint', '--tenant', tenantId.toUpperCase()], { name: 'checkpoint', tenantId }],
  [['prove', '--tenant', tenantId, tenantId.toUpperCase()], { name: 'prove', tenantId, ids: [tenantId] }],
  [['export', '--tenant', tenantId], { name: 'export', tenantId, start: 0, format: 'ndjson', output: undefined }],
  [
    ['export', '--tenant', tenantId, '--csv', '--start', '6', '--output', 'log.csv'],
    { name: 'export', tenantId, start: 6, format: 'csv', output: 'log.csv' },
  ],
  [
    ['verify', '-', ...trusted, '--since', 'a', '--since', 'b', '--dropped', '4'],
    { name: 'verify', file: '-', key: 'key', checkpoint: 'checkpoint', since: ['a', 'b'], dropped: 4 },
  ],
  [['verify', '--help'], { name: 'help' }],
])('%j is understood', (args, command) => {
  expect(readArguments(args)).toEqual(command);
});

test.each([
  [[], /^The commands are/],
  [['sign'], /^The commands are/],
  [['prove', '--tenant', tenantId], /^The commands are/],
  [['export', 'more', '--tenant', tenantId], /^The commands are/],
  [['verify', ...trusted], /^verify takes one export/],
  [['verify', 'a', 'b', ...trusted], /^verify takes one export/],
  [['verify', 'export', '--checkpoint', 'checkpoint'], /^verify needs --key FILE/],
  [['verify', 'export', '--key', 'key'], /^verify needs --checkpoint FILE for a complete export/],
  [['verify', 'export', ...trusted, '--proofs', 'proofs'], /^verify needs --checkpoint FILE for a complete export/],
  [['verify', '-', ...trusted, '--dropped', 'all'], /^--dropped must be a whole number/],
  [['export', '--nonsense'], /--nonsense/],
  [['export', '--tenant', tenantId, '--start', '-1'], /argument is ambiguous|whole number/],
  [['export', '--tenant', tenantId, '--start', 'x'], /^--start must be a whole number/],
  [['checkpoint'], /^--tenant is required, a UUID/],
  [['prove', '--tenant', tenantId, 'x'], /^"x" is not the id of a row/],
])('%j is refused', (args, message) => {
  expect(() => readArguments(args)).toThrow(UsageError);
  expect(() => readArguments(args)).toThrow(message);
});
