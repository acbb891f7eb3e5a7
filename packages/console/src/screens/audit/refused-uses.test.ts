import { refusedUsesOf } from './refused-uses.ts';

test.each<[string, Record<string, unknown> | undefined, unknown]>([
  ['no detail', undefined, []],
  ['a use that was allowed', { token_ids: ['t'] }, []],
  [
    'two refusals',
    {
      token_ids: [],
      refused: [
        { token_id: 't', member: 'until' },
        { token_id: 'u', member: 'proxies' },
      ],
    },
    [
      { tokenId: 't', member: 'until' },
      { tokenId: 'u', member: 'proxies' },
    ],
  ],
  ['another form', { refused: ['t', null, { token_id: 1, member: 'until' }, { token_id: 't' }] }, []],
  ['no list', { refused: 'x' }, []],
])('%s', (_name, detail, refused) => {
  expect(refusedUsesOf(detail)).toEqual(refused);
});
