import { UsageError } from '@sluice/service-runtime/command-line';
import { readArguments } from './tenant.arguments.ts';

const tenantId = '0b8a1f1e-0000-4000-8000-000000000001';

test.each([
  [['create', '--name', ' T '], { name: 'create', tenantName: 'T', ownerId: undefined, json: false }],
  [['create', '--name', 'T'], { name: 'create', tenantName: 'T', ownerId: undefined, json: false }],
  [
    ['create', '--name', 'Acmé 😀', '--owner', tenantId.toUpperCase(), '--json'],
    { name: 'create', tenantName: 'Acmé 😀', ownerId: tenantId, json: true },
  ],
  [['key', '--tenant', tenantId], { name: 'key', tenantId, json: false }],
  [['owner', '--invite', 'a@b.test'], { name: 'owner', email: 'a@b.test', tenantId: undefined }],
  [['owner', '--invite', 'a@b.test', '--tenant', tenantId], { name: 'owner', email: 'a@b.test', tenantId }],
  [['create', '--help'], { name: 'help' }],
])('%j is understood', (args, command) => {
  expect(readArguments(args)).toEqual(command);
});

test.each([
  [[], 'There is no command ""'],
  [['nothing'], 'There is no command "nothing"'],
  [['create'], '--name is required'],
  [['create', '--name', ''], '1 to 200 characters'],
  [['create', '--name', ' '], 'not only blanks'],
  [['create', '--name', 'a\u202e'], 'not have control, invisible or direction'],
  [['create', '--name', 'x'.repeat(201)], '1 to 200 characters'],
  [['create', '--name', 'T', '--owner', 'me'], '--owner must be a UUID'],
  [['create', '--name', 'T', '--unknown'], "Unknown option '--unknown'"],
  [['create', '--name', 'Acme', 'Corp'], '"Corp" is an unexpected argument'],
  [['create', '--name', 'T', '--tenant', tenantId], '--tenant is for the commands "key" and "owner"'],
  [['create', '--name', 'x', '--invite', 'a@b.test'], '--invite is for the command "owner"'],
  [['key'], '--tenant is required, a UUID'],
  [['key', '--tenant', 'me'], '--tenant is required, a UUID'],
  [['key', '--tenant', tenantId, '--name', 'T'], 'The command "key" takes only --tenant and --json'],
  [['key', '--tenant', tenantId, 'more'], '"more" is an unexpected argument'],
  [['owner'], '--invite is required'],
  [['owner', '--invite', 'x'], '--invite is required, an e-mail address'],
  [['owner', '--invite', 'a@b.test', '--name', 'x'], 'The command "owner" takes only --invite and --tenant'],
  [['owner', '--invite', 'a@b.test', '--tenant', 'me'], '--tenant must be a UUID'],
])('%j is refused', (args, message) => {
  expect(() => readArguments(args)).toThrow(UsageError);
  expect(() => readArguments(args)).toThrow(message);
});
