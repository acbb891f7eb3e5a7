import { type AtOnceOrLater, andThen } from '@sluice/cache-coherence';
import type { Context } from '../context.ts';
import { joinUrl } from '../destination/index.ts';
import { fillBody, noteDisclosure, openExpressions } from '../detokenization/reveal.ts';
import { findProxy } from '../proxies/find-proxy.ts';
import type { Invocation } from '../proxies/invocation.ts';
import { authenticate, lookAgainOnTheWay } from '../proxies/look-again.ts';
import { transformRequest } from '../transforms/request-transform.ts';
import { callDestination, type Outcome } from './call-destination.ts';
import { readInvocation } from './read-invocation.ts';
import { readRequest } from './read-request.ts';

/** A step is done when it returns, or when its promise resolves. It leaves its results in the invocation. */
type Step = (invocation: Invocation, context: Context) => AtOnceOrLater<void>;

const steps: readonly Step[] = [
  readHead,
  selectProxy,
  lookAgainAfter(authenticate),
  checkRateLimits,
  admit,
  lookAgainAfter(readRequest),
  startDetokenizing,
  lookAgainAfter(openExpressions),
  noteDisclosure,
  lookAgainAfter(fillBody),
  lookAgainAfter(transformRequest),
];

/** Only a step that has to wait returns a promise, so with warm caches all steps run in one turn of the event loop. */
export function invoke(invocation: Invocation, context: Context, outcome: Outcome): void {
  try {
    for (let step = steps[invocation.step]; step; step = steps[invocation.step]) {
      invocation.step += 1;
      const waiting = step(invocation, context);
      if (!waiting) continue;
      waiting.then(
        () => invoke(invocation, context, outcome),
        (error: unknown) => outcome.failed(invocation, error),
      );
      return;
    }
    callDestination(invocation, context, outcome);
  } catch (error) {
    outcome.failed(invocation, error);
  }
}

function readHead(invocation: Invocation, { headerNames }: Context): void {
  invocation.head = readInvocation(invocation.request, headerNames);
  invocation.clock.enter('authenticate');
}

function selectProxy(invocation: Invocation, context: Context): AtOnceOrLater<void> {
  return andThen(findProxy(invocation.head.proxyKey, context), (proxy) => {
    invocation.proxy = proxy;
  });
}

function checkRateLimits({ proxy, caller }: Invocation, { rateLimits }: Context): AtOnceOrLater<void> {
  return andThen(caller && rateLimits?.countCaller(caller), () => rateLimits?.countProxy(proxy.id));
}

/** If the caller has left, `close` has already fired and would never give the place back, so none is taken. */
function admit(invocation: Invocation, { places }: Context): void {
  const { proxy, head } = invocation;
  if (!invocation.response.destroyed) {
    places.take(proxy.tenantId);
    invocation.hasPlace = true;
  }
  invocation.target = joinUrl(proxy.destination, head.suffix, head.query);
  invocation.clock.enter();
}

function lookAgainAfter(step: Step): Step {
  return (invocation, context) => step(invocation, context)?.then(() => lookAgainOnTheWay(invocation, context));
}

function startDetokenizing({ clock }: Invocation): void {
  clock.enter('detokenize');
}
