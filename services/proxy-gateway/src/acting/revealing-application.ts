import { isDeepStrictEqual } from 'node:util';
import type { Caller, Judgement } from '@sluice/credentials';
import { ServiceError } from '@sluice/problems';
import { type Json, requireUse, revealForUse, SeenTokens, UseRefused } from '@sluice/vault';
import type { Context } from '../context.ts';

export type Revealing = Pick<Context, 'vault' | 'callers'>;

type Revealed = NonNullable<Parameters<typeof revealForUse>[3]>;

interface ByApplication {
  tenantId: string;
  /** It stays set after the Application is deleted or has expired. */
  revealingApplicationId: string | undefined;
}

/**
 * The Application with whose rights the tokens in the headers that a Proxy sets are revealed. Its rights count as they
 * are at each look. No other rights take its place, so that a Proxy whose Application is gone reveals nothing to a
 * caller who was never meant to.
 */
export class RevealingApplication {
  application: Caller;
  readonly #tokenIds: readonly string[];
  /** Apart from the caller's, because errors name those. */
  readonly #seen = new SeenTokens();
  readonly #context: Revealing;

  private constructor(application: Caller, tokenIds: readonly string[], context: Revealing) {
    this.application = application;
    this.#tokenIds = tokenIds;
    this.#context = context;
  }

  /** @throws {ServiceError} 403 if it is gone. */
  static async find(
    { tenantId, revealingApplicationId: id = '' }: ByApplication,
    tokenIds: readonly string[],
    context: Revealing,
  ): Promise<RevealingApplication> {
    return new RevealingApplication(await present(tenantId, id, context), tokenIds, context);
  }

  /** @throws {ServiceError} 403 if it may not use one of the tokens, 400 if one does not exist. */
  reveal(judgement: Judgement, { onFound: then, ...revealing }: Revealed): Promise<Map<string, Json>> {
    const { vault } = this.#context;
    judgement.endsAt(this.application.expiresAt);
    const onFound: Revealed['onFound'] = (rows) => {
      judgement.endsAt(this.#seen.note(vault, rows));
      then?.(rows);
    };
    return withoutNames(() => revealForUse(vault, this.application, this.#tokenIds, { ...revealing, onFound }));
  }

  /** @throws {ServiceError} 403 if it is gone or has lost a right that it used, 400 and 503 if a token has changed. */
  async look(): Promise<void> {
    const { tenantId, id } = this.application;
    const { vault } = this.#context;
    const now = await present(tenantId, id, this.#context);
    await withoutNames(async () => {
      if (!isDeepStrictEqual(now, this.application)) await requireUse(vault, now, this.#tokenIds);
      await this.#seen.look(vault, tenantId);
    });
    this.application = now;
  }
}

async function present(tenantId: string, id: string, { callers }: Revealing): Promise<Caller> {
  const application = await callers.byId(tenantId, id);
  if (application) return application;
  const detail =
    'The Application of this Proxy was deleted or has expired, so the tokens in the request_headers of the Proxy cannot be revealed';
  throw new ServiceError(
    'forbidden',
    `${detail}. Set the field application of the Proxy to another Application, or to null`,
  );
}

async function withoutNames<T>(revealing: () => Promise<T>): Promise<T> {
  try {
    return await revealing();
  } catch (error) {
    if (error instanceof UseRefused) throw withoutNameOf(error);
    if (error instanceof ServiceError && error.code === 'forbidden') throw new ServiceError('forbidden', notPermitted);
    if (error instanceof ServiceError && error.code === 'invalid_proxy_request') {
      throw new ServiceError(
        'invalid_proxy_request',
        'The request_headers of this Proxy contain the id of a token that does not exist',
      );
    }
    throw error;
  }
}

const notPermitted = 'The Application of this Proxy lacks token:use on a token in the request_headers of the Proxy';

/** Says nothing about the token but which member of its `use` refuses. */
export function withoutNameOf({ refusals }: UseRefused): UseRefused {
  const members = [...new Set(refusals.map(({ member }) => `use.${member}`))].join(', ');
  return new UseRefused(
    refusals,
    `A token in the request_headers of the Proxy may not be used here, because of its ${members}`,
  );
}
