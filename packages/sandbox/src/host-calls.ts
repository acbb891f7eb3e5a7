import { randomUUID } from 'node:crypto';
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { FairTurns } from '@sluice/fair-turns';
import { asServiceError } from '@sluice/problems';
import { Fetches } from './fetches.ts';
import type { HostAnswer, HostCall, RunAborted } from './thread/messages.ts';
import type { TransformTask } from './transform-task.ts';

type Host = NonNullable<TransformTask['host']>;

interface Answering {
  host: TransformTask['host'] | undefined;
  fetch: TransformTask['fetch'] | undefined;
  signal: AbortSignal | undefined;
}

export interface LeftBehind {
  /** Whether a call has begun. */
  hasActed: boolean;
  /** Resolves when the begun calls have ended; undefined if they have. */
  calls: Promise<void> | undefined;
}

/** Concurrent calls of one Tenant, limited because all Tenants share the connections to Postgres. */
const mostUnderWay = 50;

interface Client {
  tenantId: string;
  host: Host | undefined;
  fetches: Fetches | undefined;
  signal: AbortSignal | undefined;
  /** Known from its first call on. Before that it waits for nothing, so it needs no end. */
  port: MessagePort | undefined;
  hasActed: boolean;
  /** Calls for the service only: a run that ends aborts its calls of `fetch` and waits for none of them. */
  underWay: number;
  /** Functions that remove the waiting calls from the queue. A run's limit of calls limits them too. */
  leaves: ((reason: unknown) => void)[];
  /** Set once its run has ended. */
  onLastEnd?: () => void;
}

const ended = new Error('The run has ended');

export class HostCalls {
  readonly #clients = new Map<string, Client>();
  readonly #turns = new FairTurns({ perKey: mostUnderWay });
  readonly #ports = new Set<MessagePort>();

  /** @returns a key for the threads, which no other run can guess. */
  open(tenantId: string, { host, fetch, signal }: Answering): string {
    const key = randomUUID();
    const fetches = fetch && new Fetches(fetch);
    const calls = { port: undefined, hasActed: false, underWay: 0, leaves: [] };
    const client: Client = { tenantId, host, fetches, signal, ...calls };
    this.#clients.set(key, client);
    signal?.addEventListener('abort', () => endAborted(key, client), { once: true });
    return key;
  }

  /**
   * Begins the calls that the run has already sent, and ends its fetches. After that no call with this key begins or is
   * answered.
   */
  close(key: string): LeftBehind {
    // The end of a run arrives through another channel than its calls, and may come first.
    for (const port of this.#ports)
      for (let next = nextOn(port); next; next = nextOn(port)) void this.#receive(port, next);
    const client = this.#clients.get(key);
    this.#clients.delete(key);
    client?.fetches?.abortAll();
    for (const leave of client?.leaves ?? []) leave(ended);
    if (!client?.underWay) return { hasActed: client?.hasActed ?? false, calls: undefined };
    const calls = new Promise<void>((resolve) => {
      client.onLastEnd = resolve;
    });
    return { hasActed: true, calls };
  }

  listen(port: MessagePort): void {
    this.#ports.add(port);
    port.on('message', (call: HostCall) => void this.#receive(port, call));
    port.on('close', () => this.#ports.delete(port));
    port.unref();
  }

  /** A call that need not wait begins before this returns. */
  async #receive(port: MessagePort, call: HostCall): Promise<void> {
    const client = this.#clients.get(call.hostKey);
    if (!client) return;
    client.port = port;
    if (client.signal?.aborted) {
      endAborted(call.hostKey, client);
      return;
    }
    const { host, fetches } = client;
    const { id, operation, payloadJson, body } = call;
    // `fetch` skips the queue, because it uses no connection to Postgres
    if (operation === 'fetch.abort') fetches?.abort(Number(payloadJson));
    else if (operation === 'fetch') await this.#answer(port, call, client, () => fetches?.begin(id, payloadJson, body));
    else if (operation === 'fetch.body')
      await this.#answer(port, call, client, () => fetches?.body(Number(payloadJson)));
    else await this.#receiveForService(port, call, client, () => host?.(operation, payloadJson));
  }

  async #receiveForService(port: MessagePort, call: HostCall, client: Client, work: Work): Promise<void> {
    const answerIt = async () => {
      client.underWay += 1;
      await this.#answer(port, call, client, work);
      client.underWay -= 1;
      if (client.underWay === 0) client.onLastEnd?.();
    };
    try {
      await this.#turns.run(client.tenantId, answerIt, (leave) => client.leaves.push(leave));
    } catch (error) {
      if (error !== ended) throw error;
    }
  }

  async #answer(port: MessagePort, { hostKey, id }: HostCall, client: Client, work: Work) {
    if (!this.#clients.has(hostKey)) return;
    client.hasActed = true;
    const result = await settle(work);
    if (this.#clients.has(hostKey)) port.postMessage({ hostKey, id, ...result } satisfies HostAnswer);
  }
}

/** The run leaves its thread, whatever it waits for. */
function endAborted(hostKey: string, { port, fetches }: Client): void {
  port?.postMessage({ hostKey, isAborted: true } satisfies RunAborted);
  fetches?.abortAll();
}

const nextOn = (port: MessagePort): HostCall | undefined => receiveMessageOnPort(port)?.message;

type Work = () => Promise<string | Uint8Array> | undefined;

async function settle(work: Work): Promise<Pick<HostAnswer, 'ok' | 'json' | 'bytes'>> {
  try {
    const answer = (await work()) ?? '';
    return typeof answer === 'string' ? { ok: true, json: answer } : { ok: true, json: '', bytes: answer };
  } catch (error) {
    const { detail, status, code } = asServiceError(error);
    return { ok: false, json: JSON.stringify({ message: detail, status, code }) };
  }
}
