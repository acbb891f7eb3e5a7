import { setTimeout as wait } from 'node:timers/promises';
import type { FedInvocation, FeedPage, FeedStore, InvocationRecord } from '@sluice/invocation-feed';

interface Following {
  tenantId: string;
  /** The number of recent invocations with which the stream begins. */
  size: number;
  isWanted(invocation: FedInvocation): boolean;
  present(invocation: FedInvocation): InvocationRecord;
}

const pollMs = 500;
/**
 * The longest pause between two pieces. The caller's rights are checked, and a lost reader is noticed, only when one is
 * sent.
 */
const mostSilentMs = 2000;

/**
 * The latest invocations and then each new one, as an event stream (WHATWG HTML, server-sent events). It polls, because a
 * blocking command would occupy a connection for each reader. While Redis is unavailable the stream stays open, and it continues
 * afterwards.
 */
export async function* toEvents(feed: FeedStore, { tenantId, size, isWanted, present }: Following) {
  const eventsOf = (invocations: readonly FedInvocation[], skipped: number): string =>
    [
      ...(skipped > 0 ? [eventText('skipped', { skipped })] : []),
      ...invocations.map((one) => eventText('invocation', present(one), one.id)),
    ].join('');
  yield ': invocations as they come\n\n';
  let last: FedInvocation | undefined;
  let isFirst = true;
  for (let spokeAt = performance.now(); ; ) {
    const page = await unlessAway(last ? feed.readAfter(tenantId, last) : feed.read(tenantId, new Date()));
    last = page?.invocations.at(-1) ?? last;
    const wanted = page?.invocations.filter(isWanted) ?? [];
    const text = isFirst ? eventsOf(wanted.slice(-size), 0) : eventsOf(wanted, page?.skipped ?? 0);
    if (page) isFirst = false;
    if (text !== '' || performance.now() - spokeAt > mostSilentMs) {
      yield text === '' ? ': \n\n' : text;
      spokeAt = performance.now();
    }
    await wait(pollMs, undefined, { ref: false });
  }
}

/** Undefined while Redis is unavailable; the next poll asks again. */
function unlessAway(reading: Promise<FeedPage>): Promise<FeedPage | undefined> {
  return reading.catch(() => undefined);
}

function eventText(event: string, data: unknown, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
