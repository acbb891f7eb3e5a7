import type { Benchmark } from '../benchmark.ts';
import { measureInvocationCpu } from '../cpu/measure-invocation-cpu.ts';
import { measureCreationCpu, measureLookUpCpu } from '../cpu/measure-stores-cpu.ts';
import { detokenizingWorkload } from '../invocation/detokenizing-workload.ts';
import { plainWorkload } from '../invocation/plain-workload.ts';
import { transformingWorkload } from '../invocation/transforming-workload.ts';

const ofMainThread = (what: string) => `processor time of the main thread, ${what}`;
const bareProxies = 'http-proxy 1.18.1, undici dispatch';

/** Main-thread time for one request, the best figure for optimizing. */
export const processorTimes: readonly Benchmark[] = [
  {
    id: 'P1-CPU',
    name: 'cpu',
    work: ofMainThread('invocation with 2 tokens'),
    goal: 'at most 0.72 of http-proxy',
    peerName: bareProxies,
    run: (context) =>
      measureInvocationCpu(context, { ...detokenizingWorkload, goals: { httpProxy: { atMost: 0.72 } } }),
  },
  {
    id: 'P2-CPU',
    name: 'cpu',
    work: ofMainThread('invocation without tokens'),
    goal: 'no goal',
    peerName: bareProxies,
    run: (context) => measureInvocationCpu(context, { ...plainWorkload, goals: {} }),
  },
  {
    id: 'P3-CPU',
    name: 'cpu',
    work: ofMainThread('invocation with a request transform'),
    goal: 'no goal',
    peerName: bareProxies,
    run: (context) => measureInvocationCpu(context, { ...transformingWorkload, goals: {} }),
  },
  {
    id: 'P6-CPU',
    name: 'cpu',
    work: ofMainThread('POST /tokens'),
    goal: 'no goal',
    peerName: 'INSERT over pg',
    run: measureCreationCpu,
  },
  {
    id: 'P7-CPU',
    name: 'cpu',
    work: ofMainThread('GET /applications/{id}'),
    goal: 'no goal',
    peerName: 'SELECT over pg',
    run: measureLookUpCpu,
  },
];
