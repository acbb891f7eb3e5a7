import { createHmac, type KeyObject, randomUUID, timingSafeEqual } from 'node:crypto';
import { parsedBytes } from '@sluice/body-bytes';
import type { Database } from '@sluice/database';
import {
  type Confirmation,
  type IdempotencyStore,
  type IdempotentRequest,
  type KeepReply,
  type PendingChange,
  Reply,
} from '@sluice/http-api';
import { ServiceError } from '@sluice/problems';
import { decryptSecret, encryptSecret, type KeyHolder, prepareSecret } from '@sluice/vault';
import { type Claim, claimKey, findAnswer, findRecord, releaseClaim, storeAnswer } from './idempotency.queries.ts';

export interface IdempotencyOptions {
  db: Database;
  /** Encrypts kept answers, because they hold keys and values. */
  vault: KeyHolder;
  /** Keys the hashes of bodies, because a card number could be guessed from a plain hash. */
  pepper: KeyObject;
  /** Called when an answer could not be kept. The operation has happened, and its caller is answered. */
  onError: (error: unknown) => void;
  /** Waits until no process serves the old state. For services whose operations change cached data. */
  confirm?: (change: PendingChange) => Promise<Confirmation>;
}

/** An answer comes from Postgres as hexadecimal: as a message, as text, decoded, and decrypted. */
const copiesRead = 5;

interface Kept {
  status: number;
  body: unknown;
  headers: Readonly<Record<string, string>>;
  /** Present until the change has been confirmed to somebody. */
  change?: PendingChange | undefined;
}

/** For one caller, method and path. @throws {ServiceError} `conflict` for another body, or while the first goes on. */
export function openIdempotency({ db, vault, pepper, onError, confirm }: IdempotencyOptions): IdempotencyStore {
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

  async function keep(claim: Claim, reply: Reply): Promise<void> {
    await storeAnswer(db, claim, await encryptSecret(vault, placeOf(claim), textOf(reply)));
  }

  async function prepareKeeping(claim: Claim, { toKeep }: IdempotentRequest): Promise<KeepReply> {
    const encrypt = await prepareSecret(vault, placeOf(claim));
    return async (tx, reply, change) => {
      if (await storeAnswer(tx, claim, encrypt(textOf(toKeep(reply), change)))) return;
      throw underWay(); // another request has taken the key over meanwhile, so this transaction must be rolled back
    };
  }

  async function replay(claim: Claim, { hold, onReplay }: IdempotentRequest): Promise<Reply> {
    const record = await findRecord(db, claim);
    if (record && !timingSafeEqual(record.body_hash, claim.bodyHash)) {
      throw new ServiceError('conflict', 'This idempotency key was used with another body');
    }
    if (!record?.answer_bytes) throw underWay();
    await hold(copiesRead * record.answer_bytes);
    const answer = await findAnswer(db, claim);
    if (!answer) throw underWay(); // its 24 hours ended meanwhile
    const { status, body, headers, change } = await openKept(await decryptSecret(vault, placeOf(claim), answer), hold);
    const confirmation = change && (await confirm?.(change));
    return onReplay(new Reply(status, body, headers), confirmation);
  }

  return {
    async run(request, work) {
      const claim = claimOf(request);
      if (!(await claimKey(db, claim))) return replay(claim, request);
      try {
        const reply = await work(await prepareKeeping(claim, request));
        await keep(claim, request.toKeep(reply)).catch(onError);
        return reply;
      } catch (error) {
        await releaseClaim(db, claim).catch(onError);
        throw error;
      }
    },
  };
}

async function openKept(plaintext: Buffer, hold: IdempotentRequest['hold']): Promise<Kept> {
  try {
    await hold(parsedBytes(plaintext));
    return JSON.parse(plaintext.toString());
  } finally {
    plaintext.fill(0);
  }
}

function textOf({ status, body, headers }: Reply, change?: PendingChange): string {
  return JSON.stringify({ status, body, headers, change } satisfies Kept);
}

function underWay(): ServiceError {
  return new ServiceError('conflict', 'A request with this idempotency key is still in progress; try again', {
    retryAfterSeconds: 1,
  });
}

function placeOf({ tenantId, applicationId, requestHash }: Claim) {
  const recordId = `${applicationId} ${requestHash.toString('hex')}`;
  return { tenantId, purpose: 'idempotency', recordId, field: 'answer' } as const;
}
