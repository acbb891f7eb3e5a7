import { randomUUID } from 'node:crypto';
import { ServiceError } from '@sluice/problems';
import { evaluateExpression } from './expressions/evaluate-expression.ts';
import { filterBudget } from './expressions/filter-budget.ts';
import { type Expression, mayContainExpression, parseExpressions } from './expressions/parse-expressions.ts';
import { toText } from './expressions/to-text.ts';
import { isNestedDeeperThan, isObject, type Json, type JsonObject, mapLeaves } from './json.ts';
import { mergePatch } from './merge-patch.ts';
import { findInputs, replaceInputs } from './tokenization/tokenize.ts';
import { deepestJson, readTokenInput } from './tokens/create/read-token-input.ts';

/** Bounds for all calls of a run, because they are answered on the main thread. */
const mostTokens = 500;
const mostExpressions = 1000;

/**
 * Replaces the client of transforms during a trial. It keeps tokens in a map, checks them as a create does, and has no
 * rules, masks or search. Nothing reaches the vault.
 */
export class ClientStandIn {
  readonly #tokens = new Map<string, JsonObject>();
  readonly #budget = filterBudget();
  #leftToCreate = mostTokens;
  #leftToFill = mostExpressions;
  #calls = 0;

  get calls(): number {
    return this.#calls;
  }

  /** Executes a call of `req.svc`, as the host of a transform does. */
  async answer(operation: string, payloadJson: string): Promise<string> {
    this.#calls += 1;
    const payload: Json = JSON.parse(payloadJson);
    if (isNestedDeeperThan(deepestJson, payload)) throw refused(`Nested deeper than ${deepestJson} levels`);
    return JSON.stringify(this.#run(operation, payload)) ?? '';
  }

  #create(value: Json, path = ''): JsonObject {
    this.#leftToCreate -= 1;
    if (this.#leftToCreate < 0) throw refused(`A test run may create at most ${mostTokens} tokens`);
    const token = this.#present(value, path);
    if (this.#tokens.has(String(token.id))) throw new ServiceError('conflict', 'A token with this id exists already');
    this.#tokens.set(String(token.id), token);
    return token;
  }

  #present(value: Json, path: string): JsonObject {
    const input = readTokenInput(value, path, { now: new Date(), budget: filterBudget() });
    const { id = randomUUID(), type, data, mask, containers, metadata, use } = input;
    return { id, type, data, mask, containers, metadata, ...(use && { use }) };
  }

  #find(id: unknown): JsonObject {
    const token = this.#tokens.get(String(id));
    if (!token)
      throw new ServiceError('not_found', 'This token does not exist: a test run has only the tokens that it created');
    return token;
  }

  #update(id: unknown, patch: Json): JsonObject {
    const { id: _, type: __, ...changes } = isObject(patch) ? patch : {};
    const before = this.#find(id);
    const { use = before.use ?? null } = changes;
    const changed = this.#present({ ...(mergePatch(before, changes) as JsonObject), use }, '');
    this.#tokens.set(String(id), changed);
    return changed;
  }

  #tokenize(value: Json): Json {
    const created: JsonObject[] = [];
    findInputs(value, '', (input, path) => created.push(this.#create(input, path)));
    let next = 0;
    return replaceInputs(value, (asId) => {
      const token = created[next++] ?? null;
      return asId ? (token?.id ?? null) : token;
    });
  }

  #fill(text: string): Json {
    if (!mayContainExpression(text)) return text;
    const segments = parseExpressions(text);
    this.#leftToFill -= segments.length;
    if (this.#leftToFill < 0) throw refused(`A test run may replace at most ${mostExpressions} expressions`);
    const revealed = (expression: Expression) => {
      const token = this.#tokens.get(expression.reference);
      if (!token)
        throw refused(`Token ${expression.reference} does not exist: a test run has only the tokens that it created`);
      return evaluateExpression(expression, token.data ?? null, this.#budget);
    };
    const [first] = segments;
    if (segments.length === 1 && first?.kind === 'expression') return revealed(first);
    return segments.map((one) => (one.kind === 'literal' ? one.text : toText(revealed(one)))).join('');
  }

  #run(operation: string, payload: Json): Json | undefined {
    const { id, patch = null } = isObject(payload) ? payload : {};
    switch (operation) {
      case 'tokens.create':
        return this.#create(payload);
      case 'tokens.retrieve':
        return this.#find(id);
      case 'tokens.update':
        return this.#update(id, patch);
      case 'tokens.delete':
        this.#tokens.delete(String(this.#find(id).id));
        return undefined;
      case 'tokenize':
        return this.#tokenize(payload);
      case 'detokenize':
        return mapLeaves(payload, (leaf) => (typeof leaf === 'string' ? this.#fill(leaf) : leaf));
      default:
        throw new ServiceError(
          'not_implemented',
          `The code gets a client in its argument. This client has no operation ${operation.slice(0, 40)}`,
        );
    }
  }
}

function refused(detail: string): ServiceError {
  return new ServiceError('bad_request', detail);
}
