import { Agent, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { addressReader, type HostOf } from '@sluice/hosts';
import { ServiceError } from '@sluice/problems';
import { createOrderedServer, faultInHead, pathOfTarget, targetFault } from '@sluice/service-runtime';
import { answerFailure, serviceAway } from './failure.ts';
import { refusals } from './refusals.ts';
import { relay } from './relay.ts';
import { findService, type ServiceName } from './routes.ts';
import { spreadLookup } from './spread-lookup.ts';

export interface IngressOptions {
  /** Where the services are, for example `http://127.0.0.1:8081`. */
  origins: Readonly<Record<ServiceName, URL>>;
  /** Prefix of our own header names. */
  headerPrefix: string;
  /** Which host a request is for. By default there is the base host only. */
  hostOf?: HostOf;
  /** Returns the address of the client. By default that is the peer of the connection. */
  addressOf?: (request: IncomingMessage) => string;
  /** Called when a service could not be reached, or did not answer. */
  onFailure: (error: Error, service: ServiceName) => void;
}

/**
 * A head must arrive within 10 s, as everywhere. The services enforce the other limits: here a body may take any time,
 * and header blocks pass up to a size at which the services refuse them. Idle connections stay open longer than a
 * balancer in front keeps them, so that it never reuses one that we have just closed.
 */
const serverOptions = {
  requestTimeout: 0,
  headersTimeout: 10_000,
  keepAliveTimeout: 75_000,
  maxHeaderSize: 32 * 1024,
};

/** Creates the server, which does not listen yet. */
export function createIngressServer(options: IngressOptions): Server {
  const { origins, headerPrefix, hostOf = () => ({ kind: 'base' }), addressOf = addressReader(), onFailure } = options;
  const agent = new Agent({ keepAlive: true, scheduling: 'fifo', lookup: spreadLookup });
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    const path = pathOfTarget(request.url ?? '', request.headers.host);
    const { kind } = hostOf(request);
    const service = findService(kind, path ?? '');
    const fail = (error: ServiceError) =>
      answerFailure(request, response, { error, service, headerPrefix, hostKind: kind });
    const fault = faultInHead(request);
    if (fault || path === undefined) {
      response.shouldKeepAlive = false;
      fail(new ServiceError(fault?.code ?? 'bad_request', fault?.detail ?? targetFault));
      return;
    }
    try {
      relay({
        request,
        response,
        path,
        origin: origins[service],
        agent,
        client: addressOf(request),
        onFailure: (error) => {
          onFailure(error, service);
          fail(serviceAway(service));
        },
      });
    } catch {
      // The parser accepted something that cannot be sent on, such as a request target that is not ASCII.
      fail(new ServiceError('bad_request', 'The request target or a header holds characters that are not allowed'));
    }
  };
  const { server, serveInOrder } = createOrderedServer(handle, { ...serverOptions, ...refusals });
  server.on('checkContinue', serveInOrder); // the service decides whether it wants the body
  server.on('close', () => agent.destroy());
  return server;
}
