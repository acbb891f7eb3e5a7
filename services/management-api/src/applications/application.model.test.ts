import { slow, useStack } from '@sluice/testing';
import fc from 'fast-check';
import { type ApplicationCommand, applicationModel, applicationRules, dates } from '../testing/application-model.ts';
import { agreement, listQuery } from '../testing/model-check.ts';
import { shareTestManagement } from '../testing/test-management.ts';

const api = useStack(() => shareTestManagement());

const mostly = <A, B>(usual: fc.Arbitrary<A>, seldom: fc.Arbitrary<B>): fc.Arbitrary<A | B> =>
  fc.oneof({ arbitrary: usual, weight: 40 }, { arbitrary: seldom, weight: 1 });
const often = <A, B>(usual: fc.Arbitrary<A>, seldom: fc.Arbitrary<B>): fc.Arbitrary<A | B> =>
  fc.oneof({ arbitrary: usual, weight: 8 }, { arbitrary: seldom, weight: 1 });
const wrong = fc.constantFrom(null, 5, 'x', [], {}, true);

const permissionsOf = {
  private: ['token:create', 'token:read', 'token:use'],
  public: ['token:create', 'token:update'],
  management: ['application:read', 'proxy:read', 'report:read'],
};
type Type = keyof typeof permissionsOf;
const types = Object.keys(permissionsOf) as Type[];
const anyPermission = fc.constantFrom(...Object.values(permissionsOf).flat(), 'no:such', '', null, 5);

const permissionsFor = (type: Type) =>
  mostly(fc.array(often(fc.constantFrom(...permissionsOf[type]), anyPermission), { maxLength: 3 }), wrong);

const ruleFor = (type: Type) =>
  fc.record(
    {
      priority: mostly(fc.integer({ min: 1, max: 3 }), fc.constantFrom(0, -1, 1.5, '1', null)),
      container: mostly(
        fc.constantFrom('/', '/a/', 'a/b', '/A_-9'),
        fc.constantFrom('//', '', '///', 'a b', '/ä/', '/a//b', 5, null),
      ),
      transform: mostly(fc.constantFrom('redact', 'mask', 'reveal'), fc.constantFrom('REVEAL', '', null, 5)),
      permissions: permissionsFor(type),
      description: mostly(fc.constantFrom('', 'x', 'ü', null), wrong),
      conditions: mostly(
        fc.constant(null),
        fc.constantFrom([], 'x', [{ attribute: 'id', operator: 'equals', value: 'x' }]),
      ),
    },
    {
      requiredKeys: [
        'priority',
        'transform',
        'permissions',
        ...(type === 'management' ? [] : (['container'] as const)),
      ],
    },
  );

const accessRule = (type: Type) =>
  mostly(
    ruleFor(type),
    fc.oneof(
      wrong,
      ruleFor(type).map((rule) => ({ ...rule, more: 1 })),
    ),
  );

const bodyFor = (type: Type) =>
  fc.record(
    {
      name: mostly(fc.constantFrom('a', '😀'.repeat(200)), fc.constantFrom('', 'x'.repeat(201), null, 7)),
      type: mostly(often(fc.constant(type), fc.constantFrom(...types)), fc.constantFrom('Private', null, 5)),
      permissions: mostly(permissionsFor(type), fc.constant(null)),
      rules: mostly(fc.array(accessRule(type), { maxLength: 2 }), wrong),
      expires_at: fc.constantFrom(...Object.keys(dates).slice(0, 3), ...Object.keys(dates), null, 5),
      // These members must have no effect
      id: fc.constant('mine'),
      key: fc.constant('mine'),
      created_by: wrong,
    },
    { requiredKeys: ['name', 'type', 'permissions'] },
  );
const body = fc.constantFrom(...types).chain(bodyFor);

const application = fc.constantFrom(0, 0, 0, 1, 1, 2, 3);
const key = fc.constantFrom(1, 1, 2, 3);
const about = <const Do extends string>(what: Do) => fc.record({ do: fc.constant(what), application });

const command: fc.Arbitrary<ApplicationCommand> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('create' as const), body }) },
  { weight: 2, arbitrary: about('get') },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('put' as const), application, body }) },
  { weight: 1, arbitrary: about('delete') },
  { weight: 3, arbitrary: about('regenerate') },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('list' as const), query: listQuery }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('get by key' as const), application, key }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('list permissions' as const), application, key }) },
);

const first: ApplicationCommand[] = [
  { do: 'create', body: { name: 'first', type: 'management', permissions: ['application:read'] } },
];

const property = (rules = applicationRules) =>
  agreement({
    command,
    first,
    async begin() {
      const tenant = await api.current.anotherTenant('T');
      const send: typeof api.current.send = (method, path, options) =>
        api.current.send(method, path, { key: tenant.management_key, ...options });
      const { created_at } = (await send('GET', '/applications/key')).body;
      return { ...applicationModel(tenant, created_at, rules), send };
    },
  });

slow('2.9 s')(
  'Applications answer as the model of the specification, whatever is done to them in whatever order',
  async () => {
    await fc.assert(property(), { numRuns: 60 });
  },
);

describe('a model that is wrong in one rule is found out:', () => {
  const mutants: Record<string, Partial<typeof applicationRules>> = {
    'a public Application may hold what a private one may': {
      mayHold: (type, permission) => applicationRules.mayHold(type === 'public' ? 'private' : type, permission),
    },
    'management needs a container too': { needsContainer: () => true },
    'duplicates stay': { granted: (list) => [...list] },
    'the key before the current one is accepted': { isAccepted: (one, key) => !one.isDeleted && key <= 2 },
    'the key of a deleted Application is accepted': { isAccepted: (_one, key) => key === 1 },
  };

  slow('1 s').each(Object.entries(mutants))('%s', async (_name, mutant) => {
    const { failed } = await fc.check(property({ ...applicationRules, ...mutant }), {
      seed: 1,
      numRuns: 60,
      endOnFailure: true,
    });
    expect(failed).toBe(true);
  });

  slow('0.5 s')('by a short list of commands', async () => {
    const typeChanges = { typeAfterPut: (_: unknown, { type }: Record<string, unknown>) => `${type}` };
    const { counterexample } = await fc.check(property({ ...applicationRules, ...typeChanges }), { seed: 1 });
    expect(`${counterexample?.[0]}`).toMatch(/^\{"do":"put","application":0,[^\n]*\} \/\*replayPath=/);
  });
});
