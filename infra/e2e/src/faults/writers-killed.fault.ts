import type { Node } from '../cluster/node.ts';
import { createRandom } from '../random.ts';
import { startBatches } from '../under-load/batches.ts';
import { type Disturbance, runUnderLoad } from '../under-load/run-under-load.ts';
import type { FaultTest } from './fault-test.ts';

const kills = 6;

export const writersKilled: FaultTest = {
  name: 'writers-killed',
  description:
    'token vaults and management APIs are killed at random moments: no acknowledged write is lost, none is there twice, no batch in part',
  run: (context) =>
    runUnderLoad(context, {
      async disturb(world): Promise<Disturbance> {
        const random = createRandom(context.seed + 6000);
        await using stack = new AsyncDisposableStack();
        const batches = startBatches(world, { clients: 3, seed: context.seed }, stack);
        const restarting = new Set<Promise<void>>();
        const killed: string[] = [];
        // One of each service is left at any time, and is the next to be killed
        for (let count = 0; count < kills; count++) {
          const writers: readonly Node[] = world.of(count % 2 === 0 ? 'token-vault' : 'management-api');
          const victim = writers[(count >> 1) % writers.length];
          await Promise.race([world.pause(random.between(200, 1200)), batches.broken]);
          await victim?.kill();
          killed.push(victim?.name ?? '');
          const restart = (async () => victim?.restart())();
          restarting.add(restart);
          if (count % 2 === 1) await Promise.all(restarting);
        }
        await Promise.all(restarting);
        await Promise.race([world.pause(500), batches.broken]);
        await batches.stop();
        const { acknowledged, unacknowledged, partial, wrong, answers } = await batches.check();
        return {
          figures: [
            ['killed', killed.join(', ')],
            ['batches acknowledged, never, in part, wrong', `${acknowledged}, ${unacknowledged}, ${partial}, ${wrong}`],
            ['answers to batches', answers],
          ],
          failures: [
            ...(partial > 0 ? [`${partial} batches are there in part`] : []),
            ...(wrong > 0 ? [`${wrong} acknowledged batches are not what was answered`] : []),
            ...(acknowledged === 0 ? ['no batch was acknowledged: nothing was shown'] : []),
          ],
        };
      },
    }),
};
