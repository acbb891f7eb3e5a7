import type { Benchmark } from '../benchmark.ts';
import { bodySize, fillUp } from '../invocation/body.ts';
import { measureInvocation } from '../invocation/measure-invocation.ts';

export const plainInvocation: Benchmark = {
  id: 'P2',
  work: `authenticated POST of ${bodySize} bytes of JSON, no expression, no transform`,
  goal: 'at least 1.7 × bare http-proxy',
  peerName: 'http-proxy 1.18.1',
  run: (context) =>
    measureInvocation(context, {
      goals: { httpProxy: { atLeast: 1.7 } },
      async prepare() {
        const sent = fillUp({ order: 'e5b1b6d4-6a44-4a6e-9c3c-0d9f6f9d7a10', amount: 1250, currency: 'EUR' });
        return { sent, received: sent };
      },
    }),
};
