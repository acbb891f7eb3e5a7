import type { ServerResponse } from 'node:http';
import type { BodyBytes, BodyDirection, Reservation } from '@sluice/body-bytes';
import type { AtOnceOrLater } from '@sluice/cache-coherence';
import { type Caller, type Invalidations, Judgement } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import type { ServiceError } from '@sluice/problems';
import { type CountedUses, type DecryptionBudget, mostDecryptedBytes, SeenTokens } from '@sluice/vault';
import type { ConsoleSecrets } from '../code/console/secrets.ts';
import type { RequestGuard } from '../guard/request-guard.ts';
import type { RevealingApplication } from './revealing-application.ts';

/** A Proxy or a reactor. */
export interface Owner {
  readonly id: string;
  readonly tenantId: string;
  /** The Application as which its code acts. */
  readonly applicationId?: string | undefined;
}

/** Finds the owner for which somebody acts, and its caller: the first time, and each time that rights are checked again. */
export interface Selection<O extends Owner> {
  /** Undefined if there is none. */
  find(): AtOnceOrLater<O | undefined>;
  /**
   * The owner that was found first, as it is now, whatever has become of the caller. Undefined if it is gone. In a
   * transaction it reads past the caches.
   */
  findAgain(tx?: Queryable): AtOnceOrLater<O | undefined>;
  notFound(): ServiceError;
  /** The caller with its present rights. @throws {ServiceError} if it may not use the owner. */
  authenticate(owner: O): Promise<Caller>;
  /** Called by each look before all else, for what is judged elsewhere. */
  lookFirst?(): Promise<void> | undefined;
  /** The owner with which work may go on after `known` has become `found`. Undefined if the change matters. */
  goOnWith(found: O, known: O, isBeforeCode: boolean): O | undefined;
  /** The error for a change that matters. */
  changed(what: 'owner' | 'caller' | 'application'): ServiceError;
}

interface ActingBegin<O> {
  owner: O;
  memory: Reservation;
  judgement: Judgement;
  traceId: string;
  response?: ServerResponse | undefined;
}

/** The bytes reserved for the body itself suffice for data up to this size. */
const smallData = 16 * 1024;

/** Who acts in an invocation or a run, with which rights, and what it holds meanwhile. */
export class Acting<O extends Owner = Owner> implements DecryptionBudget {
  readonly selection: Selection<O>;
  /** Made before owner and caller were read, so that it notices every later change. */
  readonly judgement: Judgement;
  readonly traceId: string;
  /** Of the caller that waits. */
  readonly response: ServerResponse | undefined;
  readonly memory: Reservation;
  owner: O;
  /** Undefined until it is needed: a Proxy may need none. */
  caller: Caller | undefined;
  /** As which the tokens of a Proxy's own headers were revealed. */
  revealing: RevealingApplication | undefined;
  /** As which `req.svc` of a reactor acts. */
  application: Caller | undefined;
  /** The tokens whose values were decrypted for its body or arguments. */
  readonly seen = new SeenTokens();
  /** The tokens whose use was counted; each counts once, however often it is revealed. */
  readonly counted: CountedUses = new Map();
  /** Values that its code has seen. Never logged, and redacted from what code prints. */
  secrets: ConsoleSecrets | undefined;
  /** Of a Proxy with a response guard. */
  guard: RequestGuard | undefined;
  hasPlace = false;
  /** Of the bytes of tokens that may be decrypted for its body or arguments and for its code. */
  leftBytes = mostDecryptedBytes;
  expressions = 0;
  /** The body for which memory is reserved now. */
  direction: BodyDirection = 'request';
  /** Whether that body streams; then nothing was reserved for it. */
  isStreamed = false;

  constructor(selection: Selection<O>, { owner, memory, judgement, traceId, response }: ActingBegin<O>) {
    this.memory = memory;
    this.selection = selection;
    this.owner = owner;
    this.judgement = judgement;
    this.traceId = traceId;
    this.response = response;
  }

  get tenantId(): string {
    return this.owner.tenantId;
  }

  /** From now on the rights of `caller` count. */
  admitCaller(caller: Caller): void {
    this.judgement.endsAt(caller.expiresAt);
    this.caller = caller;
  }

  /** Reserves the bytes of token data first, because a request of some kilobytes can name megabytes of tokens. */
  hold(bytes: number): Promise<void> | undefined {
    if (bytes <= smallData && !this.isStreamed) return undefined;
    return this.memory.part(this.direction).grow(bytes);
  }
}

/** @throws {ServiceError} 404 if there is no such owner. */
export async function admit<O extends Owner>(
  selection: Selection<O>,
  { caches, bodyBytes }: { caches: Invalidations; bodyBytes: BodyBytes },
  begin: Omit<ActingBegin<O>, 'owner' | 'memory' | 'judgement'>,
): Promise<Acting<O>> {
  const judgement = new Judgement(caches);
  const found = selection.find();
  const owner = found instanceof Promise ? await found : found;
  if (!owner) throw selection.notFound();
  const memory = bodyBytes.open({ tenantId: owner.tenantId, caller: begin.response });
  return new Acting(selection, { ...begin, owner, memory, judgement });
}
