import { ServiceError } from '@sluice/problems';
import { endedEarly } from '../http/content-coding.ts';

/** Which way a body goes. */
export type BodyDirection = 'request' | 'answer';

/** Bytes that one body may take, from before it is read until its invocation is over. */
export interface Reservation {
  /** Undefined: they are there at once. @throws {ServiceError} 503 after the longest wait. */
  readonly granted: Promise<void> | undefined;
  /** The body turned out to be smaller. */
  shrinkTo(bytes: number): void;
  /** Gives back what is left, or stops waiting. */
  release(): void;
}

/**
 * How much memory bodies take in this process. Whoever comes beyond it waits: among Tenants in turn, within one in order.
 */
export interface BodyBytes {
  reserve(tenantId: string, bytes: number, direction: BodyDirection): Reservation;
  readonly held: number;
  /** Of all Tenants together. */
  readonly limit: number;
  readonly waiting: number;
  readonly refusals: number;
}

export interface BodyBytesOptions {
  processBytes: number;
  tenantBytes: number;
  waitMs: number;
}

/**
 * The part that requests may take. The rest is for answers: an invocation whose request is held waits for its answer
 * only, and answers wait for nobody, so that some of them always end.
 */
const requestPart = 0.75;

interface Wanted {
  bytes: number;
  direction: BodyDirection;
}

interface Waiter extends Wanted {
  grant(): void;
}

interface Lane {
  held: number;
  ofRequests: number;
  waiting: Waiter[];
}

export function createBodyBytes({ processBytes, tenantBytes, waitMs }: BodyBytesOptions): BodyBytes {
  /** In the order in which their turn comes. */
  const lanes = new Map<string, Lane>();
  let held = 0;
  let ofRequests = 0;
  let waiting = 0;
  let refusals = 0;
  const mostOfOne = Math.floor(Math.min(tenantBytes, processBytes) * requestPart);

  const fitsTenant = (lane: Lane, { bytes, direction }: Wanted) =>
    lane.held + bytes <= tenantBytes &&
    (direction === 'answer' || lane.ofRequests + bytes <= tenantBytes * requestPart);
  const fitsProcess = ({ bytes, direction }: Wanted) =>
    held + bytes <= processBytes && (direction === 'answer' || ofRequests + bytes <= processBytes * requestPart);

  function count(lane: Lane, bytes: number, direction: BodyDirection): void {
    lane.held += bytes;
    held += bytes;
    if (direction === 'answer') return;
    lane.ofRequests += bytes;
    ofRequests += bytes;
  }

  /** Answers first: they end what requests wait for. */
  const nextOf = (lane: Lane) => lane.waiting.find(({ direction }) => direction === 'answer') ?? lane.waiting[0];

  function grantNext(): void {
    if (waiting === 0) return;
    for (const [tenantId, lane] of lanes) {
      const next = nextOf(lane);
      if (!next || !fitsTenant(lane, next)) continue;
      // What waits for room in the process keeps its turn, or large bodies would wait for ever.
      if (!fitsProcess(next)) return;
      lane.waiting.splice(lane.waiting.indexOf(next), 1);
      waiting -= 1;
      lanes.delete(tenantId);
      lanes.set(tenantId, lane);
      count(lane, next.bytes, next.direction);
      next.grant();
      grantNext();
      return;
    }
  }

  function laneOf(tenantId: string): Lane {
    const known = lanes.get(tenantId);
    if (known) return known;
    const lane: Lane = { held: 0, ofRequests: 0, waiting: [] };
    lanes.set(tenantId, lane);
    return lane;
  }

  function giveBackFrom(lane: Lane, tenantId: string, bytes: number, direction: BodyDirection): void {
    count(lane, -bytes, direction);
    if (lane.held === 0 && lane.waiting.length === 0) lanes.delete(tenantId);
    grantNext();
  }

  /** @returns what ends the wait; the promise then rejects. */
  function wait(lane: Lane, { bytes, direction }: Wanted, onGranted: () => void) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => {}); // Whoever awaits it is told; where nobody does any more, a rejection would end the process.
    const grant = () => {
      clearTimeout(timer);
      onGranted();
      resolve();
    };
    const waiter: Waiter = { bytes, direction, grant };
    lane.waiting.push(waiter);
    waiting += 1;
    const stop = (error: ServiceError) => {
      const at = lane.waiting.indexOf(waiter);
      if (at === -1) return;
      clearTimeout(timer);
      lane.waiting.splice(at, 1);
      waiting -= 1;
      reject(error);
      grantNext();
    };
    const timer = setTimeout(() => {
      refusals += 1;
      stop(noRoom());
    }, waitMs);
    grantNext();
    return { granted: promise, stop };
  }

  return {
    reserve(tenantId, wanted, direction) {
      const lane = laneOf(tenantId);
      // One body alone is always served.
      const bytes = Math.min(wanted, mostOfOne);
      let counted = 0;
      let waits: ReturnType<typeof wait> | undefined;
      if (waiting === 0 && fitsTenant(lane, { bytes, direction }) && fitsProcess({ bytes, direction })) {
        counted = bytes;
        count(lane, bytes, direction);
      } else {
        waits = wait(lane, { bytes, direction }, () => {
          counted = bytes;
        });
      }
      const shrinkTo = (left: number) => {
        if (left >= counted) return;
        const surplus = counted - left;
        counted = left;
        giveBackFrom(lane, tenantId, surplus, direction);
      };
      return {
        granted: counted > 0 ? undefined : waits?.granted,
        shrinkTo,
        release: () => {
          waits?.stop(endedEarly());
          shrinkTo(0);
        },
      };
    },
    limit: processBytes,
    get held() {
      return held;
    },
    get waiting() {
      return waiting;
    },
    get refusals() {
      return refusals;
    },
  };
}

function noRoom(): ServiceError {
  return new ServiceError('unavailable', 'Too many bytes of bodies are held; try again later', {
    retryAfterSeconds: 1,
  });
}
