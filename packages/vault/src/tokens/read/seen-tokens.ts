import { isDeepStrictEqual } from 'node:util';
import { ServiceError } from '@sluice/problems';
import type { Vault } from '../../vault.ts';
import { isCvcKept } from '../expiry/cvc.ts';
import type { FoundToken } from '../token.queries.ts';
import { isOver, UseRefused } from '../use/purpose.ts';
import { unknownTokens } from './reveal-for-use.ts';
import { nextEnd } from './stored-tokens.ts';

/** Records the state of tokens when they were decrypted, to check before a value leaves that it has not changed. */
export class SeenTokens {
  /** Undefined until the first token, because most invocations have none. */
  #states: Map<string, State> | undefined;
  #bound: Set<string> | undefined;

  /** Whether the token has a `use`, so that each place where it stands must be judged. */
  isBound(id: string): boolean {
    return this.#bound?.has(id) === true;
  }

  /** @returns when the first of them, or its cvc, expires; null if none does. */
  note({ clock }: Pick<Vault, 'clock'>, tokens: readonly FoundToken[]): string | null {
    let end: string | null = null;
    const now = clock();
    this.#states ??= new Map();
    for (const token of tokens) {
      this.#states.set(token.id, stateOf(token, now));
      if (token.use) this.#bound = (this.#bound ?? new Set()).add(token.id);
      const ends = nextEnd(token, now);
      if (ends !== null && (end === null || Date.parse(ends) < Date.parse(end))) end = ends;
    }
    return end;
  }

  /** For a token that its user changes itself. */
  forget(id: string): void {
    this.#states?.delete(id);
  }

  /**
   * @throws {ServiceError} `invalid_proxy_request` naming tokens that are gone, `unavailable` if one has changed.
   * @throws {UseRefused} if the time of one is over.
   */
  async look({ tokens, clock }: Vault, tenantId: string): Promise<void> {
    const states = this.#states;
    if (!states || states.size === 0) return;
    const ids = [...states.keys()];
    const rows = await tokens.find(tenantId, ids);
    const found = new Map(rows.map((row) => [row.id, row]));
    const gone = ids.filter((id) => !found.has(id));
    if (gone.length > 0) throw unknownTokens(gone);
    const now = clock();
    const over = rows.filter(({ use }) => isOver(use, now));
    if (over.length > 0) throw new UseRefused(over.map(({ id }) => ({ token_id: id, member: 'until' })));
    if (rows.every((row) => isDeepStrictEqual(states.get(row.id), stateOf(row, now)))) return;
    const detail = 'A token was changed during this request; try again';
    throw new ServiceError('unavailable', detail, { retryAfterSeconds: 1 });
  }
}

/** A deleted id may name a new token. A patch changes `modified_at`, encrypting anew changes nothing. */
interface State {
  createdAt: string;
  modifiedAt: string | null;
  hasCvc: boolean;
}

function stateOf(token: FoundToken, now: Date): State {
  return { createdAt: token.created_at, modifiedAt: token.modified_at, hasCvc: isCvcKept(token, now) };
}
