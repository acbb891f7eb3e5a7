import type { Node } from '../cluster/node.ts';
import { createRandom } from '../random.ts';
import { runUnderLoad } from '../under-load/run-under-load.ts';
import type { World } from '../under-load/world.ts';
import type { FaultTest } from './fault-test.ts';

/** For both gateways in turn. */
const freezesMs = [100, 300, 1000, 3000, 10_000];

export const gatewayFrozen: FaultTest = {
  name: 'gateway-frozen',
  description: 'gateways hang for 0.1 to 10 s, one after another: no revoked key is accepted',
  run: (context) =>
    runUnderLoad(context, {
      async disturb({ of, pause }) {
        const gateways = of('proxy-gateway');
        for (const [turn, ms] of freezesMs.entries()) {
          await using frozen = await holdFrozen(gateways[turn % gateways.length]);
          await pause(ms);
          await frozen.thaw();
          await pause(500);
        }
        return { figures: [['frozen for', `${freezesMs.join(', ')} ms`]] };
      },
    }),
};

/** It goes on whatever happens meanwhile. */
async function holdFrozen(node: Node | undefined) {
  if (!node) throw new Error('There is no gateway');
  const { thaw } = await node.freeze();
  return { thaw, [Symbol.asyncDispose]: thaw };
}

const kills = 5;

export const gatewayKilled: FaultTest = {
  name: 'gateway-killed',
  description: 'gateways are killed and started again, five times: no revoked key is accepted, no answer is wrong',
  run: (context) =>
    runUnderLoad(context, {
      async disturb(world) {
        const { random, gateways } = choices(world, context.seed);
        const absentMs: number[] = [];
        for (let count = 0; count < kills; count++) {
          await world.pause(random.between(0, 500));
          const gateway = random.pick(gateways);
          const killedAt = performance.now();
          await gateway.kill();
          await gateway.restart();
          absentMs.push(performance.now() - killedAt);
        }
        return { figures: [['ready again after', listMs(absentMs)]] };
      },
    }),
};

const stops = 3;

export const gatewayStopped: FaultTest = {
  name: 'gateway-stopped',
  description: 'gateways are asked to end and started again, three times: no invocation fails',
  run: (context) =>
    runUnderLoad(context, {
      mostFailed: 0,
      environment: { SHUTDOWN_DRAIN_MS: '1500' },
      async disturb(world) {
        const { random, gateways } = choices(world, context.seed);
        const tookMs: number[] = [];
        const codes: (number | null)[] = [];
        for (let count = 0; count < stops; count++) {
          await world.pause(random.between(0, 500));
          const gateway = gateways[count % gateways.length];
          const stoppedAt = performance.now();
          codes.push((await gateway?.stop()) ?? null);
          tookMs.push(performance.now() - stoppedAt);
          await gateway?.restart();
        }
        return {
          figures: [['ended after', listMs(tookMs)]],
          failures: codes.filter((code) => code !== 0).map((code) => `a gateway ended with ${code}`),
        };
      },
    }),
};

const choices = ({ of }: World, seed: number) => ({
  random: createRandom(seed + 6000),
  gateways: of('proxy-gateway'),
});

const listMs = (all: readonly number[]) => `${all.map((ms) => Math.round(ms)).join(', ')} ms`;
