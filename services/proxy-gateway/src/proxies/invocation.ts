import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { Caller, Judgement, KeyHashes } from '@sluice/credentials';
import type { ConsoleLine } from '@sluice/sandbox';
import { type DecryptionBudget, SeenTokens } from '@sluice/vault';
import type { Held } from '../limits/body-memory.ts';
import type { StageClock } from '../observation/stage-clock.ts';
import type { InvocationTrace } from '../observation/trace.ts';
import type { ConsoleSecrets } from '../transforms/console/secrets.ts';
import type { ProxyDefinition } from './definition.ts';

export interface InvocationHead {
  method: string;
  /** Raw path behind `/proxy`; '' if there is none. */
  suffix: string;
  /** Raw query with its `?`, without the proxy key; '' if there is none. */
  query: string;
  proxyKey: string;
  apiKey: string | undefined;
  /** Of its connection. */
  keyHashes: KeyHashes;
  keepAlive: string | undefined;
  connection: string | undefined;
  cdnLoop: string;
}

/** Results of the steps: for the log, for later checks of rights, and to release what was taken. */
export class Invocation {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly traceId: string;
  readonly clock: StageClock;
  readonly trace: InvocationTrace | undefined;

  head!: InvocationHead;
  /** Made before Proxy and caller are read. */
  judgement!: Judgement;
  proxy!: ProxyDefinition;
  /** Undefined if the Proxy needs no key; a key is then checked only if the body contains an expression. */
  caller: Caller | undefined;
  /** As received, for a response that a transform sees. */
  answerHeaders: readonly string[] | undefined;

  hasPlace = false;
  readonly held: Held = {};
  /** Whether its response has been sent or its caller has left. Work may continue until `isSettled`. */
  isClosed = false;
  isSettled = false;
  tokens: number | undefined;
  /** The tokens whose values were decrypted for its body. */
  readonly seen = new SeenTokens();
  /** Ids of the first of them, for the feed. */
  tokenIds: string[] | undefined;
  decryption: DecryptionBudget | undefined;
  expressions = 0;
  destinationStatus: number | undefined;
  /** Why there was no response; `caller_gone` if the caller left. */
  errorCode: string | undefined;
  /** Values that its transforms have seen. Never logged, and redacted from what transforms print. */
  secrets: ConsoleSecrets | undefined;
  /** The first lines that its transforms printed, redacted. */
  printed: ConsoleLine[] | undefined;
  /** The body, if its expressions are replaced while it streams. */
  revealing: Readable | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, begun: InvocationBegin) {
    this.request = request;
    this.response = response;
    this.traceId = begun.traceId;
    this.clock = begun.clock;
    this.trace = begun.trace;
  }

  get tenantId(): string {
    return this.proxy.tenantId;
  }

  get hasTransform(): boolean {
    return this.proxy?.requestTransform !== undefined || this.proxy?.responseTransform !== undefined;
  }
}

export interface InvocationBegin {
  traceId: string;
  clock: StageClock;
  trace: InvocationTrace | undefined;
}
