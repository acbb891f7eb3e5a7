import { setTimeout as wait } from 'node:timers/promises';
import { createHttpClient, NoAnswer } from '../cluster/http-client.ts';
import type { Node } from '../cluster/node.ts';
import { invocationHeader } from '../coherence/counting-destination.ts';
import type { World } from './world.ts';

/** What became of one request. Moments are milliseconds of the test's own monotonic clock. */
export interface Probed {
  target: string;
  startedAt: number;
  endedAt: number;
  /** A status, or why there was none. */
  detail: string;
  retryAfter: string | undefined;
}

export interface Probes {
  /** What was seen so far, in no order. */
  seen: readonly Probed[];
  /** Presents a key to a gateway or a token vault once. */
  probe(key: string, target: Node): Promise<Probed>;
  /** Presents it to each of the targets in turn, again and again, until the moment or the stop. */
  start(key: string, targets: readonly Node[], untilMs?: number): void;
  /** Resolves when every one has its last answer. */
  stop(): Promise<void>;
  /** Resolves when those whose moment is set have come to it. */
  done(): Promise<void>;
}

const patienceMs = 5000;
const pauseMs = 60;

/** Numbers at which no invocation of another client is. */
let lastNumber = 0;

/** Invocations with keys that nobody regenerates. They carry no token. */
export function openProbes({ client }: World): Probes {
  const http = createHttpClient();
  const stopping = new AbortController();
  const seen: Probed[] = [];
  const running: Promise<void>[] = [];

  async function probe(key: string, { name, service, url }: Node): Promise<Probed> {
    lastNumber -= 1;
    const headers = { 'svc-api-key': key, 'content-type': 'application/json', 'svc-trace-id': `probe${lastNumber}` };
    const request =
      service === 'token-vault'
        ? { url: `${url}/detokenize`, headers }
        : {
            url: `${url}/proxy`,
            headers: { ...headers, 'svc-proxy-key': client.proxyKey, [invocationHeader]: String(lastNumber) },
          };
    const startedAt = performance.now();
    const probed: Probed = { target: name, startedAt, endedAt: startedAt, detail: '', retryAfter: undefined };
    try {
      const { status, headers: answered } = await http.send({
        method: 'POST',
        body: '{}',
        timeoutMs: patienceMs,
        ...request,
      });
      probed.detail = String(status);
      probed.retryAfter = answered['retry-after'];
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      probed.detail = error.code;
    }
    probed.endedAt = performance.now();
    seen.push(probed);
    return probed;
  }

  async function repeat(key: string, targets: readonly Node[], untilMs: number): Promise<void> {
    for (let turn = 0; !stopping.signal.aborted && performance.now() < untilMs; turn++) {
      const target = targets[turn % targets.length];
      if (target) await probe(key, target);
      await wait(pauseMs);
    }
  }

  return {
    seen,
    probe,
    start(key, targets, untilMs = Number.POSITIVE_INFINITY) {
      running.push(repeat(key, targets, untilMs));
    },
    async stop() {
      stopping.abort();
      await Promise.all(running);
      http.close();
    },
    async done() {
      await Promise.all(running);
    },
  };
}
