import { setTimeout as wait } from 'node:timers/promises';
import { type Clients, repeating, startClients } from '../under-load/clients.ts';
import type { World } from '../under-load/world.ts';
import { checkHistory } from './check-history.ts';
import { excerpt } from './excerpt.ts';
import { signInEnds, signInsOf } from './sign-ins.ts';

const pauseMs = 40;
const longestLifeMs = 1500;

/**
 * One client for each way in which a sign-in ends. It signs people or keys in, ends their sign-ins, and uses the
 * cookies at any process before and after. The results are judged like keys.
 */
export async function startSignInLoad(world: World): Promise<Clients> {
  const { http, credentials, report } = world;
  const [management] = world.of('management-api');
  if (!management) throw new Error('There is no management API');
  const signIns = await signInsOf({ http, management, managementKey: credentials.management_key });
  const nodes = world.of('management-api', 'token-vault');

  world.judges.push(() => {
    const history = { ...signIns.history(), faults: world.faults };
    const { staleAccepts, wrongRefusals, judged, unexplained } = checkHistory(history);
    const ended = history.singleKeys.filter(({ deletedAt }) => deletedAt !== undefined);
    const ofEach = signInEnds.map((_, at) => ended.filter(({ application }) => application === at).length);
    report.figure(`sign-ins ${signInEnds.join(', ')}`, ofEach.join(', '));
    report.figure('uses of sign-ins, of them judged', `${history.invocations.length}, ${judged}`);
    report.failIf(ofEach.includes(0), 'one way in which sign-ins end was not tried');
    report.failForEach(staleAccepts, (one) => `a sign-in was accepted after its end:\n${excerpt(one, history)}`);
    report.failForEach(wrongRefusals, (one) => `a sign-in that is good was refused:\n${excerpt(one, history)}`);
    report.failForEach(
      unexplained,
      ({ number }) => `the end of sign-in ${number} was confirmed without SVC-REVOCATION`,
    );
  });

  return startClients(
    signInEnds.map((end, number) => {
      const random = world.random(5000 + number);
      const targets = signIns.targetsOf(end, nodes);
      const writers = world.of('management-api');
      return repeating(async () => {
        const signIn = await signIns.add(end, random.pick(writers));
        if (!signIn) return wait(longestLifeMs);
        const until = performance.now() + random.between(0, longestLifeMs);
        while (performance.now() < until) {
          await signIns.use(end, random.chance(0.8) ? signIn : undefined, random.pick(targets));
          await wait(random.between(0, pauseMs));
        }
        await signIns.end(signIn, random.pick(writers));
        await Promise.all(targets.map((target) => signIns.use(end, signIn, target)));
      });
    }),
  );
}
