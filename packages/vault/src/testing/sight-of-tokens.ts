import { ServiceError } from '@sluice/problems';
import fc from 'fast-check';
import { type Actor, detokenize, findToken, type Json, searchTokens, type Vault } from '../index.ts';

const secret = 'canary-4242';
export const places = ['/a/', '/b/', '/c/'];

export const hidden = { data: { secret }, mask: 'masked', search_indexes: ['{{ data.secret }}'] };

export const anyRule = fc.record({
  priority: fc.integer({ min: 1, max: 3 }),
  container: fc.constantFrom(...places, '/'),
  transform: fc.constantFrom('redact' as const, 'mask' as const, 'reveal' as const),
  permissions: fc.subarray(['token:update', 'token:read', 'token:use', 'token:search'], { minLength: 1 }),
});

export const anyPatch: fc.Arbitrary<Json> = fc.oneof(
  fc.record({ containers: fc.subarray(places, { minLength: 1 }) }),
  fc.constantFrom<Json>(
    { mask: '{{ data.secret }}' },
    { mask: { x: '{{ data.secret | slice: 0, 4 }}' } },
    { mask: null },
    { search_indexes: ['{{ data.secret }}'] },
    { fingerprint_expression: '{{ data.secret }}' },
    { metadata: { a: 'b' } },
    { data: { other: 'x' } },
  ),
);

export interface Sight {
  isShown: boolean;
  isFound: boolean;
}

export async function sightOf(vault: Vault, actor: Actor, id: string): Promise<Sight> {
  const reads = [
    () => findToken(vault, actor, id),
    () => detokenize(vault, actor, `{{ ${id} }}`),
    () => detokenize(vault, actor, `{{ ${id} }}`, 'use'),
  ];
  const seen = await Promise.all(reads.map((read) => textOf(read)));
  const found = await textOf(() =>
    searchTokens(vault, actor, { query: `id:${id} AND data:"${secret}"`, page: 1, size: 1 }),
  );
  return { isShown: seen.some((text) => text.includes('canary')), isFound: found.includes(id) };
}

async function textOf(read: () => Promise<unknown>): Promise<string> {
  try {
    return JSON.stringify(await read());
  } catch (error) {
    if (error instanceof ServiceError) return '';
    throw error;
  }
}
