import { createHmac, type KeyObject, randomUUID, timingSafeEqual } from 'node:crypto';
import { parsedBytes } from '@sluice/body-bytes';
import type { Database, Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import { decryptSecret, encryptSecret, type KeyHolder, prepareSecret } from '@sluice/vault';
import { type Confirmation, type PendingChange, Reply, Unkept } from '../operation.ts';
import {
  type Claim,
  claimKey,
  findAnswer,
  findRecord,
  insertAnswers,
  type KeptAnswer,
  type LiveRecord,
  releaseClaim,
  storeAnswer,
} from './idempotency.queries.ts';
import type { IdempotencyStore, IdempotentRequest } from './idempotency-store.ts';

export interface IdempotencyOptions {
  db: Database;
  /** Encrypts stored responses, because they contain keys and values. */
  vault: KeyHolder;
  /** Keys the hashes of bodies, because a card number could be guessed from a plain hash. */
  pepper: KeyObject;
  /** Called if a response could not be stored. The operation has completed, and its caller gets the response. */
  onError: (error: unknown) => void;
  /** Waits until no process serves the old state. For services whose operations change cached data. */
  confirm?: (change: PendingChange) => Promise<Confirmation>;
}

/** A response comes from Postgres as hexadecimal: it is in memory as a message, as text, decoded, and decrypted. */
const copiesRead = 5;

const stillInProgress: ConstructorParameters<typeof ServiceError> = [
  'conflict',
  'Another request with this idempotency key is still in progress; try again',
  { retryAfterSeconds: 1 },
];

interface Kept {
  status: number;
  body: unknown;
  headers: Readonly<Record<string, string>>;
  /** Present until the change has been confirmed to a caller. */
  change?: PendingChange | undefined;
}

/** For one caller, method and path. @throws {ServiceError} `conflict` for another body, or while the first request runs. */
export function idempotencyStore({ db, vault, pepper, onError, confirm }: IdempotencyOptions): IdempotencyStore {
  function claimOf({ caller, method, path, key, body, ifMatch }: IdempotentRequest): Claim {
    const hash = (...parts: string[]) => createHmac('sha256', pepper).update(JSON.stringify(parts)).digest();
    return {
      tenantId: caller.tenantId,
      applicationId: caller.id,
      requestHash: hash('idempotency', method, path, key),
      bodyHash: hash('idempotency body', JSON.stringify(body) ?? '', ...(ifMatch === undefined ? [] : [ifMatch])),
      claimId: randomUUID(),
    };
  }

  async function keep(claim: Claim, reply: Reply): Promise<void> {
    await storeAnswer(db, claim, await encryptSecret(vault, placeOf(claim), textOf(reply)));
  }

  async function replay(claim: Claim, { hold, onReplay }: IdempotentRequest, found?: LiveRecord): Promise<Reply> {
    const record = found ?? (await findRecord(db, claim));
    if (record) requireSameBody(record.body_hash, claim);
    if (!record?.answer_bytes) throw underWay();
    await hold(copiesRead * record.answer_bytes);
    const answer = await findAnswer(db, claim);
    if (!answer) throw underWay(); // because the record expired after it was found
    const { status, body, headers, change } = await parseKept(await decryptSecret(vault, placeOf(claim), answer), hold);
    const confirmation = change && (await confirm?.(change));
    return onReplay(new Reply(status, body, headers), confirmation);
  }

  /**
   * The key is neither claimed nor looked up first. The creating transaction itself inserts the record with the response, so a
   * process that dies leaves both or nothing, and the transaction of a repeated or concurrent request is rolled back.
   */
  async function create(claim: Claim, request: IdempotentRequest, work: Work): Promise<Reply> {
    let kept: { change: PendingChange | undefined } | undefined;
    try {
      using _ = creating.begin(claim);
      const encrypt = await prepareSecret(vault, placeOf(claim));
      const reply = await work(async (tx, reply, change) => {
        await answers.keep(tx, { ...claim, answer: encrypt(textOf(request.toKeep(reply), change)) });
        kept = { change };
      });
      if (!kept) {
        if (!(reply instanceof Unkept)) throw new Error(`${request.method} ${request.path} kept no answer`);
        const record = await findRecord(db, claim);
        return record ? replay(claim, request, record) : reply;
      }
      // Stored again, because its change is now confirmed.
      if (kept.change) await keep(claim, request.toKeep(reply)).catch(onError);
      return reply;
    } catch (error) {
      // The work may have failed because an earlier request with this key has completed, and has for example taken the
      // id. If only the confirmation of that creation failed, this request confirms it.
      const isDone = kept && !(error instanceof ServiceError && error.code === 'conflict');
      const record = isDone ? undefined : await findRecord(db, claim).catch(onError);
      if (record) return replay(claim, request, record);
      throw error;
    }
  }

  async function change(claim: Claim, request: IdempotentRequest, work: Work): Promise<Reply> {
    if (!(await claimKey(db, claim))) return replay(claim, request);
    try {
      const reply = await work();
      const kept = reply instanceof Unkept ? releaseClaim(db, claim) : keep(claim, request.toKeep(reply));
      await kept.catch(onError);
      return reply;
    } catch (error) {
      await releaseClaim(db, claim).catch(onError);
      throw error;
    }
  }

  const answers = new AnswersOfTransactions();
  const creating = new CreationsUnderWay();
  return {
    run: (request, work) => (request.creates ? create : change)(claimOf(request), request, work),
  };
}

type Work = Parameters<IdempotencyStore['run']>[1];

/** Stores the responses of all requests that share a transaction in one statement. */
class AnswersOfTransactions {
  readonly #batches = new WeakMap<Queryable, { answers: KeptAnswer[]; claimed: Promise<string[]> }>();

  /** @throws {KeyInUse}: then the transaction must be rolled back. */
  async keep(tx: Queryable, answer: KeptAnswer): Promise<void> {
    const batch = this.#batches.get(tx) ?? this.#open(tx);
    batch.answers.push(answer);
    if (!(await batch.claimed).includes(answer.claimId)) throw new KeyInUse();
  }

  #open(tx: Queryable) {
    const answers: KeptAnswer[] = [];
    const { promise: claimed, resolve } = Promise.withResolvers<string[]>();
    // By then all requests of the transaction with a response have added it.
    process.nextTick(() => {
      this.#batches.delete(tx);
      resolve(insertAnswers(tx, answers));
    });
    const batch = { answers, claimed };
    this.#batches.set(tx, batch);
    return batch;
  }
}

/**
 * Creations in progress in this process. A creation in another process is noticed when its transaction stores the
 * response.
 */
class CreationsUnderWay {
  readonly #bodies = new Map<string, Buffer>();

  /** @throws {ServiceError} `conflict` if a creation with this key is in progress. */
  begin(claim: Claim): Disposable {
    const { applicationId, requestHash, bodyHash } = claim;
    const name = `${applicationId} ${requestHash.toString('base64')}`;
    const other = this.#bodies.get(name);
    if (other) {
      requireSameBody(other, claim);
      throw underWay();
    }
    this.#bodies.set(name, bodyHash);
    return { [Symbol.dispose]: () => this.#bodies.delete(name) };
  }
}

/** Another request has claimed the key first. */
class KeyInUse extends ServiceError {
  constructor() {
    super(...stillInProgress);
  }
}

function requireSameBody(bodyHash: Buffer, claim: Claim): void {
  if (timingSafeEqual(bodyHash, claim.bodyHash)) return;
  throw new ServiceError('conflict', 'This idempotency key was used with another body or If-Match');
}

async function parseKept(plaintext: Buffer, hold: IdempotentRequest['hold']): Promise<Kept> {
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
  return new ServiceError(...stillInProgress);
}

function placeOf({ tenantId, applicationId, requestHash }: Claim) {
  const recordId = `${applicationId} ${requestHash.toString('hex')}`;
  return { tenantId, purpose: 'idempotency', recordId, field: 'answer' } as const;
}
