import { slow, useStack } from '@sluice/testing';
import fc from 'fast-check';
import { agreement, dropNulls, listQuery } from '../testing/model-check.ts';
import { brokenCode, code, destinations, type ProxyCommand, proxyModel, proxyRules } from '../testing/proxy-model.ts';
import { shareTestManagement } from '../testing/test-management.ts';

const api = useStack(() => shareTestManagement());

const mostly = <A, B>(usual: fc.Arbitrary<A>, seldom: fc.Arbitrary<B>): fc.Arbitrary<A | B> =>
  fc.oneof({ arbitrary: usual, weight: 30 }, { arbitrary: seldom, weight: 1 });
const wrong = fc.constantFrom(null, 5, 'x', [], {}, true);

const name = mostly(
  fc
    .string({
      unit: fc.constantFrom('a', 'B', 'b', 'É', 'é', '%', '_', '*', '\\', '.', ' ', '😀'),
      minLength: 1,
      maxLength: 5,
    })
    .map((text) => text.trim() || ' '),
  fc.constantFrom('', '😀'.repeat(200), 'x'.repeat(201), null, 7),
);
const validDestinations = Object.keys(destinations).filter((url) => destinations[url]);
const destination = mostly(
  fc.constantFrom(...validDestinations),
  fc.constantFrom(...Object.keys(destinations), null, 5),
);
const transform = mostly(
  fc.constantFrom({ code }, { code: `${code} //` }, null),
  fc.oneof(wrong, fc.constantFrom({ code: brokenCode }, { code: null }, { code: 5 }, { code, more: 1 })),
);
const application = mostly(
  fc.constantFrom(undefined, null, ...[0, 0, 1].map((n) => ({ id: `application ${n}` }))),
  fc.oneof(wrong, fc.constantFrom({ id: null }, { id: 'application 9', more: 1 })),
);
const configurationValue = mostly(fc.constantFrom('', '1', '2', 'ü'), fc.constantFrom(null, 5, {}));
const configuration = mostly(
  fc.dictionary(
    mostly(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('', '__proto__', 'x'.repeat(201))),
    configurationValue,
    {
      maxKeys: 3,
    },
  ),
  fc.oneof(wrong, fc.constant({ a: null, b: '1' })),
);
const optional = {
  request_transform: transform,
  response_transform: transform,
  application,
  configuration,
  require_auth: mostly(fc.constantFrom(true, false, null), wrong),
  token_places: mostly(fc.constantFrom([], ['body'], ['path', 'header:X-A'], null), fc.constantFrom(5, 'x', {}, true)),
  request_headers: mostly(
    fc.dictionary(fc.constantFrom('X-A', 'x-a', 'X-B'), fc.constantFrom('', 'k', '{{ config: a }}'), { maxKeys: 1 }),
    fc.constantFrom(null, 5, 'x', [], true, { 'X-A': null, 'X-B': 'k' }),
  ),
  head_timeout_s: mostly(fc.constantFrom(1, 600, null), fc.constantFrom(0, 601, 1.5, '5', {}, true)),
  response_guard: mostly(
    fc.constantFrom('off', 'tokenize', 'redact', 'block', null),
    fc.constantFrom('on', 'Off', '', 5, {}, [], true),
  ),
  application_id: mostly(fc.constantFrom('application 0', 'application 1'), fc.constant(null)),
  // These members must have no effect
  key: fc.constant('mine'),
  unknown: wrong,
};

const whole = fc.record(
  { name, destination_url: destination, ...optional },
  { requiredKeys: ['name', 'destination_url'] },
);
const part = fc.record({ name, destination_url: destination, ...optional }, { requiredKeys: [] });
const filter = fc.string({
  unit: fc.constantFrom('a', 'b', 'é', '%', '_', '*', '\\', '.'),
  minLength: 1,
  maxLength: 2,
});
const proxy = fc.constantFrom(0, 0, 0, 1, 1, 2, 3);

const command: fc.Arbitrary<ProxyCommand> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('create' as const), body: whole }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('get' as const), proxy }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('patch' as const), proxy, body: part }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('put' as const), proxy, body: whole }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), proxy }) },
  {
    weight: 4,
    arbitrary: fc
      .record({ query: listQuery, name: fc.option(filter, { nil: undefined }) })
      .map(({ query, name }) => ({ do: 'list' as const, query: name === undefined ? query : { ...query, name } })),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('create application' as const),
      type: fc.constantFrom('private', 'public', 'management'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('delete application' as const), application: fc.constantFrom(0, 1) }),
  },
);

const first: ProxyCommand[] = [
  { do: 'create application', type: 'private' },
  {
    do: 'create',
    body: {
      name: 'ab',
      destination_url: 'https://example.com/in',
      configuration: { a: '0' },
      request_headers: { 'X-A': 'k' },
    },
  },
];

const property = (rules = proxyRules) =>
  agreement({
    command,
    first,
    async begin() {
      const tenant = await api.current.anotherTenant('T');
      return {
        ...proxyModel(tenant, rules),
        send: (method, path, options) => api.current.send(method, path, { key: tenant.management_key, ...options }),
      };
    },
  });

slow('4.7 s')(
  'Proxies answer as the model of the specification, whatever is done to them in whatever order',
  async () => {
    await fc.assert(property(), { numRuns: 40 });
  },
);

describe('a model that is wrong in one rule is found out:', () => {
  const mutants: Record<string, Partial<typeof proxyRules>> = {
    'a patch replaces the configuration': {
      merge: (target, patch) => ({ ...Object(target), ...Object(patch) }),
    },
    'a replacement keeps what was left out': { replace: (old, body) => dropNulls({ ...old, ...body }) },
    'a replacement keeps nothing': { replace: (_old, body) => dropNulls(body) },
    'the case of headers counts': { respell: (old) => old },
    'the case of names counts': { nameMatches: (name, filter) => name.includes(filter) },
    'an Application that is gone is still named': { isNamed: () => true },
  };

  slow('1.2 s').each(Object.entries(mutants))('%s', async (_name, mutant) => {
    const { failed } = await fc.check(property({ ...proxyRules, ...mutant }), {
      seed: 1,
      numRuns: 50,
      endOnFailure: true,
    });
    expect(failed).toBe(true);
  });

  slow('0.6 s')('by a short list of commands', async () => {
    const { counterexample } = await fc.check(property({ ...proxyRules, keyAfterPut: () => 'new' }), { seed: 1 });
    expect(`${counterexample?.[0]}`).toMatch(/^\{"do":"put","proxy":0,[^\n]*\} \/\*replayPath=/);
  });
});
