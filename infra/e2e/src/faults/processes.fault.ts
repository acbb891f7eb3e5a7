import type { ServiceName } from '@sluice/local/parts';
import type { Node } from '../cluster/node.ts';
import { countDetails, elapsedMs } from '../under-load/count.ts';
import { isAt, type Seen } from '../under-load/judgement.ts';
import { type LoadFault, underLoad } from '../under-load/run.ts';
import type { World } from '../under-load/world.ts';

/** For both gateways in turn. */
const freezesMs = [100, 300, 1000, 3000, 10_000];
const gatewayKills = 5;
const killsInTurn = 6;

/**
 * A stopping process keeps serving until the balancer has noticed. On a busy machine a connection to Postgres can take
 * over a second. A 503 for that is correct, and not due to the restart.
 */
export const unnoticed = { mostFailed: 0, environment: { SHUTDOWN_DRAIN_MS: '4000', DATABASE_WAIT_MS: '8000' } };

/** Processes hang, are killed, or are asked to end as an orchestrator does. */
export const processFaults: readonly LoadFault[] = [
  underLoad('gateway-frozen', 'gateways hang for 0.1 to 10 s, one after another: no revoked key is accepted', {
    async disturb({ inTurn, pause, report }) {
      for (const [turn, ms] of freezesMs.entries()) {
        const frozen = await inTurn('proxy-gateway', turn).freeze();
        await pause(ms).finally(frozen.thaw);
        await pause(500);
      }
      report.figure('frozen for', listMs(freezesMs));
    },
  }),
  underLoad(
    'gateway-killed',
    'gateways are killed and started again, five times: no revoked key is accepted, no answer is wrong',
    {
      async disturb({ of, pause, random, report }) {
        const choices = random(6000);
        const absentMs: number[] = [];
        for (let count = 0; count < gatewayKills; count++) {
          await pause(choices.between(0, 500));
          const gateway = choices.pick(of('proxy-gateway'));
          absentMs.push(await elapsedMs(() => gateway.kill().then(() => gateway.restart())));
        }
        report.figure('ready again after', listMs(absentMs));
      },
    },
  ),
  underLoad('gateway-stopped', 'gateways are asked to end and started again, three times: no invocation fails', {
    ...unnoticed,
    async disturb(world) {
      await restartEach(
        world,
        [0, 1, 2].map((turn) => world.inTurn('proxy-gateway', turn)),
      );
    },
  }),
  underLoad(
    'rolling-restart',
    'every process is asked to end and started again, one after another: no invocation and no write fails',
    {
      ...unnoticed,
      async disturb(world) {
        await restartEach(world, world.nodes);
        world.judges.push((seen) => failForUnexpected(world, seen));
      },
    },
  ),
  underLoad(
    'writers-killed',
    'token vaults and management APIs are killed at random moments: no acknowledged write is lost, none is there twice, no batch in part',
    {
      async disturb(world) {
        await killInTurn(world, ['token-vault', 'management-api']);
        world.judges.push(({ writes }) =>
          world.report.failIf(writes.batches === 0, 'no batch was acknowledged: nothing was shown'),
        );
      },
    },
  ),
];

const listMs = (all: readonly number[]) => `${all.map((ms) => Math.round(ms)).join(', ')} ms`;

/** Kills processes of two services at random moments, and starts them again. One of each is left at any time. */
export async function killInTurn({ inTurn, pause, random, report }: World, services: [ServiceName, ServiceName]) {
  const choices = random(6000);
  const restarting: Promise<void>[] = [];
  const killed: string[] = [];
  for (let count = 0; count < killsInTurn; count++) {
    const victim = inTurn(services[count % 2 === 0 ? 0 : 1], count >> 1);
    await pause(choices.between(200, 1200));
    await victim.kill();
    killed.push(victim.name);
    restarting.push(victim.restart());
    if (count % 2 === 1) await Promise.all(restarting);
  }
  await pause(500);
  report.figure('killed', killed.join(', '));
}

/**
 * Asks each process to end, and starts it again, as an orchestrator does; the next one when it is ready.
 * @param root the folder of the version of the product that is started; the same as before by default.
 */
export async function restartEach({ report }: World, nodes: readonly Node[], root?: string): Promise<void> {
  const endedAfterMs: number[] = [];
  for (const node of nodes) {
    const stoppedAt = performance.now();
    const code = await node.stop();
    endedAfterMs.push(performance.now() - stoppedAt);
    report.failIf(code !== 0, `${node.name} ended with ${code ?? 'a signal'}, not with 0`);
    await node.restart(root);
  }
  report.figure('processes ended after', listMs(endedAfterMs));
}

/** No client of the management API or the token vault may have been answered anything but a success. */
export function failForUnexpected({ report }: World, { writes, history, quietFrom, endedAt }: Seen): void {
  const isOfIt = isAt(quietFrom, endedAt);
  const failed = writes.answers.filter((one) => isOfIt(one) && one.detail !== '201' && one.detail !== '200');
  report.failIf(failed.length > 0, `creations were answered ${countDetails(failed)}`);
  const unconfirmed = history.regenerations.filter((one) => isOfIt(one) && one.outcome !== 'confirmed');
  report.failForEach(unconfirmed, ({ detail }) => `${unconfirmed.length} regenerations failed, such as ${detail}`);
}
