import type { TransformPool } from '../../pool.ts';

export interface GoodLoad {
  invocations: number;
  /** The wrong answer or the error of each that was lost. */
  losses: string[];
  /** Sorted. Each is the time from the moment when a run was due, even if it was sent later, to its answer. */
  durationsMs: number[];
}

export const quantile = (sorted: readonly number[], part: number) => sorted[Math.ceil(sorted.length * part) - 1] ?? 0;

const tenants = 4;
const proxies = 2;
const versions = Array.from({ length: tenants * proxies }, () => ({}));
const filler = 'x'.repeat(900);
const code = `module.exports = async (req) => {
  const card = await req.svc.detokenize(req.args.body.card);
  return { body: { ...req.args.body, card }, headers: { ...req.args.headers, 'x-merchant': req.configuration.merchant } };
}`;

/** Runs transforms of several Tenants, with a call of the client and 1 KiB of JSON, and checks each answer. */
export function goodLoad(pool: TransformPool) {
  const durations: number[] = [];
  const losses: string[] = [];
  const underWay = new Set<Promise<void>>();

  async function run(dueAt: number, index: number): Promise<void> {
    const body = { card: `card ${index}`, filler };
    const answer = await pool
      .run({
        tenantId: `good ${index % tenants}`,
        ownerId: `proxy ${Math.floor(index / tenants) % proxies}`,
        version: versions[index % versions.length],
        kind: 'request',
        code,
        argsJson: JSON.stringify({ body, headers: {} }),
        configuration: async () => '{"merchant":"acct"}',
        host: async (_, payloadJson) => JSON.stringify({ of: JSON.parse(payloadJson) }),
      })
      .catch((error: Error) => ({ bodyJson: error.message }));
    durations.push(performance.now() - dueAt);
    const expected = JSON.stringify({ card: { of: body.card }, filler });
    if (answer.bodyJson !== expected) losses.push(answer.bodyJson ?? 'no body');
  }

  return {
    send: (dueAt: number, index: number): void => {
      const running = run(dueAt, index).finally(() => underWay.delete(running));
      underWay.add(running);
    },
    end: async (): Promise<GoodLoad> => {
      await Promise.all(underWay);
      durations.sort((a, b) => a - b);
      return { invocations: durations.length, losses, durationsMs: durations };
    },
  };
}
