import { fillUp } from './body.ts';
import type { Workload } from './start-invocation.ts';

/** JSON without expressions. */
export const plainWorkload: Workload = {
  async prepare() {
    const sent = fillUp({ order: 'e5b1b6d4-6a44-4a6e-9c3c-0d9f6f9d7a10', amount: 1250, currency: 'EUR' });
    return { sent, received: sent };
  },
};
