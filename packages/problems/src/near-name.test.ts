import { nearMisses, nearName } from './index.ts';

const members = { writable: ['name', 'rules', 'request_transform', 'response_transform'], readOnly: ['created_by'] };

test.each([
  ['request_trnsform', 'request_transform'],
  ['requst_transfrm', 'request_transform'],
  ['requestTransform', 'request_transform'],
  ['REQUEST_TRANSFORM', 'request_transform'],
  ['reqeust_transform', 'request_transform'],
  ['request_transforms', 'request_transform'],
  ['rule', 'rules'],
  ['ruels', 'rules'],
  ['Rules', 'rules'],
])('%s probably means %s', (name, meant) => {
  expect(nearName(name, members.writable)).toBe(meant);
});

test.each(['requst_trnsfrm', 'rul', 'rulers2', 'Name', 'nam', 'transform', 'description', ''])(
  '%s may mean anything',
  (name) => {
    expect(nearName(name, members.writable)).toBeUndefined();
  },
);

test('a member near to a missing one is a fault, whatever its value', () => {
  for (const value of [null, 1, undefined, {}]) {
    expect(nearMisses({ name: 'x', request_trnsform: value }, members)).toEqual({
      request_trnsform: ['is not a known field; did you mean request_transform?'],
    });
  }
});

test('known members, read-only ones, and those near to one that is there, are none', () => {
  expect(nearMisses({ request_transform: 1, response_transform: 2, created_by: 3 }, members)).toEqual({});
  expect(nearMisses({ request_transform: 1, request_trnsform: 2 }, members)).toEqual({});
  expect(nearMisses({ color: 1, metadata_of_mine: 2, ['__proto__']: 3 }, members)).toEqual({});
});

test('a body of a hundred thousand unknown members is looked through in part', () => {
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`request_trans${at}`, at]));
  expect(Object.keys(nearMisses(many, members)).length).toBeLessThanOrEqual(1000);
});
