import { slow } from '@sluice/testing';
import fc from 'fast-check';
import {
  type AccessRule,
  decide,
  type Grants,
  holds,
  isGrantedOnEach,
  type RuleTransform,
  seesMoreIn,
} from './index.ts';

const permissions = ['token:create', 'token:read', 'token:search', 'token:update', 'token:use'];
const containers = ['/', '/a/', '/a/b/', '/ab/', '/c/'];
const ids = ['1', '10', '11', '2'];
const strictness: RuleTransform[] = ['redact', 'mask', 'reveal'];
const rank = (transform: RuleTransform | undefined) => (transform ? strictness.indexOf(transform) : -1);

const somePermissions = fc.uniqueArray(fc.constantFrom(...permissions));
const base = {
  priority: fc.integer({ min: 1, max: 3 }),
  transform: fc.constantFrom(...strictness),
  permissions: somePermissions,
};
const plainRule: fc.Arbitrary<AccessRule> = fc.record({ ...base, container: fc.constantFrom(...containers) });
const condition = fc.oneof(
  fc.record({
    attribute: fc.constant('id' as const),
    operator: fc.constantFrom('equals' as const, 'starts_with' as const),
    value: fc.constantFrom(...ids),
  }),
  fc.record({
    attribute: fc.constant('container' as const),
    operator: fc.constantFrom('equals' as const, 'starts_with' as const),
    value: fc.constantFrom(...containers),
  }),
);
const conditionalRule: fc.Arbitrary<AccessRule> = fc.record({
  ...base,
  conditions: fc.array(condition, { minLength: 1, maxLength: 3 }),
});
const application: fc.Arbitrary<Grants> = fc.record({
  permissions: somePermissions,
  rules: fc.array(plainRule, { maxLength: 4 }),
});
const own: fc.Arbitrary<Grants> = fc.record({
  permissions: somePermissions,
  rules: fc.array(fc.oneof(plainRule, conditionalRule), { maxLength: 4 }),
});
const token = fc.record({
  id: fc.constantFrom(...ids),
  containers: fc.uniqueArray(fc.constantFrom(...containers), { minLength: 1, maxLength: 3 }),
});
const permission = fc.constantFrom(...permissions);

const numRuns = 20_000;

function movesOf(seesMore: typeof seesMoreIn) {
  const moves = { application: 0, session: 0 };
  const refused = { application: 0, session: 0 };
  const step = fc.record({
    who: fc.constantFrom('application' as const, 'session' as const),
    to: fc.uniqueArray(fc.constantFrom(...containers), { minLength: 1, maxLength: 2 }),
  });
  const sequence = fc.array(step, { minLength: 1, maxLength: 8 });
  const sequences = fc.property(application, own, token, sequence, (within, grants, first, steps) => {
    const movers = { application: within, session: { ...grants, within } };
    let at = first;
    for (const { who, to } of steps) {
      const moved = { id: at.id, containers: to };
      const both = { id: at.id, containers: [...new Set([...at.containers, ...to])] };
      const isAllowed = isGrantedOnEach(movers[who], 'token:update', both) && !seesMore(movers[who], moved, at);
      (isAllowed ? moves : refused)[who]++;
      if (!isAllowed) continue;
      // The Application could have made the same move itself.
      if (!isGrantedOnEach(within, 'token:update', both)) return false;
      at = moved;
      const widened = sights.filter((sight) =>
        Object.values(movers).some((mover) => rank(decide(mover, sight, moved)) > sightBefore(within, sight, first)),
      );
      if (widened.length > 0) return false;
    }
    return true;
  });
  return { sequences, moves, refused };
}

const sights = ['token:read', 'token:use', 'token:search'];

/** Use and search show everything or nothing, whatever their transform. */
function sightBefore(grants: Grants, permission: string, at: Parameters<typeof decide>[2]): number {
  const transform = decide(grants, permission, at);
  return rank(permission === 'token:read' ? transform : transform && 'reveal');
}

describe('delegation never widens', () => {
  slow('1.9 s')(
    'a session gets no operation and no transform that its Application, or its own grants, would not get',
    () => {
      let granted = 0;
      let stricter = 0;
      fc.assert(
        fc.property(application, own, token, permission, (within, grants, on, asked) => {
          const session = { ...grants, within };
          const mine = decide(session, asked, on);
          const theirs = decide(within, asked, on);
          const alone = decide(grants, asked, on);
          if (mine) granted += 1;
          if (mine && (mine !== theirs || mine !== alone)) stricter += 1;
          return (
            rank(mine) === Math.min(rank(theirs), rank(alone)) &&
            (!isGrantedOnEach(session, asked, on) || isGrantedOnEach(within, asked, on)) &&
            (!mine || holds(session, asked)) &&
            (!holds(session, asked) || holds(within, asked))
          );
        }),
        { numRuns },
      );
      expect(granted).toBeGreaterThan(numRuns / 50);
      expect(stricter).toBeGreaterThan(numRuns / 200);
    },
  );

  slow('1 s')(
    'no sequence of moves by a session and its Application shows either what the Application did not see',
    () => {
      const { sequences, moves, refused } = movesOf(seesMoreIn);
      fc.assert(sequences, { numRuns: 5000 });
      expect(Math.min(moves.session, moves.application, refused.session, refused.application)).toBeGreaterThan(500);
    },
  );

  test('a session that looked only at what it sees itself would be found', () => {
    const { sequences } = movesOf(({ within: _, ...own }, after, before) => seesMoreIn(own, after, before));
    expect(fc.check(sequences, { seed: 1, numRuns: 5000 }).counterexample).not.toBeNull();
  });

  test('a decision by the session’s own grants alone would be found', () => {
    const { counterexample } = fc.check(
      fc.property(application, own, token, permission, (within, grants, on, asked) => {
        expect(rank(decide(grants, asked, on))).toBeLessThanOrEqual(rank(decide(within, asked, on)));
      }),
      { seed: 1, numRuns },
    );
    expect(counterexample).not.toBeNull();
  });
});

describe('conditions', () => {
  const on = (conditions: AccessRule['conditions'], at = { id: 'card-7', containers: ['a/b', '/c/'] }) =>
    decide(
      {
        permissions: [],
        rules: [{ priority: 1, transform: 'mask', permissions: ['token:read'], conditions: conditions ?? [] }],
      },
      'token:read',
      at,
    );
  const has = (attribute: 'id' | 'container', operator: 'equals' | 'starts_with', value: string) =>
    ({ attribute, operator, value }) as const;

  test.each([
    [has('id', 'equals', 'card-7'), true],
    [has('id', 'equals', 'card-'), false],
    [has('id', 'starts_with', 'card-'), true],
    [has('id', 'starts_with', 'ard'), false],
    [has('container', 'equals', '/a/b/'), true],
    [has('container', 'equals', 'c'), true],
    [has('container', 'equals', '/a/'), false],
    [has('container', 'starts_with', 'a'), true],
    [has('container', 'starts_with', '/a/b'), true],
    [has('container', 'starts_with', '/a/b/c/'), false],
    [has('container', 'starts_with', '/ab/'), false],
    [has('container', 'starts_with', '/'), true],
  ])('%j: %s', (condition, expected) => expect(on([condition])).toBe(expected ? 'mask' : undefined));

  test('all must hold; one of the token’s containers is enough for each', () => {
    expect(on([has('container', 'equals', '/a/b/'), has('container', 'equals', '/c/')])).toBe('mask');
    expect(on([has('container', 'equals', '/a/b/'), has('id', 'equals', 'other')])).toBeUndefined();
  });

  test('where only containers are known no condition on an id holds', () => {
    const rules = [
      { priority: 1, transform: 'mask', permissions: ['p'], conditions: [has('id', 'starts_with', '')] },
    ] as const;
    expect(decide({ permissions: [], rules }, 'p', ['/a/'])).toBeUndefined();
    expect(decide({ permissions: [], rules }, 'p', { id: 'x', containers: ['/a/'] })).toBe('mask');
  });
});
