import { ServiceError } from '@sluice/problems';
import { filterBudget } from '../expressions/filter-budget.ts';
import { isNestedDeeperThan, isObject, type Json, type JsonObject } from '../json.ts';
import { createTokens } from '../tokens/create/create-tokens.ts';
import { type Creation, draftTokens, tokensOfPiece } from '../tokens/create/draft-tokens.ts';
import type { CreatedToken } from '../tokens/create/present-created.ts';
import { readTokenInput, type TokenInput } from '../tokens/create/read-token-input.ts';
import { requirePermission } from '../tokens/require-permission.ts';
import type { Actor } from '../tokens/token.ts';
import type { Vault } from '../vault.ts';

const deepest = 500;
const mostTokens = 5000;

export interface Tokenization {
  tokens: number;
  draft(): Promise<Creation>;
  fill(created: readonly CreatedToken[]): Json;
}

/**
 * `{ type, data }` becomes a token, any other value the id of a token, all or none. @throws as `readTokenization`,
 * `createTokens`.
 */
export async function tokenize(vault: Vault, actor: Actor, value: Json): Promise<Json> {
  const { draft, fill } = await readTokenization(vault, actor, value);
  return createTokens(await draft(), { answerTo: fill });
}

/** @throws {ServiceError} as `draftToken`, with paths from the root of `value`; `bad_request` over 5,000 tokens. */
export async function readTokenization(vault: Vault, actor: Actor, value: Json): Promise<Tokenization> {
  requirePermission(actor, 'token:create');
  if (isNestedDeeperThan(deepest, value))
    throw new ServiceError('bad_request', `The value is nested deeper than ${deepest} levels`);
  const found: { input: Json; path: string }[] = [];
  findInputs(value, '', (input, path) => {
    if (found.length === mostTokens) {
      throw new ServiceError('bad_request', `One request may create at most ${mostTokens} tokens`);
    }
    found.push({ input, path });
  });
  const inputs: TokenInput[] = [];
  const reading = { now: vault.clock(), budget: filterBudget() };
  for (const { input, path } of found) {
    if (inputs.length > 0 && inputs.length % tokensOfPiece === 0) await vault.workPieces.turn(actor.tenantId);
    inputs.push(readTokenInput(input, path, reading));
  }
  return {
    tokens: inputs.length,
    draft: () => draftTokens(vault, actor, inputs),
    fill(created) {
      let next = 0;
      return replaceInputs(value, (asId) => {
        const token = created[next++]?.token;
        if (!token) throw new Error('A token is missing');
        return asId ? token.id : (token as unknown as Json);
      });
    },
  };
}

/** Calls `found` for each value that becomes a token, in the order of {@link replaceInputs}. */
export function findInputs(value: Json, path: string, found: (input: Json, path: string) => void): void {
  if (value === null) return;
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) findInputs(item, `${path}[${i}]`, found);
  } else if (!isObject(value)) found({ data: value }, path);
  else if (isTokenInput(value)) found(value, path);
  else for (const name in value) findInputs(value[name] ?? null, path === '' ? name : `${path}.${name}`, found);
}

/** `asId`: the value is the data alone, not `{ type, data }`. */
export function replaceInputs(value: Json, replacement: (asId: boolean) => Json): Json {
  if (value === null) return null;
  if (Array.isArray(value)) return value.map((item) => replaceInputs(item, replacement));
  if (!isObject(value)) return replacement(true);
  if (isTokenInput(value)) return replacement(false);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, replaceInputs(member, replacement)]));
}

const isTokenInput = (value: JsonObject) => Object.hasOwn(value, 'type') && Object.hasOwn(value, 'data');
