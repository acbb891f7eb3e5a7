import { ServiceError } from '@sluice/problems';
import { mergePatchOf } from './merge-patch.schema.ts';
import { operationBodyCheck } from './near-misses.ts';

const rule = {
  type: 'object',
  additionalProperties: false,
  properties: { transform: { type: 'string' }, priority: { type: 'integer' } },
} as const;
const body = {
  type: 'object',
  title: 'Thing',
  required: ['name'],
  properties: {
    name: { type: 'string' },
    settings: { type: 'object', properties: { deduplicate: { type: 'string' } } },
    rules: { type: 'array', items: rule },
    configuration: { type: 'object', additionalProperties: { type: 'string' } },
    anything: {},
    require_auth: { type: 'boolean', default: true },
  },
} as const;
const answer = {
  type: 'object',
  properties: { ...body.properties, requires_auth: {}, settings: { properties: { deduplicated: {} } } },
} as const;

const check = operationBodyCheck({ body, response: { 200: answer } });
const checkPatch = operationBodyCheck({ body: mergePatchOf(body, { title: 'ThingPatch' }), response: { 204: null } });

function faultsOf(run: () => void): Record<string, string[]> {
  try {
    run();
  } catch (error) {
    if (error instanceof ServiceError) return error.errors ?? {};
    throw error;
  }
  return {};
}

const meant = (name: string) => [`is not a known field; did you mean ${name}?`];

describe('a misspelt member is a fault that says what was meant', () => {
  test.each<[object, Record<string, string[]>]>([
    [{ requre_auth: true }, { requre_auth: meant('require_auth') }],
    [{ settings: { dedupicate: 'true' } }, { 'settings.dedupicate': meant('deduplicate') }],
    [{ rules: [{}, { trnsform: 'x' }] }, { 'rules[1].trnsform': meant('transform') }],
    [
      { requre_auth: null, settings: { deduplicat: 1 } },
      { requre_auth: meant('require_auth'), 'settings.deduplicat': meant('deduplicate') },
    ],
  ])('%j', (part, faults) => {
    expect(faultsOf(() => check({ name: 'x', ...part }))).toEqual(faults);
    expect(faultsOf(() => checkPatch(part))).toEqual(faults);
  });

  test('unless it is not near, its object has names of the caller, or a response has it', () => {
    const parts = [{ foo: 1 }, { configuration: { require_auht: 'x' } }, { anything: { requre_auth: 1 } }];
    for (const part of parts) expect(faultsOf(() => check({ name: 'x', ...part }))).toEqual({});
    expect(faultsOf(() => check({ name: 'x', requires_auth: true, settings: { deduplicated: 'x' } }))).toEqual({});
  });

  test('of a hundred thousand unknown members in many objects some are looked at', () => {
    const rules = Array.from({ length: 1000 }, () =>
      Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`trnsform${at % 10}${at}`, at])),
    );
    expect(Object.keys(faultsOf(() => check({ name: 'x', rules }))).length).toBeLessThanOrEqual(1000);
  });
});

describe('a merge patch', () => {
  test('has all members of the body as optional ones without a default; null removes what the body does not need', () => {
    const patch: Record<string, unknown> = {};
    checkPatch(patch);
    expect(patch).toEqual({});
    checkPatch({ require_auth: null, settings: null, rules: null, configuration: { a: null }, anything: null });
    expect(Object.keys(faultsOf(() => checkPatch({ name: null })))).toEqual(['name']);
    expect(Object.keys(faultsOf(() => checkPatch({ require_auth: 'x' })))).toEqual(['require_auth']);
    expect(Object.keys(faultsOf(() => checkPatch({ settings: { deduplicate: 1 } })))).toEqual(['settings.deduplicate']);
  });
});
