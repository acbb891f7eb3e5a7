import type { Benchmark } from '../benchmark.ts';
import { detokenizingWorkload } from '../invocation/detokenizing-workload.ts';
import { measureInvocation } from '../invocation/measure-invocation.ts';

export const tlsInvocation: Benchmark = {
  id: 'P1-TLS',
  work: 'P1 with TLS to the destination',
  goal: 'at least 1.6 × bare http-proxy and 0.75 × bare undici dispatch',
  peerName: 'http-proxy 1.18.1, undici dispatch, with TLS as well',
  run: (context) =>
    measureInvocation(context, {
      ...detokenizingWorkload,
      isSecure: true,
      goals: { httpProxy: { atLeast: 1.6 }, undici: { atLeast: 0.75 } },
    }),
};
