import { createHmac, type KeyObject, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Database } from '@sluice/database';
import { type IdempotencyStore, type IdempotentRequest, Reply } from '@sluice/http-api';
import { ServiceError } from '@sluice/problems';
import { decryptSecret, encryptSecret, type KeyHolder } from '@sluice/vault';
import { type Claim, claimKey, findRecord, releaseClaim, storeAnswer } from './idempotency.queries.ts';

export interface IdempotencyOptions {
  db: Database;
  /** Answers hold keys and values, so they are kept encrypted. */
  vault: KeyHolder;
  /** Hashes of bodies are keyed: a card number could be guessed from a plain one. */
  pepper: KeyObject;
  /** Told when an answer could not be kept: the operation has happened, and its caller is answered. */
  onError: (error: unknown) => void;
}

/**
 * Keeps the first success under an idempotency key for 24 hours and replays it. Scoped to Application, method and path.
 * The same key while the first request is under way, or with another body, is a `conflict`.
 */
export function openIdempotency({ db, vault, pepper, onError }: IdempotencyOptions): IdempotencyStore {
  function claimOf({ caller, method, path, key, body }: IdempotentRequest): Claim {
    const hash = (...parts: string[]) => createHmac('sha256', pepper).update(JSON.stringify(parts)).digest();
    return {
      tenantId: caller.tenantId,
      applicationId: caller.id,
      requestHash: hash('idempotency', method, path, key),
      bodyHash: hash('idempotency body', JSON.stringify(body) ?? ''),
      claimId: randomUUID(),
    };
  }

  async function keep(claim: Claim, { status, body, headers }: Reply): Promise<void> {
    const text = JSON.stringify({ status, body, headers });
    await storeAnswer(db, claim, await encryptSecret(vault, placeOf(claim), text));
  }

  async function replay(claim: Claim): Promise<Reply> {
    const record = await findRecord(db, claim);
    if (record && !timingSafeEqual(record.body_hash, claim.bodyHash)) {
      throw new ServiceError('conflict', 'This idempotency key was used with another body');
    }
    if (!record?.answer_ciphertext) {
      throw new ServiceError('conflict', 'A request with this idempotency key is under way', { retryAfterSeconds: 1 });
    }
    const text = await decryptSecret(vault, placeOf(claim), record.answer_ciphertext);
    const { status, body, headers } = JSON.parse(text.toString());
    return new Reply(status, body, headers);
  }

  return {
    async run(request, work) {
      const claim = claimOf(request);
      if (!(await claimKey(db, claim))) return request.onReplay(await replay(claim));
      try {
        const reply = await work();
        await keep(claim, request.toKeep(reply)).catch(onError);
        return reply;
      } catch (error) {
        await releaseClaim(db, claim).catch(onError);
        throw error;
      }
    },
  };
}

function placeOf({ tenantId, applicationId, requestHash }: Claim) {
  const recordId = `${applicationId} ${requestHash.toString('hex')}`;
  return { tenantId, purpose: 'idempotency', recordId, field: 'answer' } as const;
}
