import { contradictions, knownToken, type StoredIds } from './known-tokens.ts';

const nothing: StoredIds = { there: new Set(), gone: new Set(), active: new Set() };
const [yes, certain] = ['yes', { created: 'yes', used: 'no' }] as const;

test.each([
  [
    'acknowledged, and not there',
    knownToken({ created: yes }),
    {},
    ['was acknowledged and was never stored', 'is lost'],
  ],
  ['acknowledged, and deleted by nobody', knownToken(certain), { gone: new Set(['t']) }, ['is lost']],
  ['refused, and there', knownToken({ created: 'no' }), { there: new Set(['t']) }, ['was refused and was stored']],
  ['deleted, and there', knownToken({ deleted: yes }), { there: new Set(['t']) }, ['was deleted and is there']],
  ['used, and not active', knownToken({ used: yes }), {}, ['was used and does not count as active']],
  ['unused, and active', knownToken({ used: 'no' }), { active: new Set(['t']) }, ['was not used and counts as active']],
  [
    'asked for, without an answer',
    knownToken({ deleted: 'maybe' }),
    { there: new Set(['t']), active: new Set(['t']) },
    [],
  ],
  ['expired', knownToken({ ...certain, expires: true }), { gone: new Set(['t']) }, []],
])('a token that is %s', (_, known, stored, expected) => {
  const found = contradictions(new Map([['t', known]]), { ...nothing, ...stored });
  expect(found).toEqual(expected.map((inWords) => `t ${inWords}`));
});
