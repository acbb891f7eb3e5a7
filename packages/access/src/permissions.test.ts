import { isHoldable, permissions, permissionsFor } from './index.ts';

test('there are thirty permissions, each once', () => {
  expect(permissions).toHaveLength(30);
  expect(new Set(permissions.map((p) => p.type)).size).toBe(30);
});

test.each([
  ['private', ['token:create', 'token:update', 'token:read', 'token:search', 'token:delete', 'token:use']],
  ['public', ['token:create', 'token:update']],
] as const)('what %s can hold', (type, expected) => {
  expect(permissionsFor(type).map((p) => p.type)).toEqual(expected);
});

test('management holds everything but tokens', () => {
  expect(permissionsFor('management')).toHaveLength(24);
  expect(isHoldable('token:read', 'management')).toBe(false);
  expect(isHoldable('proxy:read', 'management')).toBe(true);
  expect(isHoldable('no:such', 'management')).toBe(false);
});
